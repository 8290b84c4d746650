"""A regular join gives its rows whenever they meet: what was a time attribute is a plain time behind it.

    an interval join with the result of a regular join  =>  a regular join

The time attributes of interval joins and window joins stay, because their rows come in time. Group windows of GROUP BY
and temporal joins take the times nevertheless, as in Flink. Source: Flink's RelTimeIndicatorConverter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.temporal import is_proctime, is_rowtime, is_time_attribute, regular
from firesteel.relational.expressions import Expression, InputRef, rewritten
from firesteel.relational.logical.derived import Rank, WindowAggregate
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import (
    Aggregate,
    Filter,
    LogicalNode,
    Over,
    Project,
    Sort,
    UnionAll,
    WindowTable,
)
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.carried_windows import equal_windows
from firesteel.relational.rules.intervals import interval_of
from firesteel.relational.rules.substitution import refs

_FOLLOWING: Final = (
    Project,
    Filter,
    Join,
    Aggregate,
    WindowAggregate,
    WindowTable,
    Over,
    Rank,
    UnionAll,
    Sort,
)
"""The nodes that take a time attribute for one only if it is one of their inputs."""


def materialize_times(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Let no time attribute pass a regular join."""
    return plan if options.batch else _changed(plan)


def _changed(node: LogicalNode) -> LogicalNode:
    inputs = tuple(map(_changed, node.inputs))
    if not isinstance(node, _FOLLOWING):
        inputs = tuple(map(_with_types_of, inputs, node.inputs))
    if any(new is not old for new, old in zip(inputs, node.inputs, strict=True)):
        node = _typed(node.with_inputs(inputs)).at(node.place)
    return _without_times(node) if isinstance(node, Join) else node


def _without_times(join: Join) -> Join:
    """Return a join, if it is a regular one, of sides without time attributes."""
    sides = join.inputs
    if not any(is_time_attribute(field.type) for side in sides for field in side.row.fields):
        return join
    if interval_of(join) is not None or equal_windows(join) is not None:
        return join
    plain = [_projected(side, [regular(field.type) for field in side.row.fields]) for side in sides]
    made = join.with_inputs(tuple(plain))
    return replace(made, condition=_retyped(made.condition, _fields(made)))


def _typed(node: LogicalNode) -> LogicalNode:
    """Return a node of other inputs with the types that its columns have now."""
    match node:
        case Project():
            fields = node.input.row.fields
            return replace(node, expressions=tuple(_retyped(value, fields) for value in node.expressions))
        case Filter():
            return replace(node, condition=_retyped(node.condition, node.input.row.fields))
        case Join():
            return replace(node, condition=_retyped(node.condition, _fields(node)))
        case Aggregate():
            given = node.input.row.fields
            kept = [_lost(field, given[key]) for key, field in zip(node.keys, node.type.fields, strict=False)]
            return replace(node, type=_row(node.type, kept))
        case WindowTable() | Over() | Rank():
            kept = list(map(_lost, node.type.fields, node.input.row.fields))
            return replace(node, type=_row(node.type, kept))
        case UnionAll():
            kept = list(node.type.fields)
            for part in node.parts:
                kept = list(map(_lost, kept, part.row.fields))
            return replace(node, type=_row(node.type, kept))
    return node


def _fields(join: Join) -> tuple[Field, ...]:
    return (*join.left.row.fields, *join.right.row.fields)


def _lost(field: Field, below: Field) -> Field:
    """Return a column as a plain time if that of the input, which it is, is one."""
    return field if is_time_attribute(below.type) else Field(field.name, regular(field.type))


def _row(row: RowType, first: Sequence[Field]) -> RowType:
    return RowType((*first, *row.fields[len(first) :]), nullable=False)


def _retyped(value: Expression, fields: Sequence[Field]) -> Expression:
    """Return an expression whose columns are time attributes only if these are."""

    def changed(part: Expression) -> Expression:
        if not isinstance(part, InputRef) or is_time_attribute(fields[part.index].type):
            return part
        return replace(part, type=regular(part.type))

    return rewritten(value, changed)


def _with_types_of(new: LogicalNode, old: LogicalNode) -> LogicalNode:
    """Return a relation with the time attributes of another one, which has the same columns."""
    types = [field.type for field in old.row.fields]
    return new if new is old else _projected(new, types)


def _projected(node: LogicalNode, types: Sequence[LogicalType]) -> LogicalNode:
    """Return the columns of a relation as those of other types, which differ in whether they are time attributes."""
    row = node.row
    if all(_kind(field.type) == _kind(kind) for field, kind in zip(row.fields, types, strict=True)):
        return node
    columns = tuple(
        replace(ref, type=kind) for ref, kind in zip(refs(row, range(len(types))), types, strict=True)
    )
    return Project(node, columns, tuple(row.field_names))


def _kind(data_type: LogicalType) -> tuple[bool, bool]:
    return is_rowtime(data_type), is_proctime(data_type)
