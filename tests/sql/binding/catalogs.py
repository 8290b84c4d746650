"""A small catalog, made by the statements of `flink/tables.sql`, and statements bound over it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.places import Source
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.relational.logical.nodes import LogicalNode, TableSink
from firesteel.relational.tables import ResolvedTable
from firesteel.sql.binding.catalog import CatalogObject
from firesteel.sql.binding.statements import (
    bind_insert,
    bind_query,
    bind_statement_set,
    bind_table,
    bind_view,
)
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.create import CreateTable, CreateView
from firesteel.sql.statements.queries import Insert, Query, StatementSet
from firesteel.table.udf import udf, udtf

HERE = Path(__file__).parent


FUNCTIONS: dict[str, UserFunction] = {
    "add_one": udf(lambda n: n + 1, input_types="BIGINT", result_type="BIGINT", name="add_one").signature,
    "draw": udf(lambda: 4, result_type="BIGINT", name="draw", deterministic=False).signature,
    "words": udtf(str.split, result_types="ROW<word STRING NOT NULL>", name="words").signature,
}
"""The functions that all catalogs have."""


class Catalog:
    """One database with tables and views."""

    path: tuple[str, str] = ("default_catalog", "default_database")

    def __init__(self) -> None:
        self._objects: dict[ObjectIdentifier, CatalogObject] = {}

    def find(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        return self._objects.get(identifier)

    def function(self, identifier: ObjectIdentifier) -> UserFunction | None:
        return FUNCTIONS.get(identifier.name.lower())

    def system_function(self, name: str) -> None:
        return None

    def function_names(self, catalog: str, database: str) -> Sequence[str]:
        return []

    def model(self, identifier: ObjectIdentifier) -> None:
        return None

    def model_names(self, catalog: str, database: str) -> Sequence[str]:
        return []

    def names(self, catalog: str, database: str) -> Sequence[str]:
        return [key.name for key in self._objects if (key.catalog, key.database) == (catalog, database)]

    def add(self, found: CatalogObject) -> None:
        self._objects[found.identifier] = found

    def create(self, sql: str) -> CatalogObject:
        """Add what a CREATE statement describes."""
        statement, source = parse_statement(sql), Source(sql)
        found: CatalogObject
        if isinstance(statement, CreateTable):
            found = bind_table(statement, source, self)
        else:
            assert isinstance(statement, CreateView)
            found = bind_view(statement, source, self)
        self.add(found)
        return found

    def create_table(self, sql: str) -> ResolvedTable:
        """Add the table that a CREATE TABLE statement describes."""
        found = self.create(sql)
        assert isinstance(found, ResolvedTable)
        return found

    def query(self, sql: str) -> LogicalNode:
        """Return the plan of a query."""
        statement = parse_statement(sql)
        assert isinstance(statement, Query)
        return bind_query(statement.query, Source(sql), self)

    def insert(self, sql: str) -> TableSink:
        """Return the plan of an INSERT."""
        statement = parse_statement(sql)
        assert isinstance(statement, Insert)
        return bind_insert(statement, Source(sql), self)

    def statement_set(self, sql: str) -> tuple[TableSink, ...]:
        """Return the plans of a statement set."""
        statement = parse_statement(sql)
        assert isinstance(statement, StatementSet)
        return bind_statement_set(statement, Source(sql), self)


def lines(name: str) -> list[str]:
    """Return the statements of a file beside this one, one a line, without comments."""
    text = (HERE / name).read_text()
    return [line.rstrip(";") for line in text.splitlines() if line and not line.startswith("--")]


def small_catalog() -> Catalog:
    """Return a catalog with the tables that Flink is asked about."""
    catalog = Catalog()
    for sql in lines("flink/tables.sql"):
        catalog.create(sql)
    return catalog
