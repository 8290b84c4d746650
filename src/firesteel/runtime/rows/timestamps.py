"""`assign_timestamps_and_watermarks` in the middle of a stream of rows."""

from __future__ import annotations

from typing import Any

from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.event_time import EventTime, watermark_of
from firesteel.runtime.watermarking import WatermarkingOperator


class TimestampsOperator(WatermarkingOperator[RowBatch]):
    """Assigns new timestamps, and generates watermarks from them."""

    _time: EventTime

    def __init__(self, strategy: WatermarkStrategy) -> None:
        self._strategy = strategy

    def _start(self, known: list[Any], facts: EpochFacts) -> EventTime:
        state = min(known, key=watermark_of, default=None)
        return EventTime(self._strategy, self.context.who, state, facts, self.context.watermark_interval)

    def process(self, batch: RowBatch, port: int) -> None:
        for values, timestamps, risen in self._time.stamp(batch.values, batch.timestamps):
            self.output.emit(RowBatch(values, timestamps))
            self._rise(risen)
