"""What is in a database of PostgreSQL: databases, tables, columns, primary keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from firesteel.connectors.sql.address import Address
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.settings import SqlSettings

_RETRY_MS: Final = 10_000

_DATABASES: Final = "SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY datname"
_TABLES: Final = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema <> 'information_schema' AND table_schema NOT LIKE 'pg\\_%'
ORDER BY table_schema, table_name"""
_COLUMNS: Final = """
SELECT column_name, udt_name, is_nullable, character_maximum_length, numeric_precision, numeric_scale,
  datetime_precision
FROM information_schema.columns WHERE table_schema = :schema AND table_name = :name ORDER BY ordinal_position"""
_KEY: Final = """
SELECT used.constraint_name, used.column_name
FROM information_schema.table_constraints AS made JOIN information_schema.key_column_usage AS used
  USING (constraint_schema, constraint_name, table_schema, table_name)
WHERE made.constraint_type = 'PRIMARY KEY' AND table_schema = :schema AND table_name = :name
ORDER BY used.ordinal_position"""


class InspectedColumn(NamedTuple):
    """A column of a table: PostgreSQL's name of its type (`udt_name`), and the parameters that the type has."""

    name: str
    type: str
    nullable: bool
    length: int | None
    precision: int | None
    scale: int | None
    digits: int | None


class InspectedKey(NamedTuple):
    """A primary key: its name and its columns."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Settings(SqlSettings):
    """The settings of a connection that asks what there is."""

    asking: str = "the database"

    @property
    def who(self) -> str:
        """Who asks, for errors."""
        return self.asking

    @property
    def requirement(self) -> str:
        """What is not so when a statement fails."""
        return "requires a database that can be asked what it has"


class Inspector:
    """Asks one database; raises ConnectorError, which begins with `who`, if it cannot be asked."""

    def __init__(self, address: Address, who: str) -> None:
        self._settings = _Settings(
            address, "", None, (), (), "staged", 1, retry_ms=_RETRY_MS, retries=None, asking=who
        )

    def databases(self) -> list[str]:
        """Return the names of all databases of the server, without templates."""
        return [name for (name,) in self._rows(_DATABASES)]

    def tables(self) -> list[tuple[str, str]]:
        """Return schema and name of each table that is not the server's own."""
        return [(schema, name) for schema, name in self._rows(_TABLES)]

    def columns(self, schema: str, name: str) -> list[InspectedColumn]:
        """Return the columns of a table, in their order; none if there is no such table."""
        found = self._rows(_COLUMNS, schema=schema, name=name)
        return [
            InspectedColumn(column, kind, nullable == "YES", length, precision, scale, digits)
            for column, kind, nullable, length, precision, scale, digits in found
        ]

    def primary_key(self, schema: str, name: str) -> InspectedKey | None:
        """Return the primary key of a table, None if it has none."""
        found = self._rows(_KEY, schema=schema, name=name)
        return InspectedKey(found[0][0], tuple(column for _, column in found)) if found else None

    def _rows(self, statement: str, **values: str) -> list[Any]:
        def ask(connection: sa.Connection, _tries: int) -> list[Any]:
            return [*connection.execute(sa.text(statement), values)]

        with _closing(Database(self._settings)) as database:
            return database.run(ask)


@contextmanager
def _closing(database: Database) -> Iterator[Database]:
    try:
        yield database
    finally:
        database.close()
