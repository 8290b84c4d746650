"""The tables a SQL sink works with: the target as it is, and those of its own beside it.

- `firesteel_staged_<target>_<digest>`: rows that are staged. The digest is of the columns and their types, so a
  target that was altered, or a sink of other columns, gets a staging table of its own.
- `firesteel_progress`: the last epoch that was committed, for each sink of each job.
- `firesteel_prepared`: which prepared transactions were committed in an epoch that is not yet recorded.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from firesteel.common.errors import ConnectorError
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.settings import SqlSettings

PROGRESS: Final = "firesteel_progress"
PREPARED: Final = "firesteel_prepared"

SCOPE: Final = "firesteel_scope"
EPOCH: Final = "firesteel_epoch"
ATTEMPT: Final = "firesteel_attempt"
SEQUENCE: Final = "firesteel_sequence"
SUBTASK: Final = "firesteel_subtask"
DELETION: Final = "firesteel_deletion"
CONTROL: Final = (SCOPE, EPOCH, ATTEMPT, SEQUENCE, SUBTASK, DELETION)

_REMEMBERED: Final = 64
_known: OrderedDict[tuple[Any, ...], str] = OrderedDict()
"""Staging tables this process has seen, so that not every epoch has to look at the catalog."""


def progress_table(schema: str | None) -> sa.Table:
    """The table of committed epochs."""
    return sa.Table(
        PROGRESS,
        sa.MetaData(),
        sa.Column("job", sa.String(128), primary_key=True),
        sa.Column("operator", sa.String(128), primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        schema=schema,
    )


def prepared_table(schema: str | None) -> sa.Table:
    """The table in which each prepared transaction notes its own name: whoever sees the note knows it is committed."""
    return sa.Table(
        PREPARED,
        sa.MetaData(),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        schema=schema,
    )


def staging_table(name: str, settings: SqlSettings, types: dict[str, Any] | None = None) -> sa.Table:
    """A staging table; without `types` (by column) it is good for statements, not for making it."""
    null = sa.types.NullType()
    return sa.Table(
        name,
        sa.MetaData(),
        sa.Column(SCOPE, sa.String(16), primary_key=True),
        sa.Column(EPOCH, sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column(ATTEMPT, sa.String(128), primary_key=True),
        sa.Column(SEQUENCE, sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column(SUBTASK, sa.Integer, nullable=False),
        sa.Column(DELETION, sa.SmallInteger, nullable=False),
        *(sa.Column(column, null if types is None else types[column]) for column in settings.columns),
        schema=settings.schema,
    )


def ensure_staging(database: Database, settings: SqlSettings) -> sa.Table:
    """Check the target, see to it that the staging table for it is there, and return that.

    Raises ConnectorError when the target lacks a column, or a unique constraint on the key.
    """
    remembered = (repr(settings), database.shown)
    name = _known.get(remembered)
    if name is None:
        types = database.run(lambda connection, _tries: target_types(connection, settings))
        layout = repr([(column, str(_sql_of(type_, database.dialect))) for column, type_ in types.items()])
        digest = hashlib.blake2b(layout.encode(), digest_size=4).hexdigest()
        name = f"firesteel_staged_{re.sub('[^A-Za-z0-9_]', '_', settings.table)[:36]}_{digest}"
        ensure_tables(database, [staging_table(name, settings, types)])
        _known[remembered] = name
        if len(_known) > _REMEMBERED:
            _known.popitem(last=False)
    return staging_table(name, settings)


def forget(table: sa.Table) -> None:
    """Look at the catalog again next time: something about this staging table was not as expected."""
    for remembered in [key for key, name in _known.items() if name == table.name]:
        del _known[remembered]


def ensure_tables(database: Database, tables: Iterable[sa.Table]) -> None:
    """Make those tables that are not there; several processes may do it at once."""
    for table in tables:
        if _exists(database, table):
            continue
        try:
            _create(database, table)
        except ConnectorError:
            if not _exists(database, table):
                raise


def _create(database: Database, table: sa.Table) -> None:
    database.run(lambda connection, _tries: connection.execute(CreateTable(table)))


def _exists(database: Database, table: sa.Table) -> bool:
    def look(connection: sa.Connection, _tries: int) -> bool:
        return sa.inspect(connection).has_table(table.name, schema=table.schema)

    return database.run(look)


def target_types(connection: sa.Connection, settings: SqlSettings) -> dict[str, Any]:
    """Return the types of the sink's columns in the target, after checking that it is as the sink needs it."""
    inspector = sa.inspect(connection)
    if not inspector.has_table(settings.table, schema=settings.schema):
        raise ConnectorError(
            "requires a table that exists",
            who=settings.who,
            got=f"no such table in {connection.engine.url.render_as_string(hide_password=True)}",
            hint="the sink does not make its target, as it cannot know its constraints and indexes",
        )
    found = {column["name"]: column for column in inspector.get_columns(settings.table, settings.schema)}
    missing = [column for column in settings.columns if column not in found]
    if missing:
        raise ConnectorError(
            f"requires the columns {list(settings.columns)}",
            who=settings.who,
            got=f"a table without {missing}: it has {list(found)}",
        )
    if settings.key:
        _check_key(inspector, settings)
    return {name: _stageable(found[name]["type"], settings, name, connection) for name in settings.columns}


def _check_key(inspector: sa.Inspector, settings: SqlSettings) -> None:
    table, schema = settings.table, settings.schema
    unique: list[Sequence[str | None]] = [
        inspector.get_pk_constraint(table, schema)["constrained_columns"],
        *(constraint["column_names"] for constraint in inspector.get_unique_constraints(table, schema)),
        *(index["column_names"] for index in inspector.get_indexes(table, schema) if index["unique"]),
    ]
    if not any(set(columns) == set(settings.key) for columns in unique):
        raise ConnectorError(
            f"requires a primary key or a unique constraint on its key {list(settings.key)}",
            who=settings.who,
            got=f"a table with {[columns for columns in unique if columns] or 'none'}",
        )


def _stageable(type_: Any, settings: SqlSettings, column: str, connection: sa.Connection) -> Any:
    """The type for a staging column: the target's, but types with a name of their own are not made again."""
    if isinstance(type_, sa.types.NullType):
        if connection.dialect.name == "sqlite":
            return sa.LargeBinary()  # no type is what SQLite calls BLOB: values stay what they are
        raise ConnectorError(
            "requires columns of types that SQLAlchemy knows", who=settings.who, got=f"the column {column!r}"
        )
    if hasattr(type_, "create_type"):
        type_.create_type = False
    return type_


def _sql_of(type_: Any, dialect: sa.Dialect) -> str:
    return str(type_.compile(dialect=dialect))
