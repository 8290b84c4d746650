"""`assign_timestamps_and_watermarks` in the middle of a stream (Flink: TimestampsAndWatermarksOperator)."""

from __future__ import annotations

from firesteel.common.time import MAX_WATERMARK
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.event_time import EventTime, watermark_of
from firesteel.runtime.operator import Epoch, Operator, OperatorReport


class TimestampsOperator(Operator[RowBatch]):
    """Assigns new timestamps; it ignores watermarks from upstream, except the one that ends the input."""

    def __init__(self, strategy: WatermarkStrategy) -> None:
        self._strategy = strategy

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        known = [state for state in (epoch.operator_state, *epoch.inherited) if state is not None]
        self._time = EventTime(
            self._strategy,
            self.context.who,
            min(known, key=watermark_of, default=None),
            epoch.facts,
            self.context.watermark_interval,
        )
        self._final = epoch.facts.final

    def announce(self) -> None:
        super().announce()
        if self._time.check_idle():
            self.emit_watermark(None)

    def process(self, batch: RowBatch, port: int) -> None:
        for values, timestamps, risen in self._time.stamp(batch.values, batch.timestamps):
            self.output.emit(RowBatch(values, timestamps))
            self._rise(risen)

    def advance_watermark(self, watermark: int) -> None:
        if watermark == MAX_WATERMARK:
            super().advance_watermark(watermark)

    def advance_idle(self) -> None:
        """Ignore the status from upstream: this operator decides itself when it is idle."""

    def end_epoch(self) -> OperatorReport:
        if not self._final:
            self._rise(self._time.flush())
        if self._time.check_idle():
            self.emit_watermark(None)
        return OperatorReport(operator_state=self._time.state, idle_deadline=self._time.idle_deadline())

    def _rise(self, watermark: int | None) -> None:
        if watermark is not None and watermark > self.watermark:
            super().advance_watermark(watermark)
