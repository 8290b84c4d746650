"""Reading rows of a table: one statement, whose rows are fetched as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from firesteel.connectors.sql.address import resolved
from firesteel.connectors.sql.conditions import Conditions
from firesteel.connectors.sql.copying import copied
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.selection import Bounds, Selection
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.sql.statements import read_columns, stored_types, target_table

Columns = list[pa.StringArray] | list[tuple[Any, ...]]
"""Some rows as columns: of a driver's values, or of the texts that PostgreSQL writes (NULL is null)."""


def scanned(settings: SqlSettings, selection: Selection) -> Iterator[Columns]:
    """Yield the selected rows of the settings' table, all as they are at one time: when the statement begins.

    The connection, which is closed at the end, is waited for as the settings say. Raises EngineError if it is lost
    then, and ConnectorError if the database has no such rows.
    """
    # A transaction of SQLite's would keep all others from writing.
    database = Database(
        settings, autocommit=resolved(settings.address, settings.who).get_backend_name() == "sqlite"
    )
    try:
        query = database.run(lambda connection, _: _query(connection, settings, selection))
        dialect = database.dialect
        if dialect.name == "postgresql" and dialect.driver == "psycopg":
            yield from copied(database, query, selection.batch)
        else:
            yield from _fetched(database, query, selection.batch)
    finally:
        database.close()


def _query(connection: sa.Connection, settings: SqlSettings, selection: Selection) -> sa.Select[Any]:
    query = sa.select(*read_columns(connection, settings, target_table(settings)))
    if selection.bounds is not None:
        query = query.where(_within(selection.bounds))
    if selection.condition is not None:
        stored = {} if connection.dialect.name == "sqlite" else stored_types(connection, settings)
        clause = Conditions(connection.dialect.name, selection.types, stored).of(selection.condition)
        query = query if clause is None else query.where(clause)
    return query if selection.limit is None else query.limit(selection.limit)


def _within(bounds: Bounds) -> sa.ColumnElement[bool]:
    column: sa.ColumnClause[Any] = sa.column(bounds.column)
    below = column <= bounds.high if bounds.last else column < bounds.high
    return sa.and_(column >= bounds.low, below)


def _fetched(database: Database, query: sa.Select[Any], rows: int) -> Iterator[Columns]:
    def begin(connection: sa.Connection) -> sa.CursorResult[Any]:
        return connection.execution_options(stream_results=True, max_row_buffer=rows).execute(query)

    result = database.in_transaction(begin)
    while found := database.in_transaction(lambda _: result.fetchmany(rows)):
        yield _columns(found)


def _columns(rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return [*zip(*rows, strict=True)]
