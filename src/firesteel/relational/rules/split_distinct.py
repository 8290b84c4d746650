"""DISTINCT of a group with very many rows is computed in parts: in buckets of the values first, then over the buckets.

    COUNT(DISTINCT c) by a  =>  $SUM0(COUNT(DISTINCT c) by a, bucket of c) by a

A value is in one bucket, so the parts add up. If several columns are DISTINCT, each has a copy of the rows with buckets
of its own. It is done if the session asks for it ('table.optimizer.distinct-agg.split.enabled'), in STREAMING mode, and
if the parts of the group's other functions add up, too. Source: Flink's SplitAggregateRule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from firesteel.common.logical_types import BigIntType, BooleanType, Field, IntType, LogicalTypeFamily, RowType
from firesteel.relational.expressions import AggregateCall, Call, Expression, InputRef, Literal
from firesteel.relational.logical.derived import Expand
from firesteel.relational.logical.nodes import Aggregate, LogicalNode, Project, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.expand_grouping_sets import fresh
from firesteel.relational.rules.substitution import all_of, refs

_COMBINED: Final = {"COUNT": "$SUM0", "SUM": "SUM", "$SUM0": "$SUM0", "MIN": "MIN", "MAX": "MAX"}
"""By the function of a part, the one that combines its parts."""

_NUMBER: Final = BigIntType(nullable=False)

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
    values = _distinct_columns(node)
    if not values:
        return node
    width = len(node.input.row.fields)
    given = _with_buckets(node.input, values, count)
    buckets = range(width, width + len(values))
    calls = node.calls
    if len(values) > 1:
        given, calls = _once_for_each(node, given, values)
    first = len(node.keys)
    names = node.row.field_names
    marks = []
    for bucket in buckets:
        marks.append(Field(fresh("bucket", names), given.row.fields[bucket].type))
        names = [*names, marks[-1].name]
    parts = Aggregate(
        given,
        (*node.keys, *buckets),
        calls,
        RowType((*node.row.fields[:first], *marks, *node.row.fields[first:]), nullable=False),
        time_to_live=node.time_to_live,
        place=node.place,
    )
    combined = tuple(
        AggregateCall(_COMBINED[call.function], (first + len(values) + place,), call.type)
        for place, call in enumerate(node.calls)
    )
    return replace(node, input=parts, keys=tuple(range(first)), calls=combined)


def _with_buckets(given: LogicalNode, values: Sequence[int], count: int) -> LogicalNode:
    """Return the input with the bucket of each of the values behind it."""
    row = given.row
    names = [*row.field_names]
    columns: list[Expression] = [*refs(row, range(len(names)))]
    for value in refs(row, values):
        number = IntType(nullable=value.type.nullable)
        columns.append(Call(number, "BUCKET", (value, Literal(IntType(nullable=False), count))))
        names.append(fresh("bucket", names))
    return Project(given, tuple(columns), tuple(names))


def _once_for_each(
    node: Aggregate, given: LogicalNode, values: Sequence[int]
) -> tuple[LogicalNode, tuple[AggregateCall, ...]]:
    """Return each row once for each column that is DISTINCT, and the calls, each over one copy of the rows.

    A copy has the bucket of its own column only. What is not DISTINCT counts the first copy.
    """
    width = len(node.input.row.fields)
    buckets = range(width, width + len(values))
    numbers = tuple(range(len(values)))
    fields = [
        field._replace(type=field.type.copy(True)) if place in buckets else field
        for place, field in enumerate(given.row.fields)
    ]
    fields.append(Field(fresh("e$", given.row.field_names), _NUMBER))
    sets = tuple((*node.keys, bucket) for bucket in buckets)
    copied = Expand(given, (*node.keys, *buckets), sets, numbers, RowType(tuple(fields), nullable=False))
    filters: dict[tuple[int, int | None], int] = {}
    conditions: list[Expression] = []
    calls = []
    for call in node.calls:
        number = values.index(call.arguments[0]) if call.distinct else 0
        known = (number, call.filter)
        if known not in filters:
            filters[known] = len(fields) + len(conditions)
            conditions.append(_is_copy(copied, number, call.filter))
        calls.append(replace(call, filter=filters[known]))
    names = [*copied.row.field_names]
    for _ in conditions:
        names.append(fresh("$g", names))
    columns = (*refs(copied.row, range(len(fields))), *conditions)
    return Project(copied, columns, tuple(names)), tuple(calls)


def _is_copy(copied: Expand, number: int, condition: int | None) -> Expression:
    """Return whether a row is in one of the copies and, if there is a condition, that it holds."""
    last = InputRef(_NUMBER, len(copied.row.fields) - 1)
    same = Call(BooleanType(nullable=False), "=", (last, Literal(_NUMBER, number)))
    return same if condition is None else all_of([same, *refs(copied.row, [condition])])


def _distinct_columns(node: Aggregate) -> list[int]:
    """Return the columns that are DISTINCT if the aggregate can be split by them, else none."""
    if any(call.function not in _COMBINED or call.order for call in node.calls):
        return []
    columns = sorted({call.arguments for call in node.calls if call.distinct})
    kinds = [node.input.row.fields[place].type for arguments in columns for place in arguments]
    if any(len(arguments) != 1 for arguments in columns):
        return []
    if not all(any(map(kind.has_family, _HASHED)) for kind in kinds):
        return []
    return [place for (place,) in columns]
