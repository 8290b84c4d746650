"""Process functions of one input, with timers if the input is keyed."""

from __future__ import annotations

from types import GeneratorType
from typing import Any

from firesteel.functions.process import KeyedProcessFunction, ProcessFunction, TimeDomain
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.context import ElementContext
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.rows.function import FunctionOperator
from firesteel.runtime.timers import TimerQueue


class _Context(ElementContext, ProcessFunction.Context, KeyedProcessFunction.Context):
    __slots__ = ()


class _OnTimer(ElementContext, KeyedProcessFunction.OnTimerContext):
    __slots__ = ("domain",)

    domain: TimeDomain

    def time_domain(self) -> TimeDomain:
        return self.domain


class TimerOperator(FunctionOperator):
    """The base of keyed process operators: fires timers through the function's `on_timer`.

    Timers fire in the order of their times, before the watermark that makes them due is passed on. A timer for a time
    in the past fires with the next watermark or batch (Flink: InternalTimerServiceImpl).
    """

    on_timer_context: Any

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        if self.keyed:
            self.on_timer_context = self.make_on_timer_context()

    def make_on_timer_context(self) -> Any:
        """Return the context object that `on_timer` gets."""
        return _OnTimer(self.make_timers(), self.scope)

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        if self.keyed:
            assert self.context.event_timers is not None
            self._fire(self.context.event_timers, watermark, TimeDomain.EVENT_TIME)
        self.emit_watermark(watermark)

    def advance_processing_time(self, now: int) -> None:
        queue = self.context.processing_timers
        if queue is not None:
            due = queue.next_due()
            if due is not None and due <= now:
                self._fire(queue, now, TimeDomain.PROCESSING_TIME)

    def _fire(self, queue: TimerQueue, upto: int, domain: TimeDomain) -> None:
        context, scope, emit = self.on_timer_context, self.scope, self.emit_all
        on_timer = self.function.on_timer  # type: ignore[attr-defined]
        context.domain = domain
        timed = domain is TimeDomain.EVENT_TIME
        try:
            for timestamp, current in queue.pop_due(upto):
                scope.current = current
                context.timestamp_ = timestamp
                emit(on_timer(timestamp, context), timestamp if timed else None, "on_timer()")
        except RAISED as error:
            raise user_failure(error, self.context.who) from error
        self.collector.flush()


class ProcessOperator(TimerOperator):
    """Runs a ProcessFunction, or a KeyedProcessFunction if the input is keyed."""

    def __init__(self, function: ProcessFunction | KeyedProcessFunction) -> None:
        super().__init__(function)
        self._process = function.process_element

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._element = _Context(self.make_timers(), self.scope)

    def process(self, batch: RowBatch, port: int) -> None:
        iterator = iter(batch.values)
        try:
            if batch.keys is None:
                self._process_plain(iterator, batch.stamps())
            else:
                self._process_keyed(batch.keys, iterator, batch.stamps())
        except RAISED as error:
            raise user_failure(error, self.context.who, batch.values, iterator) from error
        self.collector.flush()
        self.advance_processing_time(self.processing_time)

    def _process_plain(self, values: Any, timestamps: list[int | None]) -> None:
        process, context, emit = self._process, self._element, self.emit_all
        for value, timestamp in zip(values, timestamps, strict=True):
            context.timestamp_ = timestamp
            emit(process(value, context), timestamp, "process_element()")

    def _process_keyed(self, keys: list[Any], values: Any, timestamps: list[int | None]) -> None:
        process, context, emit, scope = self._process, self._element, self.emit_all, self.scope
        add = self.collector.add
        assert self.context.backend is not None
        self.context.backend.expect(keys)
        for key, value, timestamp in zip(keys, values, timestamps, strict=True):
            scope.current = key
            context.timestamp_ = timestamp
            results = process(value, context)
            if type(results) is GeneratorType:
                for result in results:
                    add(result, timestamp)
            elif results is not None:
                emit(results, timestamp, "process_element()")
