"""Keyed running reduction, the operator behind sum, min, max, min_by, max_by and reduce."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firesteel.common.sealing import ATOMS, seal
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.elements import ReduceFunction
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.rows.function import FunctionOperator
from firesteel.state.descriptors import ValueStateDescriptor


class ReduceOperator(FunctionOperator):
    """Emits the reduced value after every record (Flink: StreamGroupedReduceOperator).

    With `final_only` (runtime mode BATCH) it emits each key's result once, when the input has ended, through a timer at
    the end of time (Flink: BatchGroupedReduceOperator).
    """

    def __init__(self, function: ReduceFunction, value_type: Any, final_only: bool) -> None:
        super().__init__(function)
        self._value_type = value_type
        self._final_only = final_only

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.backend is not None
        self._reduce = self.function.reduce  # type: ignore[attr-defined]
        self._state = context.backend.value_state(ValueStateDescriptor("_reduced", self._value_type))

    def process(self, batch: RowBatch, port: int) -> None:
        assert batch.keys is not None
        assert self.context.backend is not None
        self.context.backend.expect(batch.keys)
        iterator = iter(batch.values)
        try:
            reduced = self._state.reduce_each(batch.keys, iterator, self._reduce)
            results = self._sealed(reduced)
        except RAISED as error:
            raise user_failure(error, self.context.who, batch.values, iterator) from error
        if self._final_only:
            self._remember(batch.keys)
        else:
            self.output.emit(RowBatch(results, batch.timestamps))

    def _sealed(self, reduced: Iterator[Any]) -> list[Any]:
        if self.context.typed_output:
            return list(map(self.output.seal, reduced))
        return [
            value
            if type(value) in ATOMS or (type(value) is tuple and ATOMS.issuperset(map(type, value)))
            else seal(value)
            for value in reduced
        ]

    def _remember(self, keys: list[Any]) -> None:
        assert self.context.event_timers is not None
        for key in set(keys):
            self.context.event_timers.register(MAX_WATERMARK, key)

    def advance_watermark(self, watermark: int) -> None:
        if watermark == MAX_WATERMARK and self._final_only:
            assert self.context.event_timers is not None
            for _, key in self.context.event_timers.pop_due(MAX_WATERMARK):
                self.scope.current = key
                self.collector.extend((self._state.value(),), MAX_WATERMARK)
            self.collector.flush()
        super().advance_watermark(watermark)
