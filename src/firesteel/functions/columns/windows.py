"""What windowed operators compute, as data; all times are in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.sorting import SortColumn


@dataclass(frozen=True)
class WatermarkAssignment:
    """Where the watermarks of a stream come from: from a value of each row, the highest of which so far counts.

    `time` is the place of the time attribute, which must not be NULL. The value is that of column `column` less `delay`
    (milliseconds), or what `program` computes, whose only column is a timestamp; NULL does not count. A stream without
    rows for `idle_timeout` (milliseconds of the machine's time; None: for ever) does not hold others back.
    """

    time: int
    column: int | None = None
    delay: int = 0
    program: Program | None = None
    idle_timeout: int | None = None

    def __post_init__(self) -> None:
        assert (self.column is None) is not (self.program is None)


@dataclass(frozen=True)
class WindowShape:
    """The windows: of one `size` every `slide`.

    Tumbling windows have equal ones. Cumulating windows start every `size` and end every `slide` within it. A session
    ends when no row has come for `size`.
    """

    kind: Literal["tumble", "hop", "cumulate", "session"]
    size: int
    slide: int
    offset: int = 0


@dataclass(frozen=True)
class WindowAssignment:
    """Where the windows of a row come from.

    `time` is the place of the time attribute, from which windows of `shape` follow; or rows have windows already:
    `start` and `end` are the places of the columns. `event_time` is False for processing time. `zone` shifts windows to
    the local time of the session for points on the time line (TIMESTAMP_LTZ), "UTC" for others.
    """

    shape: WindowShape
    time: int | None = None
    start: int | None = None
    end: int | None = None
    event_time: bool = True
    zone: str = "UTC"


@dataclass(frozen=True)
class WindowAggregate:
    """Aggregates by key and window: `output` has the keys, the aggregations, then the `properties`.

    A property is "start", "end" or "time" (the last millisecond of the window, the time attribute of the result).
    Results of a window come once, when the watermark has passed its end; later rows are dropped and counted
    ("numLateRecordsDropped").
    """

    input: RowType
    output: RowType
    keys: tuple[int, ...]
    window: WindowAssignment
    aggregations: tuple[Aggregation, ...]
    properties: tuple[Literal["start", "end", "time"], ...]
    retracts: bool = False


@dataclass(frozen=True)
class WindowTable:
    """Gives each row once for each of its windows: the input's columns, window_start, window_end, window_time.

    A session window needs state: rows wait until their window is complete. `partition` is for sessions.
    """

    input: RowType
    output: RowType
    window: WindowAssignment
    partition: tuple[int, ...] = ()


@dataclass(frozen=True)
class OverFrame:
    """The rows before the current one that count; `lower` None: all. `rows` counts rows, otherwise milliseconds."""

    rows: bool
    lower: int | None


@dataclass(frozen=True)
class OverAggregate:
    """Appends to each row the aggregates over a frame of the rows before it with the same `keys`, in order of `time`.

    `event_time`: rows wait for the watermark, and later ones are dropped and counted. Functions that are not
    aggregates: ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, NTILE, PERCENT_RANK,
    CUME_DIST as far as Flink has them in the mode.

    `time_to_live` (milliseconds) is how long what is known of a key lives after its last row, unless the frame is a
    range of time, which has an end by itself.
    """

    input: RowType
    output: RowType
    keys: tuple[int, ...]
    time: int
    event_time: bool
    frame: OverFrame
    aggregations: tuple[Aggregation, ...]
    time_to_live: int | None = None


Distance = int | float | Decimal
"""How far a frame reaches: rows, or a distance of the values that the rows are ordered by (milliseconds for times)."""


@dataclass(frozen=True)
class PartitionFrame:
    """The rows from `lower` to `upper` from the current one on, below 0 for those before it; None: up to the end.

    `rows` counts rows; otherwise distances are those of the only column of the order, and 0 means all rows that are
    equal in the order.
    """

    rows: bool
    lower: Distance | None
    upper: Distance | None


@dataclass(frozen=True)
class OverPartitions:
    """Appends to each row the calls over frames of the rows with the same `keys`.

    In BATCH mode that is done once the input has ended. In STREAMING mode rows get other results as others come or go.
    There the frame of LAG and LEAD has the rows that they look at, at least. `by_frame`: RANK and DENSE_RANK count the
    rows of the frame, so that rows that are equal in the order have the number of the last of them, as in Flink's
    streams.
    """

    input: RowType
    output: RowType
    keys: tuple[int, ...]
    order: tuple[SortColumn, ...]
    calls: tuple[tuple[Aggregation, PartitionFrame], ...]
    by_frame: bool = False
