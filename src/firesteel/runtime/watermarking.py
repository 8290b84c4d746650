"""Operators that generate watermarks in the middle of a stream (Flink: TimestampsAndWatermarksOperator)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.operator import B, Epoch, Operator, OperatorReport


class StreamTime(Protocol):
    """The watermarks of one stream in one epoch; its `state` (picklable) goes into the next epoch."""

    @property
    def state(self) -> Any:
        """The state to pass to the next epoch."""

    def check_idle(self) -> bool:
        """Become idle if nothing came for the timeout; return whether the stream is idle."""

    def idle_deadline(self) -> int | None:
        """Return the steady time at which this stream becomes idle; None if it never will."""

    def flush(self) -> int | None:
        """Return the watermark that is still held back; None if it has not risen."""


class WatermarkingOperator(Operator[B]):
    """Ignores watermarks from upstream, except the one that ends the input, and sends its own.

    A subclass sets `_time` in `_start` and calls `_rise` with what follows from the records.
    """

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        known = [state for state in (epoch.operator_state, *epoch.inherited) if state is not None]
        self._time: StreamTime = self._start(known, epoch.facts)
        self._final = epoch.facts.final

    @abstractmethod
    def _start(self, known: list[Any], facts: EpochFacts) -> StreamTime:
        """Return the stream of this epoch; `known` are the states of the subtasks that it continues, if any."""

    def announce(self) -> None:
        super().announce()
        if self._time.check_idle():
            self.emit_watermark(None)

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
