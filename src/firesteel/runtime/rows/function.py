"""The base of operators that call a user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firesteel.functions.base import Function
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.checkpointing import initialize_lists
from firesteel.runtime.context import KeyedTimers, NoTimers, TaskRuntimeContext
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import Operator, OperatorContext, OperatorReport
from firesteel.runtime.rows.collector import Collector, not_iterable_error
from firesteel.state.live.place import Scope


class FunctionOperator(Operator[RowBatch]):
    """Opens and closes a function, gathers its results, and flushes them at the end of each call from the task."""

    keyed: bool
    collector: Collector

    def __init__(self, function: Function) -> None:
        self.function = function

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self.keyed = context.event_timers is not None
        self.scope = Scope("none") if context.backend is None else context.backend.keyed
        self.collector = Collector(context.output, context.side_outputs)
        runtime = TaskRuntimeContext(context, self.keyed)
        self._lists = initialize_lists([self.function], context, runtime)
        self.function.open(runtime)

    def make_timers(self) -> KeyedTimers | NoTimers:
        """Return the timer service for the function's contexts."""
        context = self.context
        if context.event_timers is None or context.processing_timers is None:
            return NoTimers(self)
        return KeyedTimers(self, self.scope, context.event_timers, context.processing_timers)

    def emit_all(self, results: Any, timestamp: int | None, method: str) -> None:
        """Emit the result of a function: an iterable of records, or nothing (None, False, an empty collection)."""
        if not results:
            return
        try:
            iterator = iter(results)
        except TypeError:
            raise not_iterable_error(results, self.context.who, method) from None
        self.collector.extend(iterator, timestamp)

    def emit_each(self, batch: RowBatch, call: Callable[[Any, int | None], Any], method: str) -> None:
        """Call a function on each record, with its key current, and emit the results."""
        emit, scope = self.emit_all, self.scope
        keys = batch.keys if batch.keys is not None else [None] * len(batch.values)
        iterator = iter(batch.values)
        try:
            for key, value, timestamp in zip(keys, iterator, batch.stamps(), strict=True):
                if key is not None:
                    scope.current = key
                emit(call(value, timestamp), timestamp, method)
        except RAISED as error:
            raise user_failure(error, self.context.who, batch.values, iterator) from error
        self.collector.flush()

    def end_epoch(self) -> OperatorReport:
        self.collector.flush()
        return OperatorReport(operator_state=self._lists and self._lists.snapshot(self))

    def close(self) -> None:
        self.function.close()
