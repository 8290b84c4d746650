"""map, filter, flat_map: a function of one element, with keyed state if the input is keyed."""

from __future__ import annotations

from itertools import compress
from typing import Any

from firesteel.common.sealing import ATOMS, seal
from firesteel.functions.elements import FilterFunction, FlatMapFunction, MapFunction
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.rows.function import FunctionOperator


class MapOperator(FunctionOperator):
    """Emits one record for each record."""

    def __init__(self, function: MapFunction) -> None:
        super().__init__(function)
        self._map = function.map

    def process(self, batch: RowBatch, port: int) -> None:
        function, coerce = self._map, self.output.seal
        iterator = iter(batch.values)
        try:
            if batch.keys is not None:
                mapped = []
                scope = self.scope
                for key, value in zip(batch.keys, iterator, strict=True):
                    scope.current = key
                    mapped.append(coerce(function(value)))
            elif self.context.typed_output:
                mapped = [coerce(function(value)) for value in iterator]
            else:
                mapped = [
                    result
                    if type(result := function(value)) in ATOMS
                    or (type(result) is tuple and ATOMS.issuperset(map(type, result)))
                    else seal(result)
                    for value in iterator
                ]
        except RAISED as error:
            raise user_failure(error, self.context.who, batch.values, iterator) from error
        self.output.emit(RowBatch(mapped, batch.timestamps))


class FilterOperator(FunctionOperator):
    """Emits the records for which a predicate is true."""

    def __init__(self, function: FilterFunction) -> None:
        super().__init__(function)
        self._filter = function.filter

    def process(self, batch: RowBatch, port: int) -> None:
        predicate = self._filter
        iterator = iter(batch.values)
        try:
            if batch.keys is None:
                kept = list(map(predicate, iterator))
                if len(kept) != len(batch.values):
                    raise StopIteration  # raised by the function; map() would end silently
            else:
                kept = []
                scope = self.scope
                for key, value in zip(batch.keys, iterator, strict=True):
                    scope.current = key
                    kept.append(predicate(value))
        except RAISED as error:
            raise user_failure(error, self.context.who, batch.values, iterator) from error
        values, stamps = batch.values, batch.timestamps
        if not all(kept):
            values = list(compress(values, kept))
            stamps = None if stamps is None else list(compress(stamps, kept))
        self.output.emit(RowBatch(self._coerced(values) if self.context.typed_output else values, stamps))

    def _coerced(self, values: list[Any]) -> list[Any]:
        iterator = iter(values)
        try:
            return list(map(self.output.seal, iterator))
        except RAISED as error:
            raise user_failure(error, self.context.who, values, iterator) from error


class FlatMapOperator(FunctionOperator):
    """Emits any number of records for each record."""

    def __init__(self, function: FlatMapFunction) -> None:
        super().__init__(function)
        self._flat_map = function.flat_map

    def process(self, batch: RowBatch, port: int) -> None:
        function, emit, scope = self._flat_map, self.emit_all, self.scope
        keys = batch.keys if batch.keys is not None else [None] * len(batch.values)
        iterator = iter(batch.values)
        try:
            for key, value, timestamp in zip(keys, iterator, batch.stamps(), strict=True):
                if key is not None:
                    scope.current = key
                emit(function(value), timestamp, "flat_map()")
        except RAISED as error:
            raise user_failure(error, self.context.who, batch.values, iterator) from error
        self.collector.flush()


class ProjectFunction(MapFunction):
    """Picks fields of a tuple or Row by position.

    >>> ProjectFunction((1, 0)).map(("a", "b"))
    ('b', 'a')
    """

    def __init__(self, positions: tuple[int, ...]) -> None:
        self._positions = positions

    def map(self, value: Any) -> tuple[Any, ...]:
        """Return the tuple of the picked fields."""
        return tuple(value[position] for position in self._positions)
