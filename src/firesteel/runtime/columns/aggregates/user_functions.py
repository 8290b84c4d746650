"""Aggregate functions of Python.

An accumulator is kept as `Accumulated`: the pickled value, and arguments that are not added to it yet. So rows are
gathered as columns, each group is unpickled once in an epoch, and rows are added in their order. A function of pandas
is made of all values of a group, and so is any function over the frames of OVER.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import ArrayType, Field, RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_field
from firesteel.common.logical_types.pandas_values import from_series, to_series
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.python_functions import PythonAggregate
from firesteel.functions.user_defined import TableAggregateFunction
from firesteel.runtime.columns.aggregates.contents import Contents
from firesteel.runtime.columns.aggregates.parts import Columns, Given, Part
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.python_functions import Body, Values
from firesteel.runtime.failures import RAISED, summary, user_failure
from firesteel.state.arrangements.columns import numbers


class AggregateBody(Body):
    """An aggregate function of the user's in a worker."""

    def __init__(self, aggregation: Aggregation) -> None:
        assert aggregation.user is not None
        super().__init__(aggregation.user, aggregation.zone)
        self._function: PythonAggregate = aggregation.user
        self.aggregation = aggregation

    def created(self) -> Any:
        """Return the accumulator of a group without rows."""
        try:
            return self._function.body.create_accumulator()
        except RAISED as error:
            raise user_failure(error, f"create_accumulator() of {self._who}") from error

    def changed(self, accumulator: Any, rows: Sequence[Values], signs: Sequence[int]) -> None:
        """Add rows of arguments, or take them back where the sign is below 0."""
        add, take, left = self._function.body.accumulate, self._function.body.retract, iter(rows)
        try:
            for sign, some in zip(signs, left, strict=True):
                (add if sign > 0 else take)(accumulator, *some)
        except RAISED as error:
            raise user_failure(error, self._who, rows, left) from error

    def merged(self, accumulator: Any, others: Sequence[Any]) -> None:
        """Add other accumulators."""
        try:
            self._function.body.merge(accumulator, others)
        except RAISED as error:
            raise user_failure(error, f"merge() of {self._who}") from error

    def valued(self, accumulator: Any) -> Any:
        """Return the result of an accumulator."""
        body = self._function.body
        if isinstance(body, TableAggregateFunction):
            return self._emitted(body, accumulator)
        try:
            return body.get_value(accumulator)
        except RAISED as error:
            raise user_failure(error, f"get_value() of {self._who}", [accumulator], iter(())) from error

    def _emitted(self, body: TableAggregateFunction, accumulator: Any) -> list[Values]:
        kind = self._function.result
        assert isinstance(kind, ArrayType)
        assert isinstance(kind.element, RowType)
        try:
            return self.rows_of(body.emit_value(accumulator), kind.element)
        except RAISED as error:
            raise user_failure(error, f"emit_value() of {self._who}", [accumulator], iter(())) from error

    def results(self, values: Sequence[Any]) -> pa.Array:
        """Return results as a column."""
        return self.column(values, Field(self.aggregation.shown, self.aggregation.type))

    def loaded(self, data: bytes) -> Any:
        """Return an accumulator that was kept."""
        return pickle.loads(data)

    def dumped(self, accumulator: Any) -> bytes:
        """Return an accumulator as it is kept. Raises TypeMismatchError for one that cannot be pickled."""
        try:
            return pickle.dumps(accumulator, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise self.mismatch(
                f"requires an accumulator that can be pickled ({error})", accumulator
            ) from error

    def of_frames(self, contents: Contents) -> pa.Array:
        """Return a result for each group of values, each from an accumulator of its own."""
        found = []
        rows = self.values(
            [*zip(contents.columns, self.aggregation.types, strict=True)], len(contents.owners)
        )
        for start, stop in _stretches(contents):
            accumulator = self.created()
            self.changed(accumulator, rows[start:stop], [1] * (stop - start))
            found.append(self.valued(accumulator))
        return self.results(found)

    def of_series(self, contents: Contents) -> pa.Array:
        """Return a result for each group of values, which the function takes as Series."""
        found, kinds = [], self.aggregation.types
        for start, stop in _stretches(contents):
            given = [
                to_series(column.slice(start, stop - start), kind, self._zone)
                for column, kind in zip(contents.columns, kinds, strict=True)
            ]
            accumulator = self.created()
            try:
                self._function.body.accumulate(accumulator, *given)
            except RAISED as error:
                first = [summary(list(series[:1])) for series in given]
                who = f"{self._who}, for {stop - start} rows"
                raise user_failure(error, who, [first], iter(())) from error
            found.append(self.valued(accumulator))
        return self._of_pandas(found)

    def _of_pandas(self, values: list[Any]) -> pa.Array:
        """Return results as a column, as pandas would have them in a Series: so a whole DOUBLE is a BIGINT."""
        import pandas as pd

        kind = self.aggregation.type
        if pa.types.is_nested(to_arrow(kind)):
            return self.results(values)
        try:
            return from_series(pd.Series(values), kind, self._zone)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise self.mismatch(f"has a result that does not fit {kind}: {error}", values) from error


def _stretches(contents: Contents) -> Iterator[tuple[int, int]]:
    ends = contents.offsets.to_pylist()
    yield from pairwise(ends)


@dataclass(frozen=True)
class Accumulated(Part):
    """The accumulator of an aggregate function of the user's: pickled, and the rows that wait to be added to it."""

    body: AggregateBody = field(kw_only=True)
    arguments: tuple[int, ...] = field(kw_only=True)

    @property
    def label(self) -> str:
        """Return what it is."""
        return "accumulator"

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """Return the types of the pickled value (NULL: none yet), and of the signs and arguments that wait."""
        kinds = self.body.aggregation.types
        fields = [to_arrow_field(f"a{place}", kind).with_nullable(True) for place, kind in enumerate(kinds)]
        return pa.large_binary(), pa.list_(pa.struct([pa.field("sign", pa.int8()), *fields]))

    @property
    def ordered(self) -> bool:
        """Rows are added in their order."""
        return True

    def lift(self, given: Given) -> list[pa.Array]:
        """Return the arguments of each row, nothing for rows that do not count."""
        weights = given.weights(self.condition, ())
        rows = np.flatnonzero(weights)
        columns = [given.rows.column(place).take(pa.array(rows)) for place in self.arguments]
        fields = [*self.types[1].value_type]
        structs = pa.StructArray.from_arrays(
            [pa.array(weights[rows].astype(np.int8)), *columns], fields=fields
        )
        offsets = np.concatenate(([0], np.cumsum(weights != 0)))
        return [
            pa.nulls(len(weights), self.types[0]),
            pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs, type=self.types[1]),
        ]

    def neutral(self, count: int) -> list[pa.Array]:
        """Return columns without rows."""
        return [pa.nulls(count, self.types[0]), pa.array([[]] * count, self.types[1])]

    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Put the rows of each group behind each other; accumulators that are made already are merged."""
        order = pa.array(groups.order)
        states, waiting = (column.take(order) for column in columns)
        bounds = np.append(groups.starts, len(order))
        if states.null_count < len(states):
            return self._merged(states, waiting, bounds)
        offsets = np.concatenate(([0], np.cumsum(numbers(waiting.value_lengths().cast(pa.int64())))))
        lists = pa.ListArray.from_arrays(
            pa.array(offsets[bounds], pa.int32()), waiting.flatten(), type=self.types[1]
        )
        return [pa.nulls(len(groups), self.types[0]), lists]

    def merge(self, earlier: Columns, later: Columns) -> list[pa.Array]:
        """Add what came later."""
        states = [
            data for pair in zip(earlier[0].to_pylist(), later[0].to_pylist(), strict=True) for data in pair
        ]
        rows = len(earlier[0])
        order = pa.array(np.arange(2 * rows).reshape(2, rows).T.reshape(-1))
        waiting = pa.concat_arrays([earlier[1], later[1]]).take(order)
        return self._merged(pa.array(states, self.types[0]), waiting, np.arange(0, 2 * rows + 1, 2))

    def settled(self, columns: Columns) -> list[pa.Array]:
        """Return the columns with all rows added."""
        return self._merged(columns[0], columns[1], np.arange(len(columns[0]) + 1))

    def result(self, columns: Columns) -> pa.Array:
        """Return the result of each accumulator."""
        made = self._made(columns[0], columns[1], np.arange(len(columns[0]) + 1))
        return self.body.results([self.body.valued(accumulator) for accumulator in made])

    def _merged(self, states: pa.Array, waiting: pa.ListArray, bounds: Any) -> list[pa.Array]:
        made = [self.body.dumped(accumulator) for accumulator in self._made(states, waiting, bounds)]
        return [pa.array(made, self.types[0]), pa.array([[]] * len(made), self.types[1])]

    def _made(self, states: pa.Array, waiting: pa.ListArray, bounds: Any) -> Iterator[Any]:
        """Yield the accumulator of each stretch of rows."""
        body, known = self.body, states.to_pylist()
        ends = np.concatenate(([0], np.cumsum(numbers(waiting.value_lengths().cast(pa.int64()))))).tolist()
        flat = waiting.flatten()
        signs, *columns = flat.flatten()
        rows = body.values([*zip(columns, body.aggregation.types, strict=True)], len(flat))
        signs = signs.to_pylist()
        for first, last in zip(bounds.tolist(), bounds[1:].tolist(), strict=False):
            accumulator = None
            for place in range(first, last):
                data = known[place]
                if data is not None and accumulator is None:
                    accumulator = body.loaded(data)
                elif data is not None:
                    body.merged(accumulator, [body.loaded(data)])
                if ends[place] < ends[place + 1]:
                    accumulator = body.created() if accumulator is None else accumulator
                    own = slice(ends[place], ends[place + 1])
                    body.changed(accumulator, rows[own], signs[own])
            yield body.created() if accumulator is None else accumulator
