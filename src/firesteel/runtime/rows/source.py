"""The source operator for records: reads its splits' ranges and generates their watermarks."""

from __future__ import annotations

import pickle
import time
from typing import Any, Final

from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.source import Aside, RecordBatches, Source, Split, Timestamped
from firesteel.runtime.batch import MAX_BATCH, RowBatch
from firesteel.runtime.event_time import EventTime
from firesteel.runtime.operator import Epoch
from firesteel.runtime.reading import OpenSplit, SplitOperator

_SAMPLE_RECORDS: Final = 8
"""Records at the head of a batch that are measured to estimate the size of all."""

_QUICK_SECONDS: Final = 0.02
_SLOW_SECONDS: Final = 0.1
"""Seconds for a part of a batch: below the first the next part grows, above the second it shrinks."""

_STEP: Final = 8
"""The factor by which the parts of a batch grow and shrink."""


class SourceOperator(SplitOperator[RowBatch, list[Any], EventTime]):
    """Emits the records of its splits; see `SplitOperator`."""

    def __init__(self, source: Source[Any], strategy: WatermarkStrategy) -> None:
        super().__init__(source)
        self._strategy = strategy

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._chunk = 1

    def _new_time(self, state: Any, facts: EpochFacts) -> EventTime:
        return EventTime(self._strategy, self.context.who, state, facts, self.context.watermark_interval)

    def _range(self, split: Split, start: int, end: int) -> RecordBatches[Any]:
        return self._source.read(split, start, end)

    def _bytes_of(self, piece: list[Any]) -> float:
        return _mean_bytes(piece[:_SAMPLE_RECORDS])

    def _emit(self, split: OpenSplit[list[Any], EventTime]) -> None:
        """Emit the next records of a batch: few at first, more as long as the operators downstream are fast."""
        assert split.left is not None
        if isinstance(split.left, Aside):
            self._count(split, len(split.left))
            self._emit_aside(split.left)
            split.left = None
            return
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
        self._count(split, len(values))
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

    def _emit_aside(self, batch: Aside[Any]) -> None:
        output = self.context.side_outputs.get(batch.tag.tag_id)
        if output is None:
            return
        for first in range(0, len(batch), MAX_BATCH):
            values = [output.seal(value) for value in batch[first : first + MAX_BATCH]]
            output.emit(RowBatch(values, list(batch.timestamps[first : first + MAX_BATCH])))


def _mean_bytes(sample: list[Any]) -> float:
    """Return the approximate bytes of a record."""
    if all(type(record) in (bytes, str) for record in sample):
        return sum(map(len, sample)) / len(sample)
    try:
        return len(pickle.dumps(sample, 5)) / len(sample)
    except Exception:  # only records that enter an exchange must be picklable, and the error is raised there
        return 0.0
