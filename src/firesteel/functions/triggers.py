"""Triggers, which decide when the contents of a window are evaluated and when they are dropped.

A trigger object serves all keys and windows, so it holds no data itself. Keep data in
`ctx.get_partitioned_state(descriptor)`, which is scoped to the key and window. All times are milliseconds.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import Types
from firesteel.functions.windows import CountWindow, GlobalWindow, TimeWindow, Window
from firesteel.state.descriptors import ReducingStateDescriptor

if TYPE_CHECKING:
    from firesteel.common.metrics import MetricGroup

__all__ = [
    "CountTrigger",
    "EventTimeTrigger",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "Trigger",
    "TriggerResult",
]

T = TypeVar("T")
W = TypeVar("W")


class TriggerResult(Enum):
    """Whether a window is evaluated (fire), emptied (purge), both or neither. Empty windows are not evaluated."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """Return whether the window function is to be called."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Return whether the window's contents are to be dropped."""
        return self.value[1]


class Trigger(ABC, Generic[T, W]):
    """Decides when a pane (the records of one key in one window) is evaluated.

    Contract: `on_element` for each record added to the pane; `on_event_time` and `on_processing_time` for each timer
    that the trigger registered, and also for the window's own cleanup timer, so compare the time; `on_merge` when other
    panes were merged into this one (merging windows only, and only if `can_merge`); `clear` when the window expires or
    is merged away.
    """

    class TriggerContext(ABC):
        """The clocks, timers and state of the current pane; valid only during the call."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the processing time: the start of the current epoch."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the operator's metric group."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the watermark: -2**63 before the first one."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Register a timer: `on_processing_time` is called for the pane once processing time reaches `time`."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Register a timer: `on_event_time` is called for the pane once the watermark reaches `time`."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Delete the pane's processing-time timer of that time."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Delete the pane's event-time timer of that time."""

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: Any) -> Any:
            """Return the state of that descriptor (of any kind), scoped to the pane."""

    class OnMergeContext(TriggerContext):
        """The context of `on_merge`."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: Any) -> None:
            """Merge the state of the panes that were merged away into the state of this pane.

            Raises ProgramError unless the state is a list, reducing or aggregating state.
            """

    @abstractmethod
    def on_element(self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide what to do after `element` was added to the pane; a record without a timestamp has -2**63."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide what to do at the processing-time timer of `time`."""

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide what to do at the event-time timer of `time`."""

    def can_merge(self) -> bool:
        """Return whether the trigger works with merging windows; if so, it must implement `on_merge`."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Merge the trigger state of the panes and register the timers of `window`, the merged window."""

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Delete the pane's trigger state and timers."""


class EventTimeTrigger(Trigger[T, TimeWindow]):
    """Fires when the watermark passes the end of the window, and for each late record within the allowed lateness."""

    @staticmethod
    def create() -> EventTimeTrigger[Any]:
        """Return the trigger."""
        return EventTimeTrigger()

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at once if the window has ended; otherwise wait for its end."""
        end = window.max_timestamp()
        if end <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(end)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at the end of the window."""
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the merged window."""
        end = window.max_timestamp()
        if end > ctx.get_current_watermark():
            ctx.register_event_time_timer(end)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer."""
        ctx.delete_event_time_timer(window.max_timestamp())


class ProcessingTimeTrigger(Trigger[T, TimeWindow]):
    """Fires when processing time passes the end of the window."""

    @staticmethod
    def create() -> ProcessingTimeTrigger[Any]:
        """Return the trigger."""
        return ProcessingTimeTrigger()

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Wait for the end of the window."""
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire."""
        return TriggerResult.FIRE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Wait for the end of the merged window."""
        end = window.max_timestamp()
        if end > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(end)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer."""
        ctx.delete_processing_time_timer(window.max_timestamp())


class PurgingTrigger(Trigger[T, Window]):
    """Makes another trigger purge: when that one fires, this one fires and purges."""

    def __init__(self, nested_trigger: Trigger[T, Any]) -> None:
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[Any, Any]) -> PurgingTrigger[Any]:
        """Return the purging form of `nested_trigger`."""
        return PurgingTrigger(nested_trigger)

    def on_element(
        self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Ask the nested trigger; if it fires, fire and purge."""
        return _purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger; if it fires, fire and purge."""
        return _purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Ask the nested trigger; if it fires, fire and purge."""
        return _purging(self.nested_trigger.on_event_time(time, window, ctx))

    def can_merge(self) -> bool:
        """Ask the nested trigger."""
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Let the nested trigger merge."""
        self.nested_trigger.on_merge(window, ctx)

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Let the nested trigger clear."""
        self.nested_trigger.clear(window, ctx)


def _purging(result: TriggerResult) -> TriggerResult:
    return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result


class CountTrigger(Trigger[T, CountWindow]):
    """Fires whenever `window_size` records were added to the pane since it last fired; does not purge."""

    def __init__(self, window_size: int) -> None:
        if not isinstance(window_size, int) or window_size <= 0:
            raise ProgramError(
                "requires window_size to be a number greater than 0",
                who="CountTrigger",
                got=repr(window_size),
            )
        self._window_size = window_size
        self._count_state_descriptor = ReducingStateDescriptor("count", operator.add, Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger[Any]:
        """Return the trigger that fires every `window_size` records."""
        return CountTrigger(window_size)

    def on_element(
        self, element: T, timestamp: int, window: Any, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Count, and fire when the count is reached."""
        count = ctx.get_partitioned_state(self._count_state_descriptor)
        count.add(1)
        if count.get() < self._window_size:
            return TriggerResult.CONTINUE
        count.clear()
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        """Add up the counts."""
        ctx.merge_partitioned_state(self._count_state_descriptor)

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        """Clear the count."""
        ctx.get_partitioned_state(self._count_state_descriptor).clear()


class NeverTrigger(Trigger[T, GlobalWindow]):
    """Never fires: the default of global windows, which have no end."""

    def on_element(
        self, element: T, timestamp: int, window: Any, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None:
        """Do nothing."""

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        """Do nothing."""
