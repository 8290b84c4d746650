"""Functions of two connected streams; port 0 is the first stream, port 1 the second."""

from __future__ import annotations

from typing import Any

from firesteel.functions.elements import CoFlatMapFunction, CoMapFunction
from firesteel.functions.process import CoProcessFunction, KeyedCoProcessFunction
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.context import ElementContext
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.rows.function import FunctionOperator
from firesteel.runtime.rows.process import TimerOperator


class CoMapOperator(FunctionOperator):
    """Emits at most one record for each one, by one function per stream; None is no record (PyFlink: CoMapFunction)."""

    def __init__(self, function: CoMapFunction) -> None:
        super().__init__(function)
        self._map = (function.map1, function.map2)

    def process(self, batch: RowBatch, port: int) -> None:
        function = self._map[port]

        def call(value: Any, timestamp: int | None) -> Any:  # noqa: ARG001 - the shape of all calls
            result = function(value)
            return None if result is None else (result,)

        self.emit_each(batch, call, f"map{port + 1}()")


class CoFlatMapOperator(FunctionOperator):
    """Emits any number of records for each record, by one function per stream."""

    def __init__(self, function: CoFlatMapFunction) -> None:
        super().__init__(function)
        self._flat_map = (function.flat_map1, function.flat_map2)

    def process(self, batch: RowBatch, port: int) -> None:
        function = self._flat_map[port]

        def call(value: Any, timestamp: int | None) -> Any:  # noqa: ARG001 - the shape of all calls
            return function(value)

        self.emit_each(batch, call, f"flat_map{port + 1}()")


class _Context(ElementContext, CoProcessFunction.Context, KeyedCoProcessFunction.Context):
    __slots__ = ()


class CoProcessOperator(TimerOperator):
    """Runs a CoProcessFunction, or a KeyedCoProcessFunction if both inputs are keyed."""

    def __init__(self, function: CoProcessFunction | KeyedCoProcessFunction) -> None:
        super().__init__(function)
        self._process = (function.process_element1, function.process_element2)

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._element = _Context(self.make_timers(), self.scope)

    def process(self, batch: RowBatch, port: int) -> None:
        function, context = self._process[port], self._element

        def call(value: Any, timestamp: int | None) -> Any:
            context.timestamp_ = timestamp
            return function(value, context)

        self.emit_each(batch, call, f"process_element{port + 1}()")
        self.advance_processing_time(self.processing_time)
