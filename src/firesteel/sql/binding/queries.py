"""Queries to plans: SELECT, VALUES, set operations, WITH."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from firesteel.common.logical_types import (
    Field,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    NullType,
    RowType,
)
from firesteel.common.logical_types.merging import find_common_type
from firesteel.common.logical_types.temporal import AnyTimestampType
from firesteel.relational.expressions import Expression, Literal, SortKey
from firesteel.relational.functions import cast
from firesteel.relational.logical.nodes import LogicalNode, Project, UnionAll, Values
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.functions import as_type
from firesteel.sql.binding.scope import Relation, Scope
from firesteel.sql.binding.selects import NULL_HINT, bind_select
from firesteel.sql.binding.sorting import bind_order_by, sorted_plan
from firesteel.sql.binding.sources import columns_of, no_table, renamed
from firesteel.sql.binding.time_attributes import distinct_rows
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
            return _ordered(node, _union(node, context), context)
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


def _union(node: exp.SetOperation, context: Context) -> LogicalNode:
    if not isinstance(node, exp.Union):
        raise context.text.unsupported(node, type(node).__name__.upper())
    nodes = list(_operands(node))
    parts = [bind_query(part, context) for part in nodes]
    width = len(parts[0].row.fields)
    for place, part in zip(nodes, parts, strict=True):
        if len(part.row.fields) != width:
            raise context.text.wrong(
                place, f"requires {width} columns in each part of UNION ALL", got=str(len(part.row.fields))
            )
    kinds = [_union_type([part.row.fields[place] for part in parts], node, context) for place in range(width)]
    fields = tuple(Field(field.name, kind) for field, kind in zip(parts[0].row.fields, kinds, strict=True))
    union = UnionAll(tuple(_as(part, kinds) for part in parts), RowType(fields, nullable=False))
    return distinct_rows(union).at(context.text.place(node)) if node.args.get("distinct") else union


def _operands(node: exp.SetOperation) -> list[exp.Expr]:
    """Return the queries of a chain of UNION ALL or of UNION, from left to right."""
    found: list[exp.Expr] = []
    part: exp.Expr = node
    distinct = bool(node.args.get("distinct"))
    while (
        isinstance(part, exp.Union) and bool(part.args.get("distinct")) is distinct and _is_plain(part, node)
    ):
        found.append(part.expression)
        part = part.this
    return [part, *reversed(found)]


def _is_plain(part: exp.Expr, top: exp.Expr) -> bool:
    clauses = ("order", "limit", "offset", "with_")
    return part is top or not any(part.args.get(clause) for clause in clauses)


def _union_type(fields: Sequence[Field], node: exp.Expr, context: Context) -> LogicalType:
    types = [field.type for field in fields]
    nullable = any(kind.nullable for kind in types)
    first = types[0]
    if all(kind.copy(nullable=True) == first.copy(nullable=True) for kind in types):
        return _same_kind(types).copy(nullable=nullable)
    roots = {kind.root for kind in types}
    dated = LogicalTypeRoot.DATE in roots and any(
        kind.has_family(LogicalTypeFamily.TIMESTAMP) for kind in types
    )
    found = None if dated else find_common_type(types)
    if found is None:
        shown = ", ".join(dict.fromkeys(map(str, types)))
        raise context.text.wrong(
            node, f"requires one type of column {fields[0].name} in all parts of UNION ALL", got=shown
        )
    return found.copy(nullable=nullable)


def _same_kind(types: Sequence[LogicalType]) -> LogicalType:
    """Return the type, which is a time attribute if all are of the same kind."""
    first = types[0]
    if isinstance(first, AnyTimestampType):
        kinds = {kind.kind for kind in types if isinstance(kind, AnyTimestampType)}
        if len(kinds) > 1:
            return replace(first, kind=type(first.kind).REGULAR)
    return first


def _as(plan: LogicalNode, kinds: Sequence[LogicalType]) -> LogicalNode:
    refs = columns_of(plan)
    values = tuple(cast(ref, kind) for ref, kind in zip(refs, kinds, strict=True))
    return plan if values == refs else Project(plan, values, tuple(plan.row.field_names))
