"""Moving staged rows to the target, in the database itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from firesteel.common.errors import ConnectorError
from firesteel.connectors.sql.settings import SqlSettings
from firesteel.connectors.sql.tables import ATTEMPT, DELETION, EPOCH, MYSQL, SCOPE, SEQUENCE, SUBTASK

UPSERTING: Final = ("postgresql", "sqlite", "mysql", "mariadb")
"""Dialects that can insert or update by key."""

_RANK: Final = "firesteel_rank"


def check_upsert(settings: SqlSettings, dialect: str) -> None:
    """Raise ConnectorError if the sink has a key and the database has no statement for it."""
    if settings.key and dialect not in UPSERTING:
        raise ConnectorError(
            f"requires one of the databases {', '.join(UPSERTING)} to update by key",
            who=settings.who,
            got=dialect,
            hint="leave the key out, and the sink inserts every row",
        )


def target_table(settings: SqlSettings) -> sa.TableClause:
    """Return the target table for use in statements."""
    return sa.table(settings.table, *map(sa.column, settings.columns), schema=settings.schema)


def stored_types(connection: sa.Connection, settings: SqlSettings) -> dict[str, sa.types.TypeEngine[Any]]:
    """Return the types of the columns of the target. Raises ConnectorError if there is no such table."""
    try:
        found = sa.inspect(connection).get_columns(settings.table, settings.schema)
    except sa.exc.NoSuchTableError:
        raise ConnectorError(
            "requires a table that exists",
            who=settings.who,
            got=f"no such table in {connection.engine.url.render_as_string(hide_password=True)}",
        ) from None
    return {column["name"]: column["type"] for column in found}


def read_columns(
    connection: sa.Connection, settings: SqlSettings, table: sa.TableClause
) -> list[sa.ColumnElement[Any]]:
    """Return the columns of the settings as they are selected from their target table.

    MySQL gives six digits of a FLOAT, and all that are needed of a DOUBLE.
    """
    columns: list[sa.ColumnElement[Any]] = [table.c[name] for name in settings.columns]
    if connection.dialect.name not in MYSQL:
        return columns
    stored = stored_types(connection, settings)
    return [
        (column + sa.literal_column("0e0")).label(name) if isinstance(stored.get(name), sa.FLOAT) else column
        for name, column in zip(settings.columns, columns, strict=True)
    ]


def counted(staging: sa.Table, scope: str, epoch: int, attempts: Collection[str]) -> sa.Select[Any]:
    """Return a query for the number of rows that each attempt staged, and of the deletions among them."""
    deletions = sa.func.sum(staging.c[DELETION])
    mine = _mine(staging, scope, epoch, attempts)
    return sa.select(staging.c[ATTEMPT], sa.func.count(), deletions).where(mine).group_by(staging.c[ATTEMPT])


def moving(
    settings: SqlSettings,
    staging: sa.Table,
    dialect: str,
    scope: str,
    epoch: int,
    attempts: Collection[str],
    deletes: bool,
) -> list[sa.Executable]:
    """Return the statements that apply staged rows to the target, in the order in which they were written.

    With a key, only the last row of each key counts: a deletion deletes, any other row inserts or updates.
    """
    target = target_table(settings)
    mine = _mine(staging, scope, epoch, attempts)
    columns = [staging.c[name] for name in settings.columns]
    if not settings.key:
        in_order = sa.select(*columns).where(mine).order_by(staging.c[SUBTASK], staging.c[SEQUENCE])
        return [sa.insert(target).from_select(list(settings.columns), in_order)]
    rank = sa.func.row_number().over(
        partition_by=[staging.c[name] for name in settings.key],
        order_by=[staging.c[SUBTASK].desc(), staging.c[SEQUENCE].desc()],
    )
    last = sa.select(*columns, staging.c[DELETION], rank.label(_RANK)).where(mine).subquery("firesteel_last")
    put = sa.select(*(last.c[name] for name in settings.columns)).where(
        last.c[_RANK] == 1, last.c[DELETION] == 0
    )
    statements: list[sa.Executable] = [upsert(settings, target, dialect, put)]
    if deletes:
        gone = sa.select(*(last.c[name] for name in settings.key)).where(
            last.c[_RANK] == 1, last.c[DELETION] == 1
        )
        key = [target.c[name] for name in settings.key]
        which = key[0].in_(gone) if len(key) == 1 else sa.tuple_(*key).in_(gone)
        statements.insert(0, sa.delete(target).where(which))
    return statements


def upsert(settings: SqlSettings, target: sa.TableClause, dialect: str, rows: sa.Select[Any] | None) -> Any:
    """Return the statement that inserts or updates by key: from `rows`, or else from parameters."""
    others = [name for name in settings.columns if name not in settings.key]
    if dialect in MYSQL:
        into = _filled(mysql.insert(target), settings.columns, rows)
        return into.on_duplicate_key_update(
            {name: into.inserted[name] for name in others or settings.key[:1]}
        )
    make = postgresql.insert if dialect == "postgresql" else sqlite.insert
    statement = _filled(make(target), settings.columns, rows)
    if not others:
        return statement.on_conflict_do_nothing(index_elements=list(settings.key))
    return statement.on_conflict_do_update(
        index_elements=list(settings.key), set_={name: statement.excluded[name] for name in others}
    )


def _filled(statement: Any, columns: Sequence[str], rows: sa.Select[Any] | None) -> Any:
    if rows is not None:
        return statement.from_select(list(columns), rows)
    return statement.values({name: sa.bindparam(f"c{index}") for index, name in enumerate(columns)})


def _mine(staging: sa.Table, scope: str, epoch: int, attempts: Collection[str]) -> sa.ColumnElement[bool]:
    return sa.and_(
        staging.c[SCOPE] == scope, staging.c[EPOCH] == epoch, staging.c[ATTEMPT].in_(sorted(attempts))
    )
