"""Queries to plans: SELECT, VALUES, set operations, WITH."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from firesteel.common.logical_types import (
    Field,
    LogicalType,
    NullType,
    RowType,
)
from firesteel.common.logical_types.merging import find_common_type
from firesteel.relational.expressions import Expression, Literal, SortKey
from firesteel.relational.logical.nodes import LogicalNode, Project, UnionAll, Values
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.functions import as_type
from firesteel.sql.binding.scope import Relation, Scope
from firesteel.sql.binding.selects import NULL_HINT, bind_select
from firesteel.sql.binding.sets import bind_set_operation
from firesteel.sql.binding.sorting import bind_order_by, sorted_plan
from firesteel.sql.binding.sources import columns_of, no_table, renamed
from firesteel.sql.nodes import Call


def bind_query(node: exp.Expr, context: Context) -> LogicalNode:
    """Return the plan of a query.

    Raises SqlValidationError if names or types are wrong, SqlUnsupportedError for what is not supported yet.
    """
    return _bound(node, _with_queries(node.args.get("with_"), context)).at(context.text.place(node))


def _bound(node: exp.Expr, context: Context) -> LogicalNode:
    match node:
        case exp.Select():
            return bind_select(node, context)
        case exp.Values():
            return _ordered(node, _values(node, context), context)
        case exp.SetOperation():
            return _ordered(node, bind_set_operation(node, context), context)
        case exp.Subquery():
            return _ordered(node, bind_query(node.this, context), context)
    raise context.text.unsupported(node, type(node).__name__)


def _with_queries(ctes: exp.Expr | None, context: Context) -> Context:
    for cte in ctes.expressions if ctes is not None else ():
        plan = bind_query(cte.this, context)
        alias = cte.args["alias"]
        columns = alias.args.get("columns") or []
        if columns:
            plan = renamed(plan, [column.name for column in columns], alias, context)
        context = context.with_query(alias.this.name, plan)
    return context


def _ordered(node: exp.Expr, plan: LogicalNode, context: Context) -> LogicalNode:
    """Return the plan of a query that is no SELECT with its ORDER BY and LIMIT."""
    order = node.args.get("order")
    scope = Scope((Relation((), plan.row.fields),))
    refs = columns_of(plan)
    keys = []
    for item in bind_order_by(order, Expressions(context, scope), (), refs):
        if item.value not in refs:
            raise context.text.wrong(
                item.node, "requires a column of the result in ORDER BY", hint="put the query into FROM"
            )
        keys.append(SortKey(refs.index(item.value), item.ascending, item.nulls_first))
    return sorted_plan(plan, keys, node, context.text)


def _values(node: exp.Values, context: Context) -> LogicalNode:
    binder = Expressions(context, Scope(), "VALUES")
    rows = [[binder.bind(part) for part in _parts(row)] for row in node.expressions]
    width = len(rows[0])
    for row, place in zip(rows, node.expressions, strict=True):
        if len(row) != width:
            raise context.text.wrong(place, f"requires rows of {width} values", got=f"{len(row)} values")
    kinds = [_common([row[column] for row in rows], column, node, context) for column in range(width)]
    fields = tuple(Field(f"EXPR${place}", kind) for place, kind in enumerate(kinds))
    kind = RowType(fields, nullable=False)
    cast_rows = [
        tuple(as_type(value, wanted) for value, wanted in zip(row, kinds, strict=True)) for row in rows
    ]
    constant = [tuple(value for value in row if isinstance(value, Literal)) for row in cast_rows]
    if all(len(row) == width for row in constant):
        return Values(tuple(constant), kind)
    parts = tuple(Project(no_table(), row, tuple(kind.field_names)) for row in cast_rows)
    return parts[0] if len(parts) == 1 else UnionAll(parts, kind)


def _parts(row: exp.Expr) -> list[exp.Expr]:
    """Return the values of a row; one value may stand alone, and ROW is what parentheses are."""
    parts = list(row.expressions) if isinstance(row, exp.Tuple) else [row]
    only = parts[0]
    if len(parts) == 1 and isinstance(only, Call) and only.function.upper() == "ROW":
        return list(only.expressions)
    return parts


def _common(values: Sequence[Expression], column: int, node: exp.Expr, context: Context) -> LogicalType:
    types = list(dict.fromkeys(value.type for value in values))
    if all(isinstance(kind, NullType) for kind in types):
        raise context.text.wrong(
            node, f"requires a value with a type in column {column + 1} of VALUES", got="NULL", hint=NULL_HINT
        )
    found = types[0] if len(types) == 1 else find_common_type(types)
    if found is None:
        shown = ", ".join(map(str, types))
        raise context.text.wrong(
            node, f"requires values of one type in column {column + 1} of VALUES", got=shown
        )
    return found
