"""OVER windows as operators need them, with Flink's conditions on them."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.temporal import is_proctime, is_time_attribute
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import OverAggregate, OverFrame, OverPartitions, PartitionFrame
from firesteel.relational.expressions import Frame, OverCall
from firesteel.relational.logical.nodes import Over
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.texts import call_text

_WHO: Final = "OVER window"

_INDIFFERENT: Final = frozenset({"MIN", "MAX"})
"""Functions that give the same with DISTINCT, which Flink leaves out."""

_BY_TIME_ONLY: Final = frozenset({"LAG", "LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST"})
"""Functions that streams have with an order by time only, or not at all."""

_OTHERS: Final = {"APPROX_COUNT_DISTINCT": "COUNT"}
"""Functions that are others over windows: there, Flink counts equal values, too."""


def over_aggregate(node: Over, options: PlanOptions) -> OverAggregate:
    """Return what an operator computes in STREAMING mode.

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
        aggregations=tuple(aggregation(call, given) for call in node.calls),
        time_to_live=options.state_ttl,
    )


def over_partitions(node: Over, refused: frozenset[str] | None = None) -> OverPartitions:
    """Return what an operator computes in BATCH mode; `refused` functions have no DISTINCT (None: all that count it).

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
            (aggregation(call, given), _partition_frame(call.frame, ordered=bool(node.order)))
            for call in node.calls
        ),
    )


def is_by_values(node: Over) -> bool:
    """Return whether the window is ordered by a column that is no time attribute."""
    return len(node.order) == 1 and not is_time_attribute(node.input.row.fields[node.order[0].index].type)


def over_changes(node: Over, options: PlanOptions) -> OverPartitions:
    """Return what an operator computes in STREAMING mode over a window that is ordered by values.

    Raises ProgramError, with Flink's reasons, unless all calls have one frame, of all rows up to the current one in
    ascending order; UnsupportedError for LAG, which Flink plans and cannot compute, and for a time to live.
    """
    names = node.input.row.field_names
    if not node.order[0].ascending:
        raise ProgramError(
            "can only be ordered in ASCENDING mode", who=_WHO, got=f"{names[node.order[0].index]} DESC"
        )
    _require_functions(node, frozenset())
    _require_one_frame(node)
    for call in node.calls:
        if call.function in _BY_TIME_ONLY:
            what = "by values is not supported in STREAMING mode"
            raise UnsupportedError(what, who=_WHO, got=call_text(call, names))
        if call.frame.lower is not None or call.frame.upper != 0:
            raise ProgramError(
                "requires a frame of all rows up to the current one where it is ordered by values", who=_WHO
            )
    if options.state_ttl is not None:
        raise UnsupportedError(
            "keeps all rows, for which 'table.exec.state.ttl' is not supported if it is ordered by values",
            who=_WHO,
            hint="reset the option for this query",
        )
    return over_partitions(node, frozenset())


def aggregation(call: OverCall, given: RowType) -> Aggregation:
    """Return a call over rows as operators have it."""
    return Aggregation(
        function=_OTHERS.get(call.function, call.function),
        arguments=call.arguments,
        types=tuple(given.fields[place].type for place in call.arguments),
        type=call.type,
        shown=call_text(call, given.field_names),
        distinct=call.distinct,
        ignore_nulls=call.ignore_nulls,
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
        raise ProgramError("requires all of its calls to have the same frame", who=_WHO)
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
    if not is_time_attribute(field.type):
        raise ProgramError(
            "requires an order by a time attribute in STREAMING mode",
            who=_WHO,
            got=f"{field.name} {field.type}",
            hint="declare a WATERMARK for the column, or use a column AS PROCTIME()",
        )
    if not key.ascending:
        raise ProgramError("can only be ordered in ASCENDING mode", who=_WHO, got=f"{field.name} DESC")
    return key.index
