"""The source operator: reads its splits' ranges and generates their watermarks.

A source itself decides how many records a batch has, and a range does not show their size. So if a source's positions
count records, its first `_PROBE_RECORDS` are read as a separate range. If they are large, the rest is read in ranges of
about `_RANGE_BYTES`, until the epoch's budget of bytes is used up; the epoch then ends at the end of the last range. If
they are small, the rest is read as one range, and so are all ranges of later epochs.
"""

from __future__ import annotations

import pickle
import time
from math import inf
from typing import Any, Final

from firesteel.common.time import MAX_WATERMARK
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.source import Boundedness, EndOfSplit, RecordBatches, Source, Timestamped
from firesteel.runtime.batch import MAX_BATCH, RowBatch
from firesteel.runtime.event_time import EventTime
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import Epoch, Operator, OperatorReport
from firesteel.runtime.plan import SplitInput, SplitReport

_PROBE_RECORDS: Final = 64
"""Records in the first range of a source whose record size is not known yet."""

_SAMPLE_RECORDS: Final = 8
"""Records at the head of a batch that are measured to estimate the size of all."""

_RANGE_BYTES: Final = 32 << 20
"""The approximate bytes of a range if records are large."""

_LARGE_BYTES: Final = _RANGE_BYTES // MAX_BATCH
"""Bytes per record above which a batch of a few thousand is too much to hold in memory at once."""

_QUICK_SECONDS: Final = 0.02
_SLOW_SECONDS: Final = 0.1
"""Seconds for a part of a batch: below the first the next part grows, above the second it shrinks."""

_STEP: Final = 8
"""The factor by which the parts of a batch grow and shrink."""


class _OpenSplit:
    """One split in one epoch."""

    __slots__ = ("batches", "finished", "input", "left", "position", "records", "target", "time")

    def __init__(self, given: SplitInput, event_time: EventTime) -> None:
        self.input = given
        self.time = event_time
        self.batches: RecordBatches[Any] | None = None
        self.left: list[Any] = []
        self.position = self.target = given.start
        self.records = 0
        self.finished = given.split.end is not None and given.start >= given.split.end


class SourceOperator(Operator[RowBatch]):
    """Emits the records of its splits; its watermark is the minimum over its unfinished, live splits.

    All known unfinished splits hold the watermark back, even those with nothing to read in this epoch. So the order in
    which files are read does not decide which records are late. A subtask without unfinished splits is idle, or at
    MAX_WATERMARK if the source is bounded. `pump()` is called until it returns False.
    """

    def __init__(self, source: Source[Any], strategy: WatermarkStrategy) -> None:
        self._source = source
        self._strategy = strategy
        self._record_bytes: float | None = None
        """The approximate bytes of a record, from the first ones of the last measured batch; None before any."""

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._facts = epoch.facts
        self._final = epoch.facts.final
        self._bounded = self._source.boundedness is Boundedness.BOUNDED
        self._budget = None if epoch.facts.final else epoch.facts.budget
        self._read = 0
        self._measured = False
        self._splits = [self._open(given) for given in epoch.input]
        self._reading = [split for split in self._splits if split.batches is not None]
        self._turn = 0
        self._chunk = 1
        self._status: int | None = self.watermark

    def announce(self) -> None:
        super().announce()
        self._update_watermark()

    def process(self, batch: RowBatch, port: int) -> None:
        raise AssertionError("a source has no input")

    def pump(self) -> bool:
        """Read and emit a part of the next split in turn; return whether there is more."""
        if not self._reading:
            return False
        self._turn = (self._turn + 1) % len(self._reading)
        split = self._reading[self._turn]
        if split.left:
            self._emit(split)
            return True
        assert split.batches is not None
        try:
            split.left = next(split.batches)
            if split.left and not self._measured:
                self._measured = True
                self._record_bytes = _mean_bytes(split.left[:_SAMPLE_RECORDS])
        except StopIteration as stop:
            self._close(split, stop.value)
            return bool(self._reading)
        except RAISED as error:
            raise user_failure(error, self.context.who) from error
        return True

    def finish(self) -> None:
        self._raise_to(MAX_WATERMARK)

    def end_epoch(self) -> OperatorReport:
        for split in self._splits:
            if not self._final:
                split.time.flush()
            split.time.check_idle()
        self._update_watermark()
        deadlines = [split.time.idle_deadline() for split in self._splits if not split.finished]
        size = self._record_bytes or 0.0
        return OperatorReport(
            splits=[
                SplitReport(
                    split.input.split.id,
                    split.position,
                    split.finished,
                    split.time.state,
                    split.records,
                    int(split.records * size),
                )
                for split in self._splits
            ],
            idle_deadline=min((due for due in deadlines if due is not None), default=None),
        )

    def _open(self, given: SplitInput) -> _OpenSplit:
        event_time = EventTime(
            self._strategy,
            self.context.who,
            given.generator_state,
            self._facts,
            self.context.watermark_interval,
        )
        split = _OpenSplit(given, event_time)
        if given.start < given.end:
            self._read_on(split)
        else:
            event_time.check_idle()
        return split

    def _read_on(self, split: _OpenSplit) -> None:
        """Start the next range of a split at the end of its last one."""
        start, end = split.position, split.input.end
        if self._source.unit == "records":
            if self._record_bytes is None:
                end = min(end, start + _PROBE_RECORDS)
            elif self._record_bytes > _LARGE_BYTES:
                room = min(_RANGE_BYTES, self._left())
                end = min(end, start + max(1, int(room / self._record_bytes)))
        split.target = end
        split.batches = self._source.read(split.input.split, start, end)

    def _close(self, split: _OpenSplit, result: EndOfSplit | None) -> None:
        split.batches = None
        split.position = split.target
        split.finished = result is not None or split.position == split.input.split.end
        if not split.finished and split.position < split.input.end and self._left() > 0:
            self._read_on(split)
            return
        self._reading.remove(split)
        self._update_watermark()

    def _left(self) -> float:
        """Return how many bytes may still be read in this epoch."""
        return inf if self._budget is None else self._budget - self._read * (self._record_bytes or 0.0)

    def _emit(self, split: _OpenSplit) -> None:
        """Emit the next records of a batch: few at first, more as long as the operators downstream are fast."""
        started = time.monotonic()
        batch, size = split.left, self._chunk
        typed = self.context.typed_output
        # A copy, unless values are converted below: the source may use its list again for the next batch.
        values = batch if typed and len(batch) <= size else batch[:size]
        split.left = batch[size:]
        timestamps: list[int | None] | None = None
        if isinstance(batch, Timestamped):
            timestamps = list(batch.timestamps[: len(values)])
            split.left = Timestamped(split.left, batch.timestamps[len(values) :])
        split.records += len(values)
        self._read += len(values)
        if typed:
            values = list(map(self.output.seal, values))
        for records, stamps, risen in split.time.stamp(values, timestamps):
            self.output.emit(RowBatch(records, stamps))
            if risen is not None:
                self._update_watermark()
        if time.monotonic() - started < _QUICK_SECONDS:
            self._chunk = min(MAX_BATCH, size * _STEP)
        elif size > 1 and time.monotonic() - started > _SLOW_SECONDS:
            self._chunk = max(1, size // _STEP)

    def _update_watermark(self) -> None:
        unfinished = [split for split in self._splits if not split.finished]
        if not unfinished:
            if self._bounded:
                self._raise_to(MAX_WATERMARK)
            else:
                highest = max((split.time.watermark for split in self._splits), default=self.watermark)
                self._raise_to(highest)
                self._send(None)
            return
        live = [split.time.watermark for split in unfinished if not split.time.idle]
        if live:
            self._raise_to(min(live))
        else:
            self._raise_to(max(split.time.watermark for split in unfinished))
            self._send(None)

    def _raise_to(self, watermark: int) -> None:
        if watermark > self.watermark:
            self.watermark = watermark
            self._send(watermark)
        elif self._status is None:
            self._send(self.watermark)

    def _send(self, status: int | None) -> None:
        if status is None and self._status is None:
            return
        self._status = status
        self.emit_watermark(status)


def _mean_bytes(sample: list[Any]) -> float:
    """Return the approximate bytes of a record."""
    if all(type(record) in (bytes, str) for record in sample):
        return sum(map(len, sample)) / len(sample)
    try:
        return len(pickle.dumps(sample, 5)) / len(sample)
    except Exception:  # only records that enter an exchange must be picklable, and the error is raised there
        return 0.0
