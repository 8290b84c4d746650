"""OVER windows as operators need them, with Flink's conditions on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.temporal import is_proctime, is_time_attribute
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import OverAggregate, OverFrame, OverPartitions, PartitionFrame
from firesteel.relational.expressions import Frame, Literal, OverCall
from firesteel.relational.logical.nodes import Over, Project
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import Changes
from firesteel.relational.physical.texts import call_text
from firesteel.runtime.columns.over.calls import OF_WHOLE_PARTITIONS, OFFSETS

_WHO: Final = "OVER window"

_INDIFFERENT: Final = frozenset({"MIN", "MAX"})
"""Functions that give the same with DISTINCT, which Flink leaves out."""

_OTHERS: Final = {"APPROX_COUNT_DISTINCT": "COUNT"}
"""Functions that are others over windows: there, Flink counts equal values, too."""


def waits_for_time(node: Over, given: Changes) -> bool:
    """Return whether rows come out once, when their time has come, as Flink's do, and not as updates.

    So it is where rows only come, in ascending order of a time attribute, and no row needs those after it. An order by
    processing time is no other, as it is not known of rows that come again or go.
    """
    kinds = [node.input.row.fields[key.index].type for key in node.order]
    if any(map(is_proctime, kinds)):
        return True
    return (
        given == Changes()
        and len(kinds) == 1
        and is_time_attribute(kinds[0])
        and node.order[0].ascending
        and all(map(_waits, node.calls))
    )


def _waits(call: OverCall) -> bool:
    """Return whether a call needs no row after the current one, and Flink's streams have its frame."""
    lower, upper = call.frame.lower, call.frame.upper
    whole = lower is None or (isinstance(lower, int) and lower >= 0)
    return upper == 0 and whole and call.function not in OF_WHOLE_PARTITIONS


def over_aggregate(node: Over, options: PlanOptions) -> OverAggregate:
    """Return what an operator computes as time passes.

    Raises ProgramError, with Flink's reasons, unless the window is ordered by a time attribute and has one frame that
    ends with the current row, and UnsupportedError for a time to live of different values.
    """
    given = node.input.row
    _require_functions(node, frozenset())
    time = _time(node, given)
    frame = _require_one_frame(node)
    if frame.upper != 0 or (frame.lower is not None and frame.lower < 0):
        raise ProgramError("requires a frame that ends with the current row in STREAMING mode", who=_WHO)
    if not isinstance(frame.lower, int | None):
        raise ProgramError(
            "requires a frame of whole numbers in STREAMING mode", who=_WHO, got=str(frame.lower)
        )
    kind = given.fields[time].type
    event_time = not is_proctime(kind)
    if options.state_ttl is not None and frame.lower is None:
        _require_no_distinct(node)
    return OverAggregate(
        input=given,
        output=node.type,
        keys=node.partition,
        time=time,
        event_time=event_time,
        frame=OverFrame(frame.rows, frame.lower),
        aggregations=tuple(aggregation(call, given, options.zone) for call in node.calls),
        time_to_live=options.state_ttl,
    )


def over_partitions(node: Over, zone: str, refused: frozenset[str] | None = None) -> OverPartitions:
    """Return what an operator computes in BATCH mode; `refused` functions have no DISTINCT (None: all that count it).

    `zone` is the session's time zone.

    Raises ProgramError, with Flink's reasons, for DISTINCT, which a stream has, and for a rank without an order.
    """
    given = node.input.row
    for call in node.calls:
        if call.function == "ROW_NUMBER" and not node.order:
            raise ProgramError("requires an ORDER BY in its window", who=call_text(call, given.field_names))
    distinct = {call.function for call in node.calls if call.distinct and call.function not in _INDIFFERENT}
    _require_functions(node, frozenset(distinct) if refused is None else refused)
    return OverPartitions(
        input=given,
        output=node.type,
        keys=node.partition,
        order=tuple(SortColumn(key.index, key.ascending, key.nulls_first) for key in node.order),
        calls=tuple(
            (aggregation(call, given, zone), _partition_frame(call.frame, ordered=bool(node.order)))
            for call in node.calls
        ),
    )


def over_changes(node: Over, options: PlanOptions) -> OverPartitions:
    """Return what an operator computes in STREAMING mode if results change as rows come and go.

    Ranks by one value in ascending order are those of Flink's streams.

    Raises ProgramError for a rank without an order, UnsupportedError for a time to live.
    """
    if options.state_ttl is not None:
        raise UnsupportedError(
            "keeps all rows, for which 'table.exec.state.ttl' is not supported unless they come by a time attribute",
            who=_WHO,
            hint="reset the option for this query",
        )
    over = over_partitions(node, options.zone, frozenset())
    frames = [
        _looked_at(node, call) if call.function in OFFSETS else frame
        for call, (_, frame) in zip(node.calls, over.calls, strict=True)
    ]
    calls = tuple((call, frame) for (call, _), frame in zip(over.calls, frames, strict=True))
    return replace(over, calls=calls, by_frame=len(node.order) == 1 and node.order[0].ascending)


def _looked_at(node: Over, call: OverCall) -> PartitionFrame:
    """Return the rows that LAG or LEAD looks at: all of them if each row says how far."""
    distance: object = 1
    if len(call.arguments) > 1:
        below = node.input
        given = below.expressions[call.arguments[1]] if isinstance(below, Project) else None
        distance = given.value if isinstance(given, Literal) else None
    if not isinstance(distance, int):
        return PartitionFrame(True, None, None)
    return PartitionFrame(True, -abs(distance), abs(distance))


def aggregation(call: OverCall, given: RowType, zone: str) -> Aggregation:
    """Return a call over rows as operators have it."""
    return Aggregation(
        function=_OTHERS.get(call.function, call.function),
        arguments=call.arguments,
        types=tuple(given.fields[place].type for place in call.arguments),
        type=call.type,
        shown=call_text(call, given.field_names),
        distinct=call.distinct,
        ignore_nulls=call.ignore_nulls,
        user=call.user,
        zone=zone,
    )


def _partition_frame(frame: Frame, *, ordered: bool) -> PartitionFrame:
    """Return the frame of rows that are there all; without an order, a range is the whole partition."""
    if not ordered and not frame.rows:
        return PartitionFrame(frame.rows, None, None)
    return PartitionFrame(frame.rows, None if frame.lower is None else -frame.lower, frame.upper)


def _require_functions(node: Over, refused: frozenset[str]) -> None:
    for call in node.calls:
        shown = call_text(call, node.input.row.field_names)
        if call.function.startswith("JSON_"):
            raise ProgramError("requires a function that is known in windows", who=_WHO, got=shown)
        if call.function == "COUNT" and len(call.arguments) > 1:
            raise ProgramError("requires a COUNT of one column", who=_WHO, got=shown)
        if call.distinct and call.function in refused:
            raise ProgramError("requires a function without DISTINCT in BATCH mode", who=_WHO, got=shown)


def _require_one_frame(node: Over) -> Frame:
    frame, *others = {call.frame for call in node.calls}
    if others:
        raise ProgramError(
            "requires all of its calls to have the same frame",
            who=_WHO,
            hint="write OVER with the other frames in a query around this one",
        )
    return frame


def _require_no_distinct(node: Over) -> None:
    for call in node.calls:
        if call.distinct:
            raise UnsupportedError(
                "keeps different values, for which 'table.exec.state.ttl' is not supported in a frame without a bound",
                who=_WHO,
                got=call_text(call, node.input.row.field_names),
                hint="reset the option for this query, or use a bounded frame",
            )


def _time(node: Over, given: RowType) -> int:
    if len(node.order) != 1:
        raise ProgramError(
            "can only be ordered by a single time column", who=_WHO, got=f"{len(node.order)} columns"
        )
    (key,) = node.order
    field = given.fields[key.index]
    if not key.ascending:
        raise ProgramError("can only be ordered in ASCENDING mode", who=_WHO, got=f"{field.name} DESC")
    return key.index
