"""UNION, INTERSECT and EXCEPT to plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import (
    BigIntType,
    Field,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    RowType,
)
from firesteel.common.logical_types.merging import find_common_type
from firesteel.common.logical_types.temporal import AnyTimestampType
from firesteel.relational.expressions import AggregateCall, Expression, Literal, shifted
from firesteel.relational.functions import cast, resolve
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import (
    Aggregate,
    Filter,
    LogicalNode,
    Project,
    Replicate,
    UnionAll,
)
from firesteel.relational.rules.substitution import all_of
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.sources import columns_of
from firesteel.sql.binding.time_attributes import distinct_rows

_COUNT: Final = BigIntType(nullable=False)
_MARKS: Final = ("$left", "$right")


def bind_set_operation(node: exp.SetOperation, context: Context) -> LogicalNode:
    """Return the plan of UNION, INTERSECT or EXCEPT, with or without ALL."""
    nodes = _operands(node)
    parts = [context.query(part) for part in nodes]
    width, words = len(parts[0].row.fields), _words(node)
    for place, part in zip(nodes, parts, strict=True):
        if len(part.row.fields) != width:
            raise context.text.wrong(
                place, f"requires {width} columns in each part of {words}", got=str(len(part.row.fields))
            )
    kinds = [
        _common_type([part.row.fields[place] for part in parts], node, context) for place in range(width)
    ]
    alike = [_as(part, kinds) for part in parts]
    if isinstance(node, exp.Union):
        made: LogicalNode = _union(alike, kinds)
    elif not node.args.get("distinct"):
        return _counted(alike, kinds, subtracts=isinstance(node, exp.Except)).at(context.text.place(node))
    else:
        left, right = alike
        made = Join(left, right, "ANTI" if isinstance(node, exp.Except) else "SEMI", _same(left, right))
    return distinct_rows(made).at(context.text.place(node)) if node.args.get("distinct") else made


def _words(node: exp.SetOperation) -> str:
    return f"{type(node).__name__.upper()}{'' if node.args.get('distinct') else ' ALL'}"


def _union(parts: Sequence[LogicalNode], kinds: Sequence[LogicalType]) -> UnionAll:
    """Return all rows of relations with columns of these types."""
    fields = map(Field, parts[0].row.field_names, kinds)
    return UnionAll(tuple(parts), RowType(tuple(fields), nullable=False))


def _same(left: LogicalNode, right: LogicalNode) -> Expression:
    """Return the condition that two rows are equal, NULL for NULL."""
    width = len(left.row.fields)
    pairs = zip(columns_of(left), columns_of(right), strict=True)
    return all_of([resolve("IS NOT DISTINCT FROM", (mine, shifted(other, width))) for mine, other in pairs])


def _counted(parts: Sequence[LogicalNode], kinds: Sequence[LogicalType], *, subtracts: bool) -> LogicalNode:
    """Return each row as often as it is in both relations, or (`subtracts`) more often in the first one.

    As in Flink, the rows are counted on both sides, and repeated.
    """
    one, none = (Literal(_COUNT, value) for value in (1, 0))
    marked = [
        Project(part, (*marks, *columns_of(part)), (*_MARKS, *part.row.field_names))
        for part, marks in zip(parts, ((one, none), (none, one)), strict=True)
    ]
    union = _union(marked, [_COUNT, _COUNT, *kinds])
    fields = union.row.fields[2:]
    sums = tuple(Field(name, _COUNT) for name in _MARKS)
    calls = tuple(AggregateCall("$SUM0", (place,), _COUNT) for place in range(2))
    keys = tuple(range(2, 2 + len(fields)))
    counted = Aggregate(union, keys, calls, RowType((*fields, *sums), nullable=False))
    columns = columns_of(counted)
    first, second = columns[-2:]
    times = resolve("-", (first, second)) if subtracts else resolve("LEAST", (first, second))
    several = Filter(counted, resolve(">", (times, none)))
    return Replicate(Project(several, (times, *columns[:-2]), ("$times", *(field.name for field in fields))))


def _operands(node: exp.SetOperation) -> list[exp.Expr]:
    """Return the queries of a chain of UNION ALL or of UNION, from left to right; two of other operations."""
    if not isinstance(node, exp.Union):
        return [node.this, node.expression]
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


def _common_type(fields: Sequence[Field], node: exp.SetOperation, context: Context) -> LogicalType:
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
            node, f"requires one type of column {fields[0].name} in all parts of {_words(node)}", got=shown
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
