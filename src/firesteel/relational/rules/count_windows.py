"""Windows of a number of rows: each row's results over the last `size` rows, of which those that end a window are kept.

    GroupWindowAggregate(CountTumble(size))  =>  Project over Filter over Over(ROWS size - 1 PRECEDING) over Over(COUNT)

A window has its rows in the order in which they come, and its results when its last row does; a window that is not full
has none. The first one begins with the first row of the keys, the next ones every `slide` rows. Source: Flink's
CountSlidingWindowAssigner and ElementTriggers.count.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.common.logical_types.temporal import is_proctime
from firesteel.common.places import errors_at
from firesteel.relational.expressions import (
    AggregateCall,
    Expression,
    Frame,
    InputRef,
    Literal,
    OverCall,
    SortKey,
)
from firesteel.relational.functions import resolve
from firesteel.relational.logical.nodes import (
    Filter,
    GroupWindowAggregate,
    LogicalNode,
    Over,
    Project,
    transformed,
)
from firesteel.relational.logical.windows import CountHop, CountTumble
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.expand_grouping_sets import fresh
from firesteel.relational.rules.substitution import refs

_NUMBER: Final = BigIntType(nullable=False)
_WHO: Final = "a window of a number of rows"


def count_windows(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Replace the windows of all aggregates that count rows.

    Raises ProgramError for those of event time and for properties, which have no meaning there, and UnsupportedError in
    BATCH mode and for FILTER; so does Flink, but for FILTER.
    """

    def rewritten(node: LogicalNode) -> LogicalNode:
        if not isinstance(node, GroupWindowAggregate) or not isinstance(node.window, CountTumble | CountHop):
            return node
        with errors_at(node.place):
            _check(node, node.window, options)
        return _over_rows(node, node.window)

    return transformed(plan, rewritten)


def _check(node: GroupWindowAggregate, window: CountTumble | CountHop, options: PlanOptions) -> None:
    time = node.input.row.children[window.time]
    if options.batch:
        raise UnsupportedError(
            "is not supported in BATCH mode, as in Flink", who=_WHO, hint="use an interval"
        )
    if not is_proctime(time):
        raise ProgramError("requires processing time", who=_WHO, got=str(time), hint="use an interval")
    if node.properties:
        raise ProgramError(
            "has no start and no end",
            who=_WHO,
            got=", ".join(node.properties).lower(),
            hint="use an interval",
        )
    if any(call.filter is not None for call in node.calls):
        raise UnsupportedError("has no FILTER", who=_WHO, hint="aggregate CASE WHEN ... END")


def _over_rows(node: GroupWindowAggregate, window: CountTumble | CountHop) -> LogicalNode:
    slide = window.size if isinstance(window, CountTumble) else window.slide
    place = len(node.input.row.fields)
    every, last = Frame(rows=True, lower=None), Frame(rows=True, lower=window.size - 1)
    counted = _over(node, node.input, [OverCall("COUNT", (), _NUMBER, every)])
    valued = _over(node, counted, [_call(call, last) for call in node.calls])
    ends = Filter(valued, _ends(InputRef(_NUMBER, place), window.size, slide))
    places = [*node.keys, *range(place + 1, place + 1 + len(node.calls))]
    return Project(ends, refs(ends.row, places), tuple(node.row.field_names))


def _over(node: GroupWindowAggregate, given: LogicalNode, calls: list[OverCall]) -> LogicalNode:
    """Return rows with a column for each call, by the keys and in the order of their arrival."""
    if not calls:
        return given
    assert isinstance(node.window, CountTumble | CountHop)
    names = [*given.row.field_names]
    for _ in calls:
        names.append(fresh("w$", names))
    fields = (
        Field(name, call.type) for name, call in zip(names[len(given.row.fields) :], calls, strict=True)
    )
    row = RowType((*given.row.fields, *fields), nullable=False)
    return Over(given, node.keys, (SortKey(node.window.time),), tuple(calls), row, place=node.place)


def _call(call: AggregateCall, frame: Frame) -> OverCall:
    return OverCall(
        call.function, call.arguments, call.type, frame, call.distinct, call.ignore_nulls, call.user
    )


def _ends(number: Expression, size: int, slide: int) -> Expression:
    """Return whether the row of a number, counted from 1, is the last one of a window."""
    beyond = resolve("-", (number, Literal(_NUMBER, size)))
    starts = resolve("=", (resolve("%", (beyond, Literal(_NUMBER, slide))), Literal(_NUMBER, 0)))
    return resolve("AND", (resolve(">=", (number, Literal(_NUMBER, size))), starts))
