"""What stands in FROM to plans: tables, views, queries, window table functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from firesteel.common.logical_types import Field, IntType, RowType, TimestampKind
from firesteel.common.logical_types.temporal import AnyTimestampType
from firesteel.common.places import Place
from firesteel.relational.expressions import Expression, InputRef, Literal
from firesteel.relational.logical.joins import different_names
from firesteel.relational.logical.nodes import LogicalNode, Project, TableScan, Values, Watermark
from firesteel.relational.tables import ComputedColumn, ResolvedTable
from firesteel.sql import nodes
from firesteel.sql.binding.catalog import PlannedView, View
from firesteel.sql.binding.context import Context, name_parts
from firesteel.sql.binding.hints import with_hints
from firesteel.sql.binding.joins import Item, bind_joins
from firesteel.sql.binding.laterals import bind_first_lateral, is_called, is_lateral
from firesteel.sql.binding.row_patterns import bind_row_pattern
from firesteel.sql.binding.scope import Relation, Scope
from firesteel.sql.binding.state_tables import is_state_of, refuse_epoch, state_of
from firesteel.sql.binding.temporal_joins import refuse_alone
from firesteel.sql.binding.window_tables import bind_table_function


def no_table() -> LogicalNode:
    """Return the one row that SELECT without FROM reads."""
    kind = IntType(nullable=False)
    return Values(((Literal(kind, 0),),), RowType.of({"ZERO": kind}, nullable=False))


def bind_from(select: exp.Select, context: Context) -> tuple[LogicalNode, Scope]:
    """Return the plan of what a SELECT reads, and its columns."""
    start = select.args.get("from_")
    if start is None:
        return no_table(), Scope()
    return bind_joins(bind_item(start.this, context), select.args.get("joins") or (), context, bind_item)


def bind_item(node: exp.Expr, context: Context) -> Item:
    """Return the plan of an item of FROM, with what it is joined with in parentheses or after a comma."""
    joins = node.args.get("joins") or ()
    if isinstance(node, nodes.TableFunction) and not is_state_of(node):
        refuse_epoch(node, context)
    if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query) and not node.args.get("alias"):
        found = bind_item(node.this, context)
    elif is_lateral(node) or is_called(node, context):
        plan, relation = bind_first_lateral(node, no_table(), context)
        found = plan, Scope((relation,))
    else:
        plan, name = _bind_one(node, context)
        found = plan, Scope((Relation(name, plan.row.fields),))
    return bind_joins(found, joins, context, bind_item)


def bind_source(node: exp.Expr, context: Context) -> tuple[LogicalNode, tuple[str, ...]]:
    """Return the plan of an item of FROM that is not joined, and the name that its columns can be called by."""
    if node.args.get("joins"):
        raise context.text.unsupported(node.args["joins"][0], "a join here")
    return _bind_one(node, context)


def _bind_one(node: exp.Expr, context: Context) -> tuple[LogicalNode, tuple[str, ...]]:
    name: tuple[str, ...] = ()
    if isinstance(node, exp.Table):
        plan, name = bind_table(node, context)
    elif isinstance(node, nodes.TableFunction) and is_state_of(node):
        plan = scan(state_of(node, context), context.text.place(node))
    elif isinstance(node, nodes.TableFunction):
        plan = bind_table_function(node.this, context, bind_source)
    elif isinstance(node, nodes.RowPattern):
        plan = bind_row_pattern(node, *bind_source(node.this, context), context)
    elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        plan = context.query(node.this)
    elif isinstance(node, exp.Subquery):
        plan = _with_shown(*bind_item(node.this, context))
    else:
        plan = context.query(node)
    return _with_alias(plan, name, node, context)


def _with_shown(plan: LogicalNode, scope: Scope) -> LogicalNode:
    """Return the columns of joined items that an asterisk stands for, each with a name of its own."""
    names, values = zip(*scope.shown(), strict=True)
    different = tuple(different_names(names))
    same = values == columns_of(plan) and different == tuple(plan.row.field_names)
    return plan if same else Project(plan, values, different)


def _with_alias(
    plan: LogicalNode, name: tuple[str, ...], node: exp.Expr, context: Context
) -> tuple[LogicalNode, tuple[str, ...]]:
    alias = node.args.get("alias")
    if alias is None:
        return plan, name
    columns = alias.args.get("columns") or []
    if columns:
        plan = renamed(plan, [column.name for column in columns], alias, context)
    return plan, (alias.this.name,)


def renamed(plan: LogicalNode, names: Sequence[str], place: exp.Expr, context: Context) -> LogicalNode:
    """Return a plan with other names of its columns.

    Raises SqlValidationError unless there is one for each column, each once.
    """
    width = len(plan.row.fields)
    if len(names) != width:
        raise context.text.wrong(place, f"requires {width} names of columns", got=str(len(names)))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise context.text.wrong(place, "requires different names of columns", got=f"{twice} twice")
    if plan.row.field_names == list(names):
        return plan
    return Project(plan, columns_of(plan), tuple(names))


def columns_of(plan: LogicalNode) -> tuple[Expression, ...]:
    """Return a reference to each column of a plan."""
    return tuple(InputRef(field.type, place) for place, field in enumerate(plan.row.fields))


def bind_table(node: exp.Table, context: Context) -> tuple[LogicalNode, tuple[str, ...]]:
    """Return the plan of a table, a view or a query of WITH by its name, and its full name."""
    if node.args.get("version") is not None:
        refuse_alone(node.args["version"], context)
    parts = name_parts(node)
    if len(parts) == 1 and parts[0].name in context.queries:
        return context.queries[parts[0].name], (parts[0].name,)
    found = context.object(parts)
    identifier = found.identifier
    name = (identifier.catalog, identifier.database, identifier.name)
    if isinstance(found, ResolvedTable):
        return scan(with_hints(found, node, context), context.text.place(parts[-1])), name
    if node.args.get("hints"):
        raise context.text.wrong(node.args["hints"][0], "has options for a view, which only tables have")
    if isinstance(found, PlannedView):
        return found.plan, name
    return _bind_view(found, node, context), name


def _bind_view(view: View, node: exp.Expr, context: Context) -> LogicalNode:
    if str(view.identifier) in context.views:
        raise context.text.wrong(node, f"reads the view {view.identifier} within itself")
    inner = context.within(view)
    return renamed(inner.query(view.query), view.row.field_names, view.query, inner)


def scan(table: ResolvedTable, place: Place | None = None) -> LogicalNode:
    """Return the plan that reads a table: its columns with the computed ones, and its watermark."""
    plan: LogicalNode = TableScan(table, place=place)
    if any(isinstance(column, ComputedColumn) for column in table.columns):
        plan = Project(plan, _computed(table), tuple(table.row.field_names))
    if table.watermark is None:
        return plan
    fields = list(plan.row.fields)
    column = table.row.field_names.index(table.watermark.column)
    kind = fields[column].type
    assert isinstance(kind, AnyTimestampType)
    fields[column] = Field(fields[column].name, replace(kind, kind=TimestampKind.ROWTIME))
    kind_of_rows = RowType(tuple(fields), nullable=False)
    return Watermark(plan, column, table.watermark.expression, kind_of_rows, place=place)


def _computed(table: ResolvedTable) -> tuple[Expression, ...]:
    places = {column.name: place for place, column in enumerate(table.read)}
    return tuple(
        column.expression
        if isinstance(column, ComputedColumn)
        else InputRef(column.type, places[column.name])
        for column in table.columns
    )
