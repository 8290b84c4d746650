"""OVER windows as operators need them, with Flink's conditions on them."""

from __future__ import annotations

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.temporal import is_proctime, is_time_attribute
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import OverAggregate, OverFrame
from firesteel.relational.expressions import Frame
from firesteel.relational.logical.nodes import Over
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.texts import call_text

_WHO = "OVER window"


def over_aggregate(node: Over, options: PlanOptions) -> OverAggregate:
    """Return what an operator computes.

    Raises ProgramError, with Flink's reasons, unless the window is ordered by a time attribute and has one frame, and
    UnsupportedError for a time to live of what keeps rows.
    """
    given = node.input.row
    time = _time(node, given, options)
    frames = {call.frame for call in node.calls}
    if len(frames) > 1:
        raise ProgramError("requires all of its calls to have the same frame", who=_WHO)
    (frame,) = frames
    kind = given.fields[time].type
    event_time = not is_proctime(kind)
    time_to_live = None if options.batch else options.state_ttl
    if time_to_live is not None:
        _require_totals_only(node, frame)
    return OverAggregate(
        input=given,
        output=node.type,
        keys=node.partition,
        time=time,
        event_time=event_time,
        frame=OverFrame(frame.rows, frame.lower),
        aggregations=tuple(
            Aggregation(
                function=call.function,
                arguments=call.arguments,
                types=tuple(given.fields[place].type for place in call.arguments),
                type=call.type,
                shown=call_text(call, given.field_names),
                distinct=call.distinct,
                ignore_nulls=call.ignore_nulls,
            )
            for call in node.calls
        ),
        time_to_live=time_to_live,
    )


def _require_totals_only(node: Over, frame: Frame) -> None:
    """Refuse a time to live of what keeps rows: a frame that counts them, and LAG. A RANGE drops its rows anyway."""
    lagged = any(call.function == "LAG" for call in node.calls)
    if lagged or (frame.rows and frame.lower is not None):
        raise UnsupportedError(
            "keeps rows, for which 'table.exec.state.ttl' is not supported yet",
            who=_WHO,
            got="LAG" if lagged else f"ROWS BETWEEN {frame.lower} PRECEDING AND CURRENT ROW",
            hint="reset the option for this query, or use an unbounded frame",
        )


def _time(node: Over, given: RowType, options: PlanOptions) -> int:
    if len(node.order) != 1:
        raise ProgramError(
            "can only be ordered by a single time column", who=_WHO, got=f"{len(node.order)} columns"
        )
    (key,) = node.order
    field = given.fields[key.index]
    if not is_time_attribute(field.type):
        if options.batch:
            raise UnsupportedError(
                "is ordered by a column that is no time attribute, and this is not supported yet",
                who=_WHO,
                got=f"{field.name} {field.type}",
            )
        raise ProgramError(
            "requires an order by a time attribute in STREAMING mode",
            who=_WHO,
            got=f"{field.name} {field.type}",
            hint="declare a WATERMARK for the column, or use a column AS PROCTIME()",
        )
    if not key.ascending:
        raise ProgramError("can only be ordered in ASCENDING mode", who=_WHO, got=f"{field.name} DESC")
    return key.index
