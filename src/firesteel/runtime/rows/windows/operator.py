"""The window operator: assigners, triggers, lateness, merging windows and window functions (Flink: WindowOperator).

Contract, for a pane (a key and a window): each record not too late is added to its panes and shown to the trigger.
Where the trigger fires, the window function sees the contents, and what it emits gets the window's largest timestamp
(that of the record or timer where the window has no end). A cleanup timer at the window's largest timestamp plus the
allowed lateness drops contents, trigger state and, through `clear`, the function's own. The trigger's timers
and the cleanup timer share one queue per time domain, under `(key, window)`.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from firesteel.common.errors import RecordError
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.assigners import MergingWindowAssigner, WindowAssigner
from firesteel.functions.base import Function
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.triggers import Trigger, TriggerResult
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.checkpointing import initialize_lists
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import Operator, OperatorContext, OperatorReport
from firesteel.runtime.rows.collector import Collector, not_iterable_error
from firesteel.runtime.rows.windows.contents import WindowContents, own_copy
from firesteel.runtime.rows.windows.context import (
    AssignerContext,
    PaneTriggerContext,
    ProcessContext,
    WindowRuntimeContext,
)
from firesteel.runtime.rows.windows.evaluation import (
    WindowLogic,
    WindowMode,
    make_contents,
    make_evaluation,
)
from firesteel.runtime.rows.windows.merging import MergingWindowSet
from firesteel.runtime.rows.windows.panes import Loops, specialised
from firesteel.state.descriptors import ValueStateDescriptor
from firesteel.state.keys.groups import user_key

_CONTINUE = TriggerResult.CONTINUE
_FIRES = frozenset({TriggerResult.FIRE, TriggerResult.FIRE_AND_PURGE})
_PURGES = frozenset({TriggerResult.PURGE, TriggerResult.FIRE_AND_PURGE})


class WindowOperator(Operator[RowBatch]):
    """Windows a keyed stream; see the module for the contract, and `WindowLogic` for the functions and types.

    `allowed_lateness` is in milliseconds. Late records go to the side output of `late_tag`, else they are dropped and
    counted (`numLateRecordsDropped`). Without keys (`keyed=False`) all records have the key 0.
    """

    contents: WindowContents

    def __init__(
        self,
        *,
        assigner: WindowAssigner[Any, Any],
        trigger: Trigger[Any, Any],
        mode: WindowMode,
        function: Any = None,
        window_function: Any = None,
        allowed_lateness: int = 0,
        late_tag: OutputTag | None = None,
        input_type: Any = None,
        accumulator_type: Any = None,
        keyed: bool = True,
    ) -> None:
        self.assigner = assigner
        self.trigger = trigger
        self._logic = WindowLogic(mode, function, window_function, input_type, accumulator_type, keyed)
        self.lateness = allowed_lateness
        self._late_tag = late_tag
        self.event_time = assigner.is_event_time()
        self._opened: list[Function] = []

    # Lifecycle

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.backend is not None
        assert context.event_timers is not None
        assert context.processing_timers is not None
        self.who = context.who
        backend = context.backend
        self._keyed_scope, self._scope = backend.keyed, backend.windowed
        self._event_timers, self._processing_timers = context.event_timers, context.processing_timers
        self._collector = Collector(context.output, context.side_outputs)
        runtime = WindowRuntimeContext(context)
        self._late_records = runtime.get_metrics_group().counter("numLateRecordsDropped")
        self.merging = self._make_merging_set()
        self._assigner_context = AssignerContext(self, runtime)
        self._process_context = ProcessContext(self, backend, runtime, self.merging is not None)
        self.contents, folder = make_contents(self._logic, backend, self.who)
        self._own_copy = own_copy(self.contents)
        evaluation = make_evaluation(self._logic, self._process_context)
        self._evaluate, self._clear_function = evaluation.evaluate, evaluation.clear
        functions = [function for function in (folder, evaluation.function) if function is not None]
        self._lists = initialize_lists(functions, context, runtime)
        for function in functions:
            function.open(runtime)
            self._opened.append(function)
        timers = self._event_timers, self._processing_timers
        self._trigger_context = PaneTriggerContext(self, backend, timers, runtime.get_metrics_group())
        self._loops = self.choose_loops()

    def choose_loops(self) -> Loops:
        """Return what takes batches and fires timers: loops made for this assigner and trigger, or the general ones."""
        return specialised(self) or Loops(self.take_each, self.fire_each)

    def close(self) -> None:
        for function in self._opened:
            function.close()

    def _make_merging_set(self) -> MergingWindowSet | None:
        if not isinstance(self.assigner, MergingWindowAssigner):
            return None
        assert self.context.backend is not None
        return MergingWindowSet(
            self.assigner, self.context.backend.value_state(ValueStateDescriptor("merging-window-set"))
        )

    # Records

    def process(self, batch: RowBatch, port: int) -> None:
        keys = batch.keys if batch.keys is not None else [0] * len(batch.values)
        self._loops.take(keys, batch.values, batch.timestamps)
        self._collector.flush()
        self.advance_processing_time(self.processing_time)

    def take_each(self, keys: list[Any], values: list[Any], timestamps: Any) -> None:
        """Take records one by one: the general path."""
        iterator = iter(values)
        take = self._take_merging if self.merging is not None else self._take_plain
        assign, context, keyed = self.assigner.assign_windows, self._assigner_context, self._keyed_scope
        try:
            stamps = repeat(None, len(values)) if timestamps is None else timestamps
            for key, value, timestamp in zip(keys, iterator, stamps, strict=True):
                keyed.current = key
                time = MIN_WATERMARK if timestamp is None else timestamp
                if not take(key, value, time, assign(value, time, context)) and self._is_late(time):
                    self._drop(value, timestamp)
        except RAISED as error:
            raise user_failure(error, self.who, values, iterator) from error

    def _take_plain(self, key: Any, value: Any, time: int, windows: Any) -> bool:
        """Add a record to its windows; answer whether there was one that had not expired."""
        taken = False
        for window in windows:
            if self._has_expired(window):
                continue
            self._add(key, window, window, self._own_copy(value) if taken else value, time)
            taken = True
        return taken

    def _take_merging(self, key: Any, value: Any, time: int, windows: Any) -> bool:
        assert self.merging is not None
        taken = False
        for window in windows:
            actual = self.merging.add(window, self._merge)
            if self._has_expired(actual):
                self.merging.retire(actual)
                continue
            state_window = self.merging.state_window(actual)
            self._add(key, actual, state_window, self._own_copy(value) if taken else value, time)
            taken = True
        return taken

    def _add(self, key: Any, window: Any, state_window: Any, value: Any, time: int) -> None:
        contents, context = self.contents, self._trigger_context
        self._scope.current = (key, state_window)
        contents.add(value)
        context.current = (key, window)
        result = self.trigger.on_element(value, time, window, context)
        if result is not _CONTINUE:
            if result in _FIRES and not self._fire(key, window, state_window, time):
                return  # as in Flink, a firing without contents ends here
            if result in _PURGES:
                self._scope.current = (key, state_window)
                contents.clear()
            elif result not in _FIRES:
                raise self._no_result(result)
        self._register_cleanup(key, window)

    def add_session(self, key: Any, window: Any, values: list[Any]) -> None:
        """Add records that form one session which has not ended, and which nothing but its end makes fire."""
        assert self.merging is not None
        self._keyed_scope.current = key
        try:
            actual = self.merging.add(window, self._merge)
            self._scope.current = (key, self.merging.state_window(actual))
            self.contents.add_all(values)
        except RAISED as error:
            raise user_failure(error, self.who) from error
        self.register_pane((key, actual))

    def register_pane(self, current: tuple[Any, Any]) -> None:
        """Register what a default trigger and the cleanup wait for."""
        end = current[1].max_timestamp()
        if not self.event_time:
            self._processing_timers.register(end, current)
            return
        self._event_timers.register(end, current)
        if self.lateness:
            self._register_cleanup(*current)

    def _drop(self, value: Any, timestamp: int | None) -> None:
        if self._late_tag is None:
            self._late_records.inc()
        else:
            self._collector.side(self._late_tag, value, timestamp)

    def _merge(
        self, result: Any, merged: list[Any], state_window: Any, other_state_windows: list[Any]
    ) -> None:
        """Merge panes of the current key (Flink: WindowOperator, its MergeFunction)."""
        key, context = self._keyed_scope.current, self._trigger_context
        self._check_not_ended(result)
        context.current, context.merged = (key, result), merged
        self.trigger.on_merge(result, context)
        for window in merged:
            context.current = (key, window)
            self.trigger.clear(window, context)
            self.delete_cleanup(key, window)
        self._scope.current = (key, state_window)
        self.contents.merge(state_window, other_state_windows)

    def _check_not_ended(self, window: Any) -> None:
        now = self.watermark if self.event_time else self.processing_time
        if self.cleanup_time(window) <= now:
            raise RecordError(
                "requires that merged windows end after the current time",
                who=self.who,
                got=f"{window!r} at {now}",
                hint="merge_windows() of the assigner must return windows that cover those merged",
            )

    # Timers

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        due = self._event_timers.next_due()
        if due is not None and due <= watermark:
            try:
                self._loops.fire(watermark)
            except RAISED as error:
                raise user_failure(error, self.who) from error
            self._collector.flush()
        self.emit_watermark(watermark)

    def advance_processing_time(self, now: int) -> None:
        self.processing_time = now
        due = self._processing_timers.next_due()
        if due is None or due > now:
            return
        try:
            for time, (key, window) in self._processing_timers.pop_due(now):
                self._on_timer(time, key, window, event_time=False)
        except RAISED as error:
            raise user_failure(error, self.who) from error
        self._collector.flush()

    def end_epoch(self) -> OperatorReport:
        self._loops.settle()
        self._collector.flush()
        return OperatorReport(operator_state=self._lists and self._lists.snapshot(self))

    def fire_each(self, watermark: int) -> None:
        """Ask the trigger about each timer that is due: the general path."""
        for time, (key, window) in self._event_timers.pop_due(watermark):
            self._on_timer(time, key, window, event_time=True)

    def fire_ended(self, watermark: int) -> None:
        """Fire and clean up panes whose only timers are their end and their cleanup: no trigger needs to be asked."""
        lateness, scope, contents = self.lateness, self._scope, self.contents
        for time, current in self._event_timers.pop_due(watermark):
            key, window = current
            end = window.max_timestamp()
            scope.current = current
            if time == end:
                found = contents.get()
                if found is not None:
                    self.emit_pane(key, window, found, time)
            if time == end + lateness:
                scope.current = current
                contents.clear()
                self.clear_process_state(key, window)

    def _on_timer(self, time: int, key: Any, window: Any, event_time: bool) -> None:
        self._keyed_scope.current = key
        state_window = window if self.merging is None else self.merging.state_window(window)
        if state_window is None:
            return  # a timer that a trigger did not clean up when its window was merged away
        context = self._trigger_context
        context.current = (key, window)
        ask = self.trigger.on_event_time if event_time else self.trigger.on_processing_time
        result = ask(time, window, context)
        if result in _FIRES:
            self._fire(key, window, state_window, time)
        elif result is not _CONTINUE and result not in _PURGES:
            raise self._no_result(result)
        if result in _PURGES:
            self._scope.current = (key, state_window)
            self.contents.clear()
        if event_time == self.event_time and time == self.cleanup_time(window):
            self._clean_up(key, window, state_window)

    def _clean_up(self, key: Any, window: Any, state_window: Any) -> None:
        self._scope.current = (key, state_window)
        self.contents.clear()
        context = self._trigger_context
        context.current = (key, window)
        self.trigger.clear(window, context)
        self.clear_process_state(key, window)
        if self.merging is not None:
            self._keyed_scope.current = key
            self.merging.retire(window)

    def clear_process_state(self, key: Any, window: Any) -> None:
        """Let the window function clear what it keeps for a pane."""
        if self._clear_function is not None:
            self._keyed_scope.current = key
            self._scope.current = (key, window)
            self._process_context.window_ = window
            self._clear_function(self._process_context)

    # Firing

    def _fire(self, key: Any, window: Any, state_window: Any, time: int) -> bool:
        """Evaluate a pane; answer whether there was something to evaluate."""
        self._scope.current = (key, state_window)
        found = self.contents.get()
        if found is None:
            return False
        self.emit_pane(key, window, found, time)
        return True

    def emit_pane(self, key: Any, window: Any, found: list[Any], time: int) -> None:
        """Evaluate a pane with contents; `time` is the timestamp of the results where the window has no end."""
        end: int = window.max_timestamp()
        timestamp: int | None = end
        if end == MAX_WATERMARK:
            timestamp = None if time == MIN_WATERMARK else time
        self._keyed_scope.current = key
        self._scope.current = (key, window)
        self._process_context.window_ = window
        results = self._evaluate(user_key(key), window, found)
        if results is None:
            return
        try:
            iterator = iter(results)
        except TypeError:
            raise not_iterable_error(
                results, self.who, f"the window function of {self._logic.mode}()"
            ) from None
        self._collector.extend(iterator, timestamp)

    # Lateness

    def cleanup_time(self, window: Any) -> int:
        """Return when a window is dropped with all that belongs to it (milliseconds)."""
        end: int = window.max_timestamp()
        return min(end + self.lateness, MAX_WATERMARK) if self.event_time else end

    def _has_expired(self, window: Any) -> bool:
        return self.event_time and self.cleanup_time(window) <= self.watermark

    def _is_late(self, time: int) -> bool:
        return self.event_time and time + self.lateness <= self.watermark

    def _register_cleanup(self, key: Any, window: Any) -> None:
        time = self.cleanup_time(window)
        if time != MAX_WATERMARK:
            (self._event_timers if self.event_time else self._processing_timers).register(time, (key, window))

    def delete_cleanup(self, key: Any, window: Any) -> None:
        """Remove the cleanup timer of a pane."""
        time = self.cleanup_time(window)
        if time != MAX_WATERMARK:
            (self._event_timers if self.event_time else self._processing_timers).delete(time, (key, window))

    def _no_result(self, result: object) -> RecordError:
        return RecordError(
            "requires its trigger to return a TriggerResult",
            who=self.who,
            got=f"a {type(result).__name__} from {type(self.trigger).__name__}: {result!r:.80}",
        )
