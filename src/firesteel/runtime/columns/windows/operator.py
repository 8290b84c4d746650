"""What operators of windows have in common: they gather rows, and work when it pays or an epoch ends."""

from __future__ import annotations

from abc import abstractmethod

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.windows import WindowAssignment
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.columns.times import Times, instant, local_time, over_until
from firesteel.runtime.columns.windows.gathering import MOST_ROWS, Gathered
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport


class GatheringOperator(SettlingOperator):
    """Gathers rows and watermarks, and works on them together.

    Contract for subclasses: `_receive(batch, over)` takes rows, each with the local time up to which windows were over
    as it came; `_fire(until)` then completes all windows that end up to a local time, which never falls. Watermarks are
    passed on after the rows that follow from them, so to those who receive them nothing is late.

    In processing time rows come at the time of their epoch, and the state has the end of the last window that has any
    row (`_last`), and the time up to which windows have fired (`_fired`).
    """

    def __init__(self, window: WindowAssignment) -> None:
        self._window = window

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._late = context.metrics.counter("numLateRecordsDropped")

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._gathered = Gathered()
        known = [state for state in (epoch.operator_state, *epoch.inherited) if state is not None]
        self._last = max((last for last, _ in known), default=MIN_WATERMARK)
        self._fired = self._over = min((fired for _, fired in known), default=self._fired_by_all(epoch))
        if self._window.event_time:
            self._fired = self._over = over_until(self.watermark, self._window.zone)

    def _fired_by_all(self, epoch: Epoch) -> int:
        """Return the time up to which windows have fired in all subtasks; one that is new takes over what they left."""
        before = epoch.facts.committed_time
        return MIN_WATERMARK if before is None else local_time(before, self._window.zone)

    @abstractmethod
    def _receive(self, batch: ColumnBatch, over: Times) -> None:
        """Take rows into the state."""

    @abstractmethod
    def _fire(self, until: int) -> None:
        """Complete the windows that end up to a local time."""

    @abstractmethod
    def _next_end(self, after: int) -> int:
        """Return the end of the first window that ends later than a local time."""

    def process(self, batch: ColumnBatch, port: int) -> None:
        self._gathered.add(batch, self._over)
        if self._gathered.rows >= MOST_ROWS:
            self._settle()

    def advance_watermark(self, watermark: int) -> None:
        super().advance_watermark(watermark)
        if self._window.event_time:
            self._over = over_until(watermark, self._window.zone)

    def advance_processing_time(self, now: int) -> None:
        self.processing_time = now
        if not self._window.event_time:
            self._settle()
            self._over = local_time(now, self._window.zone)
            self._fire(self._over)

    def end_epoch(self) -> OperatorReport:
        report = super().end_epoch()
        if self._window.event_time:
            return report
        return OperatorReport(operator_state=(self._last, self._fired), next_wakeup=self._wakeup())

    def _work(self) -> None:
        taken = self._gathered.take()
        if taken is not None:
            self._receive(*taken)
        if self._window.event_time:
            self._fire(self._over)

    def _wakeup(self) -> int | None:
        """Return the processing time at which the next window is over; None if no row waits."""
        if self._last <= self._over:
            return None
        return instant(self._next_end(self._over), self._window.zone)
