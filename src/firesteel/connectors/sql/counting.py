"""What databases know of their tables without reading their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from firesteel.common.errors import ConnectorError
from firesteel.connectors.sql.address import resolved
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.sql.statements import target_table
from firesteel.connectors.sql.tables import MYSQL
from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics

_POSTGRES_COLUMNS: Final = sa.text(
    "SELECT s.attname, s.n_distinct, s.null_frac FROM pg_stats s "
    "JOIN pg_namespace n ON n.nspname = s.schemaname "
    "JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = s.tablename "
    "WHERE c.oid = to_regclass(:name) AND NOT s.inherited"
)
_MYSQL_ROWS: Final = sa.text(
    "SELECT table_rows FROM information_schema.tables "
    "WHERE table_schema = coalesce(:schema, database()) AND table_name = :name"
)
_MYSQL_COLUMNS: Final = sa.text(
    "SELECT column_name, max(cardinality) FROM information_schema.statistics "
    "WHERE table_schema = coalesce(:schema, database()) AND table_name = :name AND seq_in_index = 1 "
    "GROUP BY column_name"
)

Columns = Mapping[str, ColumnStatistics]


def statistics_of(settings: SqlSettings) -> TableStatistics | None:
    """Return about how many rows the settings' table has, with what is known of the settings' columns.

    None if the database does not know it, or does not answer: a job that reads the table says what is wrong.
    """
    database = Database(replace(settings, retries=0), autocommit=True)
    try:
        url = resolved(settings.address, settings.who)
        if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
            return None  # to connect would make an empty database
        found = database.run(lambda connection, _: _asked(connection, settings))
    except ConnectorError:
        return None
    finally:
        database.close()
    if found is None:
        return None
    rows, columns = found
    return TableStatistics(
        rows, columns=tuple(columns.get(name, ColumnStatistics()) for name in settings.columns)
    )


def _asked(connection: sa.Connection, settings: SqlSettings) -> tuple[float, Columns] | None:
    dialect = connection.dialect.name
    if dialect == "postgresql":
        return _of_postgres(connection, settings)
    if dialect in MYSQL:
        return _of_mysql(connection, settings)
    return (_of_sqlite(connection, settings), {}) if dialect == "sqlite" else None


def _of_postgres(connection: sa.Connection, settings: SqlSettings) -> tuple[float, Columns]:
    """Ask the planner, which looks at how large the table is now; of columns it knows what ANALYZE has seen."""
    name = connection.dialect.identifier_preparer.format_table(target_table(settings))
    [(plan,)] = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) SELECT * FROM {name}").all()
    rows = float(plan[0]["Plan"]["Plan Rows"])
    columns = {
        column: ColumnStatistics(distinct if distinct > 0 else -distinct * rows or None, nulls=share * rows)
        for column, distinct, share in connection.execute(_POSTGRES_COLUMNS, {"name": name})
    }
    return rows, columns


def _of_mysql(connection: sa.Connection, settings: SqlSettings) -> tuple[float, Columns] | None:
    """Ask for the estimates of the storage engine, which knows the values of columns that indexes begin with."""
    table = {"schema": settings.schema, "name": settings.table}
    rows = connection.execute(_MYSQL_ROWS, table).scalar_one_or_none()
    if rows is None:
        return None
    columns = {
        column: ColumnStatistics(None if distinct is None else float(distinct))
        for column, distinct in connection.execute(_MYSQL_COLUMNS, table)
    }
    return float(rows), columns


def _of_sqlite(connection: sa.Connection, settings: SqlSettings) -> float:
    """Take what ANALYZE has counted, or else count: that takes a small part of the time of reading rows."""
    if sa.inspect(connection).has_table("sqlite_stat1"):
        counted = connection.exec_driver_sql("SELECT stat FROM sqlite_stat1 WHERE tbl = ?", (settings.table,))
        known = [int(text.split()[0]) for (text,) in counted]
        if known:
            return float(max(known))
    return float(
        connection.execute(sa.select(sa.func.count()).select_from(target_table(settings))).scalar_one()
    )
