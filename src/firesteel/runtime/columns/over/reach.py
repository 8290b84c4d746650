"""How far a row that comes or goes is seen: the rows around it whose results it may change, and what these read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from firesteel.functions.columns.windows import Distance, OverPartitions, PartitionFrame
from firesteel.runtime.columns.over.calls import OF_WHOLE_PARTITIONS, OFFSETS
from firesteel.runtime.columns.over.framing import BY_PEERS

_WHOLE: Final = PartitionFrame(True, None, None)
_UP_TO_PEERS: Final = PartitionFrame(False, None, 0)


@dataclass(frozen=True)
class Reach:
    """Up to `rows` rows, and up to a `distance` of the order's values (None: none), or `whole` partitions.

    A frame from a to b contains the changed row for rows that are up to max(|a|, |b|) away, whose frames begin and end
    up to b - a away. A bound that is missing is left out; then partitions are `whole`.
    """

    rows: int = 0
    distance: Distance | None = None
    whole: bool = False


def reach_of(over: OverPartitions) -> Reach:
    """Return how far the calls of a window see.

    >>> from firesteel.common.logical_types import RowType
    >>> reach_of(OverPartitions(RowType(()), RowType(()), (), (), ()))
    Reach(rows=0, distance=None, whole=False)
    """
    reach = Reach()
    for call, frame in over.calls:
        if call.function in OF_WHOLE_PARTITIONS - OFFSETS:
            reach = _with(reach, _WHOLE)
        elif call.function in BY_PEERS and not over.by_frame:
            reach = _with(reach, _UP_TO_PEERS)
        else:
            reach = _with(reach, frame)
    return reach


def _with(reach: Reach, frame: PartitionFrame) -> Reach:
    lower, upper = frame.lower, frame.upper
    whole = reach.whole or lower is None or upper is None
    first, last = lower or 0, upper or 0
    # The bounds of one frame are of one type, as are those of all frames over one order.
    span: Distance = max(abs(first), abs(last), last - first)  # type: ignore[operator,call-overload]
    if frame.rows:
        return Reach(max(reach.rows, int(span)), reach.distance, whole)
    return Reach(reach.rows, span if reach.distance is None else max(reach.distance, span), whole)
