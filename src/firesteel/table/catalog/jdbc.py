"""A catalog of the databases of a PostgreSQL server (Flink: JdbcCatalog with PostgresCatalog)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from firesteel.common.errors import ConfigurationError, ProgramError, UnsupportedError
from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    SmallIntType,
    TimestampType,
    TimeType,
    VarCharType,
)
from firesteel.connectors.sql.address import checked_address
from firesteel.connectors.sql.jdbc_url import url_of_jdbc
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogBaseTable
from firesteel.table.catalog.paths import ObjectPath
from firesteel.table.schema import Schema
from firesteel.table.types import DataType

if TYPE_CHECKING:
    from firesteel.connectors.sql.inspecting import InspectedColumn, Inspector

__all__ = ["JdbcCatalog"]

_PUBLIC: Final = "public"
_KINDS: Final[Mapping[str, Callable[[InspectedColumn], LogicalType]]] = {
    "bool": lambda _: BooleanType(),
    "bytea": lambda _: BYTES,
    "int2": lambda _: SmallIntType(),
    "int4": lambda _: IntType(),
    "int8": lambda _: BigIntType(),
    "float4": lambda _: FloatType(),
    "float8": lambda _: DoubleType(),
    "numeric": lambda one: (
        DecimalType(one.precision, one.scale or 0) if one.precision else DecimalType(38, 18)
    ),
    "bpchar": lambda one: CharType(one.length or 1),
    "varchar": lambda one: VarCharType(one.length) if one.length else STRING,
    "text": lambda _: STRING,
    "timestamp": lambda one: TimestampType(_digits(one)),
    "timestamptz": lambda one: LocalZonedTimestampType(_digits(one)),
    "time": lambda one: TimeType(_digits(one)),
    "date": lambda _: DateType(),
}
"""Flink's types by PostgreSQL's. Source: PostgresTypeMapper of flink-connector-jdbc."""


class JdbcCatalog(Catalog):
    """The databases of a server, and their tables as `jdbc` tables; nothing can be changed through it.

    `base_url` is a JDBC URL of PostgreSQL without a database, `jdbc:postgresql://host:5432`; `pwd` refers to an
    environment variable of the driver and the workers, as ${PGPASSWORD}. A table is called `schema.table`, in quotes;
    without a schema that of `public` is meant. Raises ConfigurationError for another database, ConnectorError if the
    server cannot be asked.
    """

    def __init__(
        self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str
    ) -> None:
        if not base_url.startswith("jdbc:postgresql://"):
            raise ConfigurationError(
                "requires a base-url that begins with 'jdbc:postgresql://'",
                who=f"JdbcCatalog {catalog_name!r}",
                got=repr(base_url),
                hint="tables of other databases are declared by CREATE TABLE ... WITH ('connector' = 'jdbc')",
            )
        self._who = f"JdbcCatalog {catalog_name!r}"
        self._default = default_database
        self._account = (username, pwd)
        self._base = base_url if base_url.endswith("/") else f"{base_url}/"
        checked_address(self._address(default_database), self._who)

    def get_default_database(self) -> str:
        """Return the database that is used when the catalog is."""
        return self._default

    def list_databases(self) -> list[str]:
        """Return the names of the server's databases."""
        return self._inspector(self._default).databases()

    def list_tables(self, database_name: str) -> list[str]:
        """Return the tables of a database as `schema.table`."""
        self._require_database(database_name)
        return [f"{schema}.{name}" for schema, name in self._inspector(database_name).tables()]

    def list_views(self, database_name: str) -> list[str]:
        """Return no names: views of the database are not shown, as in Flink."""
        self._require_database(database_name)
        return []

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table of this name."""
        if not self.database_exists(table_path.database_name):
            return False
        return _place(table_path) in self._inspector(table_path.database_name).tables()

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table with its columns and its primary key. Raises UnsupportedError for types that Flink lacks."""
        schema, name = _place(table_path)
        inspector = self._inspector(table_path.database_name)
        columns = inspector.columns(schema, name)
        if not columns:
            raise ProgramError("requires a table that exists", who=self._who, got=str(table_path))
        builder = Schema.new_builder()
        for column in columns:
            builder.column(column.name, DataType(_type_of(column, f"table {schema}.{name}")))
        key = inspector.primary_key(schema, name)
        if key is not None:
            builder.primary_key_named(key.name, *key.columns)
        user, password = self._account
        options = {
            "connector": "jdbc",
            "url": f"{self._base}{table_path.database_name}",
            "table-name": f"{schema}.{name}",
            "username": user,
            "password": password,
        }
        return CatalogBaseTable.create_table(builder.build(), [], options)

    def _inspector(self, database: str) -> Inspector:
        address = checked_address(
            self._address(database), self._who
        )  # SQLAlchemy may be missing, and then it says so
        inspecting = importlib.import_module("firesteel.connectors.sql.inspecting")
        inspector: Inspector = inspecting.Inspector(address, self._who)
        return inspector

    def _address(self, database: str) -> str:
        return url_of_jdbc(f"{self._base}{database}", *self._account, self._who)


def _place(path: ObjectPath) -> tuple[str, str]:
    schema, dot, name = path.object_name.partition(".")
    return (schema, name) if dot else (_PUBLIC, schema)


def _digits(column: InspectedColumn) -> int:
    return 6 if column.digits is None else column.digits


def _type_of(column: InspectedColumn, who: str) -> LogicalType:
    """Return the type of a column.

    >>> from firesteel.connectors.sql.inspecting import InspectedColumn
    >>> str(_type_of(InspectedColumn("n", "numeric", False, None, 10, 2, None), "t"))
    'DECIMAL(10, 2) NOT NULL'
    >>> str(_type_of(InspectedColumn("n", "_int4", True, None, None, None, None), "t"))
    'ARRAY<INT>'
    """
    element = column.type.removeprefix("_")
    if element not in _KINDS:
        raise UnsupportedError(
            f"cannot have the type {column.type!r} of PostgreSQL",
            who=f"{who}, column {column.name!r}",
            hint="declare the table by CREATE TABLE, with the columns that you need",
        )
    kind = _KINDS[element](column)
    return (kind if element == column.type else ArrayType(kind)).copy(nullable=column.nullable)
