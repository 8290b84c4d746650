"""The tables of a SQL sink: the existing target, and the sink's own tables beside it.

- `firesteel_staged_<target>_<digest>`: staged rows. The digest covers the columns and their types, so an altered
  target, or a sink with other columns, gets its own staging table.
- `firesteel_progress`: the last committed epoch of each sink of each job.
- `firesteel_prepared`: the prepared transactions that were committed in an epoch that is not recorded yet.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from firesteel.common.errors import ConnectorError
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.settings import SqlSettings

MYSQL: Final = ("mysql", "mariadb")
"""Dialects of MySQL."""

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
"""Staging tables that this process has seen, so that not every epoch queries the catalog."""


def progress_table(schema: str | None) -> sa.Table:
    """Return the table of committed epochs."""
    return sa.Table(
        PROGRESS,
        sa.MetaData(),
        sa.Column("job", sa.String(128), primary_key=True),
        sa.Column("operator", sa.String(128), primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        schema=schema,
    )


def prepared_table(schema: str | None) -> sa.Table:
    """Return the table into which each prepared transaction inserts its own name: a visible name is committed."""
    return sa.Table(
        PREPARED,
        sa.MetaData(),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        schema=schema,
    )


def staging_table(
    name: str,
    settings: SqlSettings,
    types: dict[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> sa.Table:
    """Return a staging table; without `types` (by column) it serves for statements, but not for creating it.

    `options` are those of SQLAlchemy's for a table.
    """
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
        **(options or {}),
    )


def ensure_staging(database: Database, settings: SqlSettings) -> sa.Table:
    """Check the target, create its staging table if it is missing, and return the staging table.

    Raises ConnectorError when the target lacks a column, or a unique constraint on the key.
    """
    remembered = (repr(settings), database.shown)
    name = _known.get(remembered)
    if name is None:
        types = database.run(lambda connection, _tries: target_types(connection, settings))
        options = database.run(lambda connection, _tries: _comparing(connection, settings))
        layout = repr([(column, str(_sql_of(type_, database.dialect))) for column, type_ in types.items()])
        layout += repr(options) if options else ""
        digest = hashlib.blake2b(layout.encode(), digest_size=4).hexdigest()
        name = f"firesteel_staged_{re.sub('[^A-Za-z0-9_]', '_', settings.table)[:36]}_{digest}"
        ensure_tables(database, [staging_table(name, settings, types, options)])
        _known[remembered] = name
        if len(_known) > _REMEMBERED:
            _known.popitem(last=False)
    return staging_table(name, settings)


def forget(table: sa.Table) -> None:
    """Query the catalog again next time: this staging table was not as expected."""
    for remembered in [key for key, name in _known.items() if name == table.name]:
        del _known[remembered]


def ensure_tables(database: Database, tables: Iterable[sa.Table]) -> None:
    """Create the missing tables; several processes may do so at once."""
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
    """Return the types of the sink's columns in the target, and check that the target fits the sink."""
    inspector = sa.inspect(connection)
    if not inspector.has_table(settings.table, schema=settings.schema):
        raise ConnectorError(
            "requires a table that exists",
            who=settings.who,
            got=f"no such table in {connection.engine.url.render_as_string(hide_password=True)}",
            hint="the sink does not create its target, because it cannot know the constraints and indexes",
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


def _comparing(connection: sa.Connection, settings: SqlSettings) -> dict[str, str]:
    """Return the options of the target that say how its texts are compared: staged keys are equal as its keys are."""
    if connection.dialect.name not in MYSQL:
        return {}
    known = sa.inspect(connection).get_table_options(settings.table, settings.schema)
    wanted = [f"{connection.dialect.name}_{option}" for option in ("default charset", "collate")]
    return {option: known[option] for option in wanted if option in known}


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
    """Return the type for a staging column: the target's, but named types are not created again."""
    if isinstance(type_, sa.types.NullType):
        if connection.dialect.name == "sqlite":
            return sa.LargeBinary()  # SQLite calls a missing type BLOB: values stay as they are
        raise ConnectorError(
            "requires columns of types that SQLAlchemy knows", who=settings.who, got=f"the column {column!r}"
        )
    if hasattr(type_, "create_type"):
        type_.create_type = False
    return type_


def _sql_of(type_: Any, dialect: sa.Dialect) -> str:
    return str(type_.compile(dialect=dialect))
