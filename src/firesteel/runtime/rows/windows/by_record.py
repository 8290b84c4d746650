"""The general path of windows: record by record, timer by timer, with any assigner and trigger."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

from firesteel.common.errors import RecordError
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.assigners import WindowAssigner
from firesteel.functions.triggers import Trigger, TriggerResult
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.rows.windows.contents import own_copy
from firesteel.runtime.rows.windows.context import AssignerContext, PaneTriggerContext
from firesteel.runtime.rows.windows.merging import MergingWindowSet
from firesteel.runtime.rows.windows.panes import Panes

_CONTINUE = TriggerResult.CONTINUE
_FIRES = frozenset({TriggerResult.FIRE, TriggerResult.FIRE_AND_PURGE})
_PURGES = frozenset({TriggerResult.PURGE, TriggerResult.FIRE_AND_PURGE})


class RecordByRecord:
    """Takes records and fires timers according to the operator's assigner and trigger.

    `merging` is set if the assigner's windows merge; `drop` gets each record that is too late, with its timestamp.
    """

    def __init__(
        self,
        panes: Panes,
        assigner: tuple[WindowAssigner[Any, Any], AssignerContext],
        trigger: tuple[Trigger[Any, Any], PaneTriggerContext],
        merging: MergingWindowSet | None,
        drop: Callable[[Any, int | None], None],
    ) -> None:
        self._panes = panes
        self.assigner, self._assigner_context = assigner
        self.trigger, self._trigger_context = trigger
        self.merging = merging
        self._drop = drop
        self._contents = panes.contents
        self._own_copy = own_copy(panes.contents)
        self._keyed, self._windowed = panes.keyed, panes.windowed

    def take(self, keys: list[Any], values: list[Any], timestamps: list[int | None] | None) -> None:
        """Add a batch."""
        iterator = iter(values)
        take = self._take_merging if self.merging is not None else self._take_plain
        assign, context, keyed = self.assigner.assign_windows, self._assigner_context, self._keyed
        is_late = self._panes.is_late
        try:
            stamps = repeat(None, len(values)) if timestamps is None else timestamps
            for key, value, timestamp in zip(keys, iterator, stamps, strict=True):
                keyed.current = key
                time = MIN_WATERMARK if timestamp is None else timestamp
                if not take(key, value, time, assign(value, time, context)) and is_late(time):
                    self._drop(value, timestamp)
        except RAISED as error:
            raise user_failure(error, self._panes.who, values, iterator) from error

    def add_session(self, key: Any, window: Any, values: list[Any]) -> None:
        """Add records that form one session that has not ended and that only its end can fire."""
        assert self.merging is not None
        self._keyed.current = key
        try:
            actual = self.merging.add(window, self._merge)
            self._windowed.current = (key, self.merging.state_window(actual))
            self._contents.add_all(values)
        except RAISED as error:
            raise user_failure(error, self._panes.who) from error
        self._panes.register((key, actual))

    def fire(self, watermark: int) -> None:
        """Ask the trigger about each event-time timer that is due."""
        for time, (key, window) in self._panes.event_timers.pop_due(watermark):
            self._on_timer(time, key, window, event_time=True)

    def fire_processing_time(self, now: int) -> None:
        """Ask the trigger about each processing-time timer that is due."""
        for time, (key, window) in self._panes.processing_timers.pop_due(now):
            self._on_timer(time, key, window, event_time=False)

    def _take_plain(self, key: Any, value: Any, time: int, windows: Any) -> bool:
        """Add a record to its windows; return whether at least one of them had not expired."""
        taken = False
        for window in windows:
            if self._panes.has_expired(window):
                continue
            self._add(key, window, window, self._own_copy(value) if taken else value, time)
            taken = True
        return taken

    def _take_merging(self, key: Any, value: Any, time: int, windows: Any) -> bool:
        assert self.merging is not None
        taken = False
        for window in windows:
            actual = self.merging.add(window, self._merge)
            if self._panes.has_expired(actual):
                self.merging.retire(actual)
                continue
            state_window = self.merging.state_window(actual)
            self._add(key, actual, state_window, self._own_copy(value) if taken else value, time)
            taken = True
        return taken

    def _add(self, key: Any, window: Any, state_window: Any, value: Any, time: int) -> None:
        contents, context = self._contents, self._trigger_context
        self._windowed.current = (key, state_window)
        contents.add(value)
        context.current = (key, window)
        result = self.trigger.on_element(value, time, window, context)
        if result is not _CONTINUE:
            if result in _FIRES and not self._fire(key, window, state_window, time):
                return  # as in Flink, a firing without contents ends here
            if result in _PURGES:
                self._windowed.current = (key, state_window)
                contents.clear()
            elif result not in _FIRES:
                raise self._no_result_error(result)
        self._panes.register_cleanup(key, window)

    def _merge(
        self, result: Any, merged: list[Any], state_window: Any, other_state_windows: list[Any]
    ) -> None:
        """Merge panes of the current key (Flink: WindowOperator, its MergeFunction)."""
        key, context = self._keyed.current, self._trigger_context
        self._check_not_ended(result)
        context.current, context.merged = (key, result), merged
        self.trigger.on_merge(result, context)
        for window in merged:
            context.current = (key, window)
            self.trigger.clear(window, context)
            self._panes.delete_cleanup(key, window)
        self._windowed.current = (key, state_window)
        self._contents.merge(state_window, other_state_windows)

    def _check_not_ended(self, window: Any) -> None:
        panes = self._panes
        now = panes.clock.watermark if panes.event_time else panes.clock.processing_time
        if panes.cleanup_time(window) <= now:
            raise RecordError(
                "requires that merged windows end after the current time",
                who=panes.who,
                got=f"{window!r} at {now}",
                hint="merge_windows() of the assigner must return windows that cover those merged",
            )

    def _on_timer(self, time: int, key: Any, window: Any, event_time: bool) -> None:
        self._keyed.current = key
        state_window = window if self.merging is None else self.merging.state_window(window)
        if state_window is None:
            return  # a timer that a trigger did not clean up when its window was merged away
        context, panes = self._trigger_context, self._panes
        context.current = (key, window)
        ask = self.trigger.on_event_time if event_time else self.trigger.on_processing_time
        result = ask(time, window, context)
        if result in _FIRES:
            self._fire(key, window, state_window, time)
        elif result is not _CONTINUE and result not in _PURGES:
            raise self._no_result_error(result)
        if result in _PURGES:
            self._windowed.current = (key, state_window)
            self._contents.clear()
        if event_time == panes.event_time and time == panes.cleanup_time(window):
            self._clean_up(key, window, state_window)

    def _clean_up(self, key: Any, window: Any, state_window: Any) -> None:
        self._windowed.current = (key, state_window)
        self._contents.clear()
        context = self._trigger_context
        context.current = (key, window)
        self.trigger.clear(window, context)
        self._panes.clear_process_state(key, window)
        if self.merging is not None:
            self._keyed.current = key
            self.merging.retire(window)

    def _fire(self, key: Any, window: Any, state_window: Any, time: int) -> bool:
        """Evaluate a pane; return whether it had contents."""
        self._windowed.current = (key, state_window)
        found = self._contents.get()
        if found is None:
            return False
        self._panes.emit(key, window, found, time)
        return True

    def _no_result_error(self, result: object) -> RecordError:
        return RecordError(
            "requires its trigger to return a TriggerResult",
            who=self._panes.who,
            got=f"a {type(result).__name__} from {type(self.trigger).__name__}: {result!r:.80}",
        )
