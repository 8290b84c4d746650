"""Putting many rows into a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa


def load(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows with a value for each column of `table`, within the connection's transaction.

    PostgreSQL with psycopg uses COPY; other databases execute one statement for many rows.
    """
    preparer = connection.dialect.identifier_preparer
    columns = ", ".join(preparer.format_column(column) for column in table.columns)
    into = f"{preparer.format_table(table)} ({columns})"
    if connection.dialect.name == "postgresql" and connection.dialect.driver == "psycopg":
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        return
    marks = placeholders(connection.dialect.paramstyle, len(table.columns))
    connection.exec_driver_sql(f"INSERT INTO {into} VALUES ({marks})", list(rows))


def placeholders(paramstyle: str, count: int) -> str:
    """Return the placeholders for `count` values by position, in the driver's DB-API `paramstyle`.

    >>> placeholders("qmark", 2), placeholders("format", 2), placeholders("numeric", 2)
    ('?, ?', '%s, %s', ':1, :2')
    """
    if paramstyle in ("format", "pyformat"):
        return ", ".join(["%s"] * count)
    if paramstyle in ("numeric", "named"):
        return ", ".join(f":{number}" for number in range(1, count + 1))
    return ", ".join(["?"] * count)
