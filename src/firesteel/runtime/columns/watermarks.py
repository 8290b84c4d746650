"""Watermarks of a stream of columns: a source split, or the input of a watermark operator.

Contract: `ColumnTime.stamp(batch)` yields the batch in segments, each with the watermark after it (None: it has not
risen). `flush` returns the watermark that is still held back when an epoch ends.

A watermark is sent as Flink's `WatermarkAssignerOperator` does: after the row whose value is more than the interval
above the last one that was sent. Besides, it is sent when a batch of `MAX_BATCH` rows or more ends, in place of Flink's
timer. A batch is cut only where this can be told from a watermark at its end: before a row that is not later than the
watermark by more than a millisecond. All others are in the future of every watermark before them, so no receiver can
take them for late, nor find that they touch a session that is over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.windows import WatermarkAssignment
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.batch import MAX_BATCH
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.query import Times as KernelTimes
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.times import Times, milliseconds, present_column
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.watermarking import WatermarkingOperator
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.sorting import ascend

_START: Final = 0
"""What Flink counts the interval from before the first watermark."""

Values = Callable[[ColumnBatch], pa.Array]
"""Computes the column of watermarks of a batch: timestamps, or NULL."""


class TimeState(NamedTuple):
    """The state of a stream: the last watermark sent, the highest value, and when it was active (a steady time)."""

    watermark: int
    highest: int
    active_at: int
    idle: bool


class ColumnTime:
    """The watermarks of one stream in one epoch; times in milliseconds, `active_at` is a steady time."""

    __slots__ = (
        "_assignment",
        "_highest",
        "_interval",
        "_now",
        "_values",
        "_who",
        "active_at",
        "idle",
        "watermark",
    )

    def __init__(
        self,
        assignment: WatermarkAssignment,
        values: Values,
        who: str,
        state: TimeState | None,
        facts: EpochFacts,
        interval: int,
    ) -> None:
        self._assignment = assignment
        self._values = values
        self._who = who
        self._now = facts.steady_time
        self._interval = interval
        self.watermark, self._highest, self.active_at, self.idle = state or TimeState(
            MIN_WATERMARK, MIN_WATERMARK, self._now, False
        )
        if assignment.idle_timeout is not None and self.active_at < facts.resumed_at:
            self.active_at, self.idle = facts.resumed_at, False

    @property
    def state(self) -> TimeState:
        """The state to pass to the next epoch."""
        return TimeState(self.watermark, self._highest, self.active_at, self.idle)

    def check_idle(self) -> bool:
        """Become idle if nothing came for the timeout; return whether the stream is idle."""
        timeout = self._assignment.idle_timeout
        if timeout is not None and self._now - self.active_at >= timeout:
            self.idle = True
        return self.idle

    def idle_deadline(self) -> int | None:
        """Return the steady time at which this stream becomes idle; None if it never will."""
        timeout = self._assignment.idle_timeout
        return None if timeout is None or self.idle else self.active_at + timeout

    def stamp(self, batch: ColumnBatch) -> Iterator[tuple[ColumnBatch, int | None]]:
        """Yield the batch in segments, each with the watermark after it. Raises ProgramError for a NULL as time."""
        if not len(batch):
            return
        self.active_at, self.idle = self._now, False
        column = present_column(batch, self._assignment.time, self._who)
        if len(batch) >= MAX_BATCH and self._in_order(column):
            self._highest = max(self._highest, int(milliseconds(column[-1:])[0]) - self._assignment.delay)
            yield batch, self._rise(self._highest)
            return
        times = milliseconds(column)
        highest = np.maximum(np.maximum.accumulate(self._marks(batch)), self._highest)
        start = 0
        for place, watermark in self._cuts(times, highest):
            yield batch.slice(start, place), self._rise(watermark)
            start = place
        self._highest = int(highest[-1])
        if len(batch) >= MAX_BATCH:
            yield batch.slice(start, len(batch)), self._rise(self._highest)
        else:
            yield batch.slice(start, len(batch)), self._rise(self._sent(highest))

    def flush(self) -> int | None:
        """Return the watermark that follows from the rows seen so far; None if it has not risen."""
        return self._rise(self._highest)

    def _in_order(self, column: pa.Array) -> bool:
        """Return whether times ascend, and the watermark of each is too far behind to make the next one late."""
        assignment = self._assignment
        if assignment.column != assignment.time or assignment.delay <= 1:
            return False
        return bool(milliseconds(column[:1])[0] > self._highest + 1) and ascend(numbers(column))

    def _marks(self, batch: ColumnBatch) -> Times:
        values = self._values(batch)
        if not values.null_count:
            return milliseconds(values) - self._assignment.delay
        marks = milliseconds(values.fill_null(pa.scalar(0, pa.int64()).cast(values.type)))
        return np.where(np.asarray(values.is_null()), MIN_WATERMARK, marks - self._assignment.delay)

    def _cuts(self, times: Times, highest: Times) -> Iterator[tuple[int, int]]:
        """Yield each place where the batch must be cut, with the watermark that is due there."""
        before = np.concatenate(([self._highest], highest[:-1]))
        suspects = np.flatnonzero(times <= before + 1)
        if not len(suspects):
            return
        sent = [*self._emissions(highest)]
        places = [place for place, _ in sent]
        done = -1
        for row in suspects.tolist():
            last = bisect_right(places, row) - 1
            if last > done and times[row] <= sent[last][1] + 1:
                done = last
                yield sent[last]

    def _sent(self, highest: Times) -> int | None:
        """Return the last watermark that was sent within the rows."""
        sent = [*self._emissions(highest)]
        return sent[-1][1] if sent else None

    def _emissions(self, highest: Times) -> Iterator[tuple[int, int]]:
        """Yield the places before which a watermark is sent, and the watermark."""
        values = highest.tolist()
        last = max(self.watermark, _START)
        place = 0
        while (place := bisect_right(values, last + self._interval, place)) < len(values):
            last = values[place]
            place += 1
            yield place, last

    def _rise(self, watermark: int | None) -> int | None:
        if watermark is None or watermark <= self.watermark:
            return None
        self.watermark = watermark
        return watermark


class WatermarkValues:
    """Computes the watermark of each row of batches. Contract: `close` when no more come."""

    def __init__(self, assignment: WatermarkAssignment, who: str) -> None:
        self._column = assignment.column
        self._statement = None if assignment.program is None else Statement(assignment.program, who)
        self.now = 0
        """The epoch's processing time (milliseconds)."""

    def __call__(self, batch: ColumnBatch) -> pa.Array:
        """Return timestamps, or NULL."""
        if self._statement is None:
            assert self._column is not None
            return batch.rows.column(self._column)
        return self._statement.run(ColumnBatch(batch.rows), KernelTimes(self.now)).rows.column(0)

    def close(self) -> None:
        """Release what was prepared."""
        if self._statement is not None:
            self._statement.close()


class WatermarkOperator(WatermarkingOperator[ColumnBatch]):
    """Computes watermarks from its rows, which pass unchanged."""

    _time: ColumnTime

    def __init__(self, assignment: WatermarkAssignment) -> None:
        self._assignment = assignment

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._values = WatermarkValues(self._assignment, context.who)

    def _start(self, known: list[TimeState], facts: EpochFacts) -> ColumnTime:
        self._values.now = facts.processing_time
        state = min(known, default=None)
        interval = self.context.watermark_interval
        return ColumnTime(self._assignment, self._values, self.context.who, state, facts, interval)

    def process(self, batch: ColumnBatch, port: int) -> None:
        for segment, risen in self._time.stamp(batch):
            self.output.emit(segment)
            self._rise(risen)

    def close(self) -> None:
        self._values.close()
        super().close()
