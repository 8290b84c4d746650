"""Panes: the contents, timers, results and end of a key and a window, for every path that records take."""

from __future__ import annotations

from typing import Any

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.rows.collector import Collector, not_iterable_error
from firesteel.runtime.rows.windows.contents import WindowContents
from firesteel.runtime.rows.windows.context import Clock, ProcessContext
from firesteel.runtime.rows.windows.evaluation import Evaluation
from firesteel.state.keys.groups import user_key


class Panes:
    """The panes of a window operator.

    `lateness` is the allowed one (milliseconds). Contract: the scope `windowed` is set to key and window while
    `contents` are used; `emit` and `clear_process_state` set the scopes themselves.
    """

    def __init__(
        self,
        context: OperatorContext,
        clock: Clock,
        collector: Collector,
        contents: WindowContents,
        *,
        event_time: bool,
        lateness: int,
    ) -> None:
        assert context.backend is not None
        assert context.event_timers is not None
        assert context.processing_timers is not None
        self.who = context.who
        self.clock = clock
        self.contents = contents
        self.event_time = event_time
        self.lateness = lateness
        self.keyed, self.windowed = context.backend.keyed, context.backend.windowed
        self.event_timers, self.processing_timers = context.event_timers, context.processing_timers
        self._collector = collector

    def evaluate_with(self, evaluation: Evaluation, context: ProcessContext, call: str) -> None:
        """Set the function that turns contents into results; `call` names it in errors."""
        self._evaluate, self._clear_function = evaluation.evaluate, evaluation.clear
        self._process_context = context
        self._call = call

    # Timers

    def cleanup_time(self, window: Any) -> int:
        """Return the time at which a window is dropped with everything that belongs to it (milliseconds)."""
        end: int = window.max_timestamp()
        return min(end + self.lateness, MAX_WATERMARK) if self.event_time else end

    def has_expired(self, window: Any) -> bool:
        """Return whether a window has already been dropped."""
        return self.event_time and self.cleanup_time(window) <= self.clock.watermark

    def is_late(self, time: int) -> bool:
        """Return whether a record that belongs to no window, with this timestamp, came too late for one."""
        return self.event_time and time + self.lateness <= self.clock.watermark

    def register(self, current: tuple[Any, Any]) -> None:
        """Register the timers that a default trigger and the cleanup of a pane need."""
        end = current[1].max_timestamp()
        if not self.event_time:
            self.processing_timers.register(end, current)
            return
        self.event_timers.register(end, current)
        if self.lateness:
            self.register_cleanup(*current)

    def register_cleanup(self, key: Any, window: Any) -> None:
        """Register the cleanup timer of a pane."""
        time = self.cleanup_time(window)
        if time != MAX_WATERMARK:
            (self.event_timers if self.event_time else self.processing_timers).register(time, (key, window))

    def delete_cleanup(self, key: Any, window: Any) -> None:
        """Remove the cleanup timer of a pane."""
        time = self.cleanup_time(window)
        if time != MAX_WATERMARK:
            (self.event_timers if self.event_time else self.processing_timers).delete(time, (key, window))

    # Results

    def fire_ended(self, watermark: int) -> None:
        """Fire and clean up panes whose only timers are their end and their cleanup: no trigger has to be asked."""
        lateness, scope, contents = self.lateness, self.windowed, self.contents
        get = contents.get if lateness else contents.last
        for time, current in self.event_timers.pop_due(watermark):
            key, window = current
            end = window.max_timestamp()
            scope.current = current
            if time == end:
                found = get()
                if found is not None:
                    self.emit(key, window, found, time)
            if time == end + lateness:
                scope.current = current
                contents.clear()
                self.clear_process_state(key, window)

    def emit(self, key: Any, window: Any, found: list[Any], time: int) -> None:
        """Evaluate a pane with contents; `time` is the timestamp of the results if the window has no end."""
        end: int = window.max_timestamp()
        timestamp: int | None = end
        if end == MAX_WATERMARK:
            timestamp = None if time == MIN_WATERMARK else time
        self.keyed.current = key
        self.windowed.current = (key, window)
        self._process_context.window_ = window
        results = self._evaluate(user_key(key), window, found)
        if results is None:
            return
        try:
            iterator = iter(results)
        except TypeError:
            raise not_iterable_error(results, self.who, self._call) from None
        self._collector.extend(iterator, timestamp)

    def clear_process_state(self, key: Any, window: Any) -> None:
        """Let the window function clear its state of a pane."""
        if self._clear_function is not None:
            self.keyed.current = key
            self.windowed.current = (key, window)
            self._process_context.window_ = window
            self._clear_function(self._process_context)
