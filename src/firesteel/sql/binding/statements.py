"""The doors of the binder: statements to plans, tables and views."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from firesteel.common.logical_types import RowType
from firesteel.common.places import Source
from firesteel.relational.logical.nodes import LogicalNode, TableSink
from firesteel.relational.tables import ResolvedTable
from firesteel.sql.binding import inserts, queries, table_changes, table_definitions
from firesteel.sql.binding.catalog import CatalogView, View, qualified
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.sources import renamed
from firesteel.sql.binding.table_elements import DeclaredTable
from firesteel.sql.statements.alter import Alter
from firesteel.sql.statements.create import CreateTable, CreateView
from firesteel.sql.statements.queries import Insert, StatementSet


def _context(source: Source, catalog: CatalogView, who: str) -> Context:
    return Context(catalog, Text(source, who), catalog.path, queries.bind_query)


def bind_query(query: exp.Expr, source: Source, catalog: CatalogView) -> LogicalNode:
    """Return the plan of a query; `source` is the text that it was parsed from.

    Raises SqlValidationError for wrong names and types, SqlUnsupportedError for what is not supported yet.
    """
    return queries.bind_query(query, _context(source, catalog, "query"))


def bind_operation(
    query: exp.Expr, text: Text, catalog: CatalogView, tables: Mapping[str, LogicalNode]
) -> LogicalNode:
    """Return the plan of a query that a program has made without SQL, over plans that it calls tables.

    Raises what `bind_query` raises; errors point into `text`.
    """
    return queries.bind_query(query, Context(catalog, text, catalog.path, queries.bind_query, tables))


def bind_insert(insert: Insert, source: Source, catalog: CatalogView) -> TableSink:
    """Return the plan of INSERT: the query, cast to the columns of the table.

    Raises what `bind_query` raises, and SqlValidationError if the query does not fit the table.
    """
    return inserts.bind_insert(insert, _context(source, catalog, "INSERT statement"))


def bind_statement_set(
    statements: StatementSet, source: Source, catalog: CatalogView
) -> tuple[TableSink, ...]:
    """Return the plan of each INSERT of a statement set; raises what `bind_insert` raises."""
    return tuple(bind_insert(insert, source, catalog) for insert in statements.inserts)


def bind_table(
    create: CreateTable, source: Source, catalog: CatalogView, row: RowType | None = None
) -> ResolvedTable:
    """Return the table that CREATE TABLE describes, with what LIKE takes over; the catalog does not change.

    `row` is that of the query after AS, if there is one: its columns follow those that only the statement declares.
    Raises SqlValidationError for names, types, keys, watermarks and expressions that Flink refuses.
    """
    return table_definitions.bind_table(create, _context(source, catalog, "CREATE TABLE statement"), row)


def bind_change(alter: Alter, table: DeclaredTable, source: Source, catalog: CatalogView) -> DeclaredTable:
    """Return a table with other columns, another watermark or another primary key; the catalog does not change.

    Raises SqlValidationError for what Flink refuses: unknown columns, columns that something else needs, and changes
    after which a computed column or the watermark would mean nothing.
    """
    context = _context(source, catalog, f"ALTER {alter.kind.value} statement")
    return table_changes.bind_change(alter, table, context)


def bind_view(create: CreateView, source: Source, catalog: CatalogView) -> View:
    """Return the view that CREATE VIEW describes; raises what `bind_query` raises."""
    context = _context(source, catalog, "CREATE VIEW statement")
    plan = queries.bind_query(create.query, context)
    if create.columns is not None:
        plan = renamed(plan, [part for name in create.columns for part in name.parts], create.query, context)
    row = plan.row
    identifier = qualified(create.name.parts, catalog.path)
    return View(
        identifier,
        RowType(row.fields, nullable=False),
        create.query,
        source,
        catalog.path,
        create.comment,
        context.met,
    )
