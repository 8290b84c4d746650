"""Which time attributes stay ones when rows are grouped by them.

As in Flink, grouping makes plain times of time attributes, but not of the window_time of a window table function: what
is grouped by a window is complete when the window is.
"""

from __future__ import annotations

from firesteel.common.logical_types.temporal import is_time_attribute
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.logical.nodes import Aggregate, Filter, LogicalNode, Project, WindowTable
from firesteel.sql.binding.functions import materialized


def as_key(value: Expression, plan: LogicalNode) -> Expression:
    """Return a value of a plan's rows as rows are grouped by it."""
    kept = isinstance(value, InputRef) and is_window_time(plan, value.index)
    return value if kept else materialized(value)


def is_window_time(plan: LogicalNode, place: int) -> bool:
    """Return whether a column of a plan is the window_time of a window table function below."""
    match plan:
        case WindowTable():
            width = len(plan.input.row.fields)
            return place == width + 2 or (place < width and is_window_time(plan.input, place))
        case Filter():
            return is_window_time(plan.input, place)
        case Project():
            value = plan.expressions[place]
            return isinstance(value, InputRef) and is_window_time(plan.input, value.index)
        case Aggregate():
            return place < len(plan.keys) and is_window_time(plan.input, plan.keys[place])
    return False


def distinct_rows(plan: LogicalNode, time_to_live: int | None = None) -> LogicalNode:
    """Return the plan that keeps one of several equal rows."""
    refs = tuple(InputRef(field.type, place) for place, field in enumerate(plan.row.fields))
    keys = tuple(as_key(ref, plan) for ref in refs)
    if any(is_time_attribute(ref.type) and key is not ref for ref, key in zip(refs, keys, strict=True)):
        plan = Project(plan, keys, tuple(plan.row.field_names))
    return Aggregate(plan, tuple(range(len(refs))), (), plan.row, time_to_live=time_to_live)
