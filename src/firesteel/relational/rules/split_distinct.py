"""DISTINCT of a group with very many rows is computed in parts: in buckets of the values first, then over the buckets.

    COUNT(DISTINCT c) by a  =>  $SUM0(COUNT(DISTINCT c) by a, bucket of c) by a

A value is in one bucket, so the parts add up. It is done if the session asks for it
('table.optimizer.distinct-agg.split.enabled'), in STREAMING mode, for one column that is DISTINCT, and if the parts of
the group's other functions add up, too. Source: Flink's SplitAggregateRule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from firesteel.common.logical_types import Field, IntType, LogicalTypeFamily, RowType
from firesteel.relational.expressions import AggregateCall, Call, Expression, Literal
from firesteel.relational.logical.nodes import Aggregate, LogicalNode, Project, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.expand_grouping_sets import fresh
from firesteel.relational.rules.substitution import refs

_COMBINED: Final = {"COUNT": "$SUM0", "SUM": "SUM", "$SUM0": "$SUM0", "MIN": "MIN", "MAX": "MAX"}
"""By the function of a part, the one that combines its parts."""

_HASHED: Final = (
    LogicalTypeFamily.CHARACTER_STRING,
    LogicalTypeFamily.EXACT_NUMERIC,
    LogicalTypeFamily.DATETIME,
)
"""The values that have buckets."""


def split_distinct(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Split the aggregates of a plan that can be split."""
    if options.batch or not options.split_distinct:
        return plan
    return transformed(plan, lambda node: _split(node, options.distinct_buckets))


def _split(node: LogicalNode, count: int) -> LogicalNode:
    if not isinstance(node, Aggregate) or node.sets is not None:
        return node
    column = _distinct_column(node)
    if column is None:
        return node
    row = node.input.row
    value = refs(row, [column])[0]
    number = IntType(nullable=value.type.nullable)
    bucket = Call(number, "BUCKET", (value, Literal(IntType(nullable=False), count)))
    columns: tuple[Expression, ...] = (*refs(row, range(len(row.fields))), bucket)
    names = (*row.field_names, fresh("bucket", row.field_names))
    given = Project(node.input, columns, names)
    first = len(node.keys)
    mark = Field(fresh("bucket", node.row.field_names), number)
    fields = (*node.row.fields[:first], mark, *node.row.fields[first:])
    parts = Aggregate(
        given,
        (*node.keys, len(row.fields)),
        node.calls,
        RowType(fields, nullable=False),
        time_to_live=node.time_to_live,
        place=node.place,
    )
    combined = tuple(
        AggregateCall(_COMBINED[call.function], (first + 1 + place,), call.type)
        for place, call in enumerate(node.calls)
    )
    return replace(node, input=parts, keys=tuple(range(first)), calls=combined)


def _distinct_column(node: Aggregate) -> int | None:
    """Return the column that is DISTINCT, if there is one and the aggregate can be split by it."""
    columns = {call.arguments for call in node.calls if call.distinct}
    if len(columns) != 1 or any(call.function not in _COMBINED or call.order for call in node.calls):
        return None
    (arguments,) = columns
    if len(arguments) != 1:
        return None
    kind = node.input.row.fields[arguments[0]].type
    return arguments[0] if any(map(kind.has_family, _HASHED)) else None
