"""Triggers that fire at a fixed interval while a window is open."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.common.time import Duration, Time
from firesteel.common.typeinfo import Types
from firesteel.functions.triggers import Trigger, TriggerResult
from firesteel.functions.windows import TimeWindow, milliseconds
from firesteel.state.descriptors import ReducingStateDescriptor

__all__ = ["ContinuousEventTimeTrigger", "ContinuousProcessingTimeTrigger"]

T = TypeVar("T")


class _ContinuousTrigger(Trigger[T, TimeWindow]):
    """The common part of both continuous triggers: the time of the next firing, kept in the pane's state."""

    def __init__(self, interval: int) -> None:
        if interval <= 0:
            raise ProgramError(
                "requires an interval greater than 0 milliseconds", who=type(self).__name__, got=str(interval)
            )
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", min, Types.LONG())

    @abstractmethod
    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None: ...

    @abstractmethod
    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None: ...

    def register_next_fire_timestamp(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext, fire_timestamp_state: Any
    ) -> None:
        """Register the firing one interval after `time`, or at the window's end if that is earlier."""
        next_fire = min(time + self.interval, window.max_timestamp())
        fire_timestamp_state.add(next_fire)
        self._register(next_fire, ctx)

    def _on_first(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        fire_time = ctx.get_partitioned_state(self.state_desc)
        if fire_time.get() is None:
            self.register_next_fire_timestamp(time - time % self.interval, window, ctx, fire_time)

    def _on_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        fire_time = ctx.get_partitioned_state(self.state_desc)
        if fire_time.get() != time:
            return TriggerResult.CONTINUE
        fire_time.clear()
        self.register_next_fire_timestamp(time, window, ctx, fire_time)
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Continue with the earliest next firing of the merged panes."""
        ctx.merge_partitioned_state(self.state_desc)
        next_fire = ctx.get_partitioned_state(self.state_desc).get()
        if next_fire is not None:
            self._register(next_fire, ctx)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the next firing and its timer."""
        fire_time = ctx.get_partitioned_state(self.state_desc)
        next_fire = fire_time.get()
        if next_fire is not None:
            self._delete(next_fire, ctx)
            fire_time.clear()


class ContinuousEventTimeTrigger(_ContinuousTrigger[T]):
    """Fires every interval of event time while the window is open, and at its end; firings do not purge."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousEventTimeTrigger[Any]:
        """Return the trigger that fires whenever the watermark passes a multiple of `interval`."""
        return ContinuousEventTimeTrigger(milliseconds(interval, "ContinuousEventTimeTrigger.of"))

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at once if the window has ended; otherwise wait for the next interval and for the end."""
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        self._on_first(timestamp, window, ctx)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of the window and at each interval."""
        if time == window.max_timestamp():
            return TriggerResult.FIRE
        return self._on_time(time, window, ctx)

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_event_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(time)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T]):
    """Fires every interval of processing time while the window is open; firings do not purge."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousProcessingTimeTrigger[Any]:
        """Return the trigger that fires whenever processing time passes a multiple of `interval`."""
        return ContinuousProcessingTimeTrigger(milliseconds(interval, "ContinuousProcessingTimeTrigger.of"))

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Wait for the next interval."""
        self._on_first(ctx.get_current_processing_time(), window, ctx)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at each interval."""
        return self._on_time(time, window, ctx)

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_processing_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(time)
