"""The source operator: reads its splits' ranges and generates their watermarks."""

from __future__ import annotations

import time
from typing import Any, Final

from firesteel.common.time import MAX_WATERMARK
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.source import Boundedness, EndOfSplit, RecordBatches, Source, Timestamped
from firesteel.runtime.event_time import EventTime
from firesteel.runtime.failures import user_failure
from firesteel.runtime.operator import Batch, Epoch, Operator, OperatorReport
from firesteel.runtime.output import MAX_BATCH
from firesteel.runtime.plan import SplitInput, SplitReport

_QUICK: Final = 0.02
_SLOW: Final = 0.1
"""Seconds that a part of a batch may take before the next part is made larger no more, or smaller."""


class _OpenSplit:
    """One split in one epoch."""

    __slots__ = ("batches", "finished", "input", "left", "position", "records", "time")

    def __init__(self, given: SplitInput, event_time: EventTime, batches: RecordBatches[Any] | None) -> None:
        self.input = given
        self.time = event_time
        self.batches = batches
        self.left: list[Any] = []
        self.position = given.start
        self.records = 0
        self.finished = given.split.end is not None and given.start >= given.split.end


class SourceOperator(Operator):
    """Emits the records of its splits; its watermark is the minimum over its unfinished, live splits.

    All unfinished splits known so far hold the watermark back, also those with nothing to read in this
    epoch: so what is late does not depend on the order in which files are read. A subtask with no unfinished
    split is idle, or at MAX_WATERMARK if the source is bounded. `pump()` is called until it answers False.
    """

    def __init__(self, source: Source[Any], strategy: WatermarkStrategy) -> None:
        self._source = source
        self._strategy = strategy

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._final = epoch.final
        self._bounded = self._source.boundedness is Boundedness.BOUNDED
        self._splits = [self._open(given) for given in epoch.input]
        self._reading = [split for split in self._splits if split.batches is not None]
        self._turn = 0
        self._chunk = 1
        self._status: int | None = self.watermark

    def announce(self) -> None:
        super().announce()
        self._update_watermark()

    def process(self, batch: Batch, port: int) -> None:
        raise AssertionError("a source has no input")

    def pump(self) -> bool:
        """Read and emit a part of the next split in turn; answer whether there is more."""
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
        except StopIteration as stop:
            self._close(split, stop.value)
            return bool(self._reading)
        except Exception as error:
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
        return OperatorReport(
            splits=[
                SplitReport(
                    split.input.split.id, split.position, split.finished, split.time.state, split.records
                )
                for split in self._splits
            ],
            next_wakeup=min((due for due in deadlines if due is not None), default=None),
        )

    def _open(self, given: SplitInput) -> _OpenSplit:
        event_time = EventTime(
            self._strategy,
            self.context.who,
            given.generator_state,
            self.processing_time,
            self.context.watermark_interval,
        )
        reading = given.start < given.end
        batches = self._source.read(given.split, given.start, given.end) if reading else None
        if not reading:
            event_time.check_idle()
        return _OpenSplit(given, event_time, batches)

    def _close(self, split: _OpenSplit, result: EndOfSplit | None) -> None:
        split.batches = None
        split.position = split.input.end
        split.finished = result is not None or split.position == split.input.split.end
        self._reading.remove(split)
        self._update_watermark()

    def _emit(self, split: _OpenSplit) -> None:
        """Emit the next records of a batch: few at first, more as long as what is downstream takes little
        time for them.
        """
        started = time.monotonic()
        batch, size = split.left, self._chunk
        values, split.left = (batch, []) if len(batch) <= size else (batch[:size], batch[size:])
        timestamps: list[int | None] | None = None
        if isinstance(batch, Timestamped):
            timestamps = list(batch.timestamps[: len(values)])
            split.left = Timestamped(split.left, batch.timestamps[len(values) :])
        split.records += len(values)
        if self.context.typed_output:
            values = list(map(self.output.seal, values))
        for records, stamps, risen in split.time.stamp(values, timestamps):
            self.output.emit(records, stamps)
            if risen is not None:
                self._update_watermark()
        if time.monotonic() - started < _QUICK:
            self._chunk = min(MAX_BATCH, size * 8)
        elif size > 1 and time.monotonic() - started > _SLOW:
            self._chunk = max(1, size // 8)

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
