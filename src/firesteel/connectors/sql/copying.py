"""Rows of PostgreSQL as columns of text: by COPY, so that no value becomes an object of Python."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv
import sqlalchemy as sa

from firesteel.connectors.sql.database import Database

_FORM: Final = (
    "SELECT set_config('datestyle', 'ISO, YMD', true), set_config('bytea_output', 'hex', true), "
    "set_config('extra_float_digits', '1', true), set_config('client_encoding', 'UTF8', true)"
)
"""How values are written, whatever the server, the database or the user has set."""


def copied(database: Database, query: sa.Select[Any], rows: int) -> Iterator[list[pa.StringArray]]:
    """Yield the rows of a query, some at a time, as the texts of their values."""
    width = len(query.selected_columns)
    abandoned = True
    with ExitStack() as stack:

        def begin(connection: sa.Connection) -> Iterator[bytes]:
            statement, parameters = _copy_statement(connection, query)
            driver: Any = connection.connection.driver_connection
            cursor = driver.cursor()
            cursor.execute(_FORM)
            lines: Iterator[bytes] = iter(stack.enter_context(cursor.copy(statement, parameters)))
            return lines

        lines = database.in_transaction(begin)
        try:
            # The server sends each row as a message.
            while some := database.in_transaction(lambda _: [*islice(lines, rows)]):
                yield _parsed(b"".join(some), width)
            abandoned = False
        finally:
            if abandoned:
                stack.pop_all()  # the rest need not be received: whoever began closes the connection


def _copy_statement(connection: sa.Connection, query: sa.Select[Any]) -> tuple[str, dict[str, Any] | None]:
    compiled = query.compile(dialect=connection.dialect)
    statement = f"COPY ({compiled}) TO STDOUT (FORMAT csv)"
    parameters = dict(compiled.params)
    return (statement, parameters) if parameters else (statement.replace("%%", "%"), None)


def _parsed(lines: bytes, width: int) -> list[pa.StringArray]:
    """Return the columns of lines of CSV, in which NULL is nothing and an empty text is in quotes."""
    names = [str(place) for place in range(width)]
    table = pyarrow.csv.read_csv(
        io.BytesIO(lines),
        pyarrow.csv.ReadOptions(use_threads=False, column_names=names, block_size=max(1, len(lines))),
        pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return [column.combine_chunks() for column in table.columns]
