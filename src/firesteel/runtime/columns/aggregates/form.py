"""The columns of an aggregate's partial results and of its state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_field, to_arrow_schema
from firesteel.functions.columns.aggregates import GroupAggregate
from firesteel.runtime.columns.aggregates.adding import Adding, Partials
from firesteel.runtime.columns.aggregates.contents import Contents
from firesteel.runtime.columns.aggregates.functions import Function, function_of
from firesteel.runtime.columns.aggregates.parts import Columns, Count, Given, Part
from firesteel.runtime.columns.aggregates.segments import Segments, segments_of
from firesteel.runtime.columns.aggregates.stores import COUNT, ORDER, Store, StoredFields, lifted
from firesteel.runtime.columns.kernel.forms import converted
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.layout import Layout

THE_GROUP: Final = pa.field("group", pa.int32(), nullable=False)
"""The key of the only group of an aggregate without keys."""

_THE_KEY: Final = 40_106
"""Its value: one whose hash is in the first of up to 2 ** 17 key groups, as the first subtask gets all rows."""

_THE_GROUP: Final = pa.scalar(_THE_KEY, THE_GROUP.type)


class Shared(NamedTuple):
    """Stores in one arrangement of this name, and which columns of partial results have their values and weights."""

    stores: tuple[Store, ...]
    name: str
    values: slice
    weights: slice


class Form:
    """The columns of partial results: the keys, those of the accumulators' parts, and those of the stores, each once.

    >>> from firesteel.common.logical_types import BigIntType, Field, RowType
    >>> from firesteel.functions.columns.aggregates import Aggregation
    >>> row = RowType((Field("k", BigIntType()), Field("n", BigIntType())))
    >>> call = Aggregation("SUM", (1,), (BigIntType(),), BigIntType(), "SUM(n)")
    >>> form = Form(GroupAggregate(row, row, (0,), (call,)))
    >>> rows = pa.RecordBatch.from_pydict({"k": [1, 2, 1], "n": [5, None, 7]})
    >>> form.combine(form.lift(Given(rows))).rows.sort_by("k").to_pylist()
    [{'k': 1, 'sum_n': 12, 'count_n': 2}, {'k': 2, 'sum_n': 0, 'count_n': 0}]
    """

    def __init__(self, spec: GroupAggregate) -> None:
        self._places = spec.keys
        self.functions = [function_of(call, retracts=spec.retracts) for call in spec.aggregations]
        self._bodies = [function.body for function in self.functions if function.body is not None]
        self.parts = _parts(self.functions, counts=spec.retracts)
        columns = spec.input.fields
        names = _Names()
        given = spec.output.fields[: len(spec.keys)]
        keys = [to_arrow_field(names.new(field.name), field.type) for field in given]
        fields = keys or [THE_GROUP]
        self.keys = tuple(field.name for field in fields)
        self._named = tuple(field.name for field in given) or self.keys
        self._columns: dict[Part, slice] = {}
        for part in self.parts:
            name = part.label if part.argument is None else f"{part.label}_{columns[part.argument].name}"
            self._columns[part] = slice(len(fields), len(fields) + len(part.types))
            fields += [pa.field(names.new(name), kind) for kind in part.types]
        self.state = pa.schema(fields)
        self.shared: list[Shared] = []
        for number, stores in _sharing(self.functions):
            values = slice(len(fields), len(fields) + len(stores[0].arguments))
            for place in stores[0].arguments:
                field = to_arrow_field(names.new(columns[place].name), columns[place].type)
                fields.append(field.with_nullable(True))
            weights = slice(len(fields), len(fields) + len(stores))
            fields += [pa.field(names.new(store.label), pa.int64(), nullable=False) for store in stores]
            self.shared.append(Shared(stores, f"{stores[0].label}-{number}", values, weights))
        self.schema = pa.schema(fields)
        self.layout = Layout(self.state, self.keys, time_to_live=spec.time_to_live)
        self._output = to_arrow_schema(spec.output)
        self._adding = Adding(self)

    @property
    def is_one_group(self) -> bool:
        """Whether there are no keys, so that there is one group, also of no rows."""
        return not self._places

    def open(self, context: OperatorContext) -> None:
        """Open the user's functions."""
        for body in self._bodies:
            body.open(context)

    def close(self) -> None:
        """Close the user's functions."""
        for body in self._bodies:
            body.close()

    def sent(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results with the keys named as in the plan, by which an exchange finds them."""
        return self._renamed(rows, self._named)

    def received(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results that came through an exchange."""
        return self._renamed(rows, self.keys)

    def _renamed(self, rows: pa.RecordBatch, names: tuple[str, ...]) -> pa.RecordBatch:
        if self._named == self.keys:
            return rows
        return rows.rename_columns([*names, *rows.schema.names[len(names) :]])

    def lift(self, given: Given) -> pa.RecordBatch:
        """Return a partial result for each row of the input."""
        columns: list[pa.Array] = [given.rows.column(place) for place in self._places]
        if not columns:
            columns = [pa.repeat(_THE_GROUP, given.rows.num_rows)]
        for part in self.parts:
            columns += part.lift(given) if part.values_of is None else part.neutral(given.rows.num_rows)
        for shared in self.shared:
            columns += lifted(shared.stores, given)
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def of_kernel(self, found: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results of keys, and what the kernel has computed for each part."""
        count = len(self._places)
        columns = found.columns[:count] or [pa.repeat(_THE_GROUP, found.num_rows)]
        columns = [converted(column, self.state.field(place).type) for place, column in enumerate(columns)]
        for part, values in zip(self.parts, found.columns[count:], strict=True):
            columns += part.of_kernel(values)
        return pa.RecordBatch.from_arrays(columns, schema=self.state)

    def of_values(self, keys: pa.RecordBatch, store: Store, given: Given, groups: Segments) -> pa.RecordBatch:
        """Return accumulators, without the stores' columns, of values of a store that come and go, by groups."""
        columns = keys.take(pa.array(groups.firsts)).columns
        for part in self.parts:
            own = part.values_of == store
            columns += part.combine(part.lift(given), groups) if own else part.neutral(len(groups))
        return pa.RecordBatch.from_arrays(columns, schema=self.state)

    def combine(self, rows: pa.RecordBatch) -> Partials:
        """Return partial results added up by key, and by the values of the stores; later rows are later changes."""
        return self._adding.combine(rows)

    def shrink(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the same in any order; this is faster if there are few keys."""
        return self._adding.shrink(rows)

    def reduce(self, rows: pa.RecordBatch, groups: Segments) -> pa.RecordBatch:
        """Return one accumulator for each group of accumulators."""
        columns = rows.select(self.keys).take(pa.array(groups.firsts)).columns
        for part in self.parts:
            columns += part.combine(self.of(part, rows), groups)
        return pa.RecordBatch.from_arrays(columns, schema=self.state)

    def merge(self, earlier: pa.RecordBatch, later: pa.RecordBatch) -> pa.RecordBatch:
        """Return accumulators with what came later; both have the same keys, row by row."""
        columns = earlier.columns[: len(self.keys)]
        for part in self.parts:
            columns += part.merge(self.of(part, earlier), self.of(part, later))
        return pa.RecordBatch.from_arrays(columns, schema=self.state)

    def settled(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return accumulators as they are kept: with nothing that waits to be added."""
        if not self._bodies:
            return rows
        columns = rows.columns[: len(self.keys)]
        for part in self.parts:
            columns += part.settled(self.of(part, rows))
        return pa.RecordBatch.from_arrays(columns, schema=self.state)

    def results(self, rows: pa.RecordBatch, contents: Mapping[Store, Contents]) -> list[pa.Array]:
        """Return the column of each aggregation; `contents` are those of the stores that are read whole."""
        return [
            function.contents(contents[function.store])
            if function.contents is not None and function.store is not None
            else function.result([self.of(part, rows) for part in function.parts])
            for function in self.functions
        ]

    def table(self, rows: pa.RecordBatch, contents: Mapping[Store, Contents]) -> pa.RecordBatch:
        """Return keys and results of accumulators; for `contents` see `results`."""
        columns = [*rows.columns[: len(self._places)], *self.results(rows, contents)]
        return pa.RecordBatch.from_arrays(columns, schema=self._output)

    def of(self, part: Part, rows: pa.RecordBatch) -> Columns:
        """Return the columns of a part."""
        columns: Columns = rows.columns[self._columns[part]]
        return columns

    def place_of(self, part: Part) -> int:
        """Return the place of the first column of a part."""
        return int(self._columns[part].start)

    def accumulators(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return partial results without the columns of stores."""
        return rows.select(self.state.names) if self.shared else rows

    def groups(self, rows: pa.RecordBatch) -> Segments:
        """Return the groups of rows with equal keys."""
        keys = rows.select(self.keys)
        exact = self.layout.exact and not keys.column(0).null_count
        return segments_of(keys, self.layout.hash_of(keys), exact=exact)

    def layout_of(self, shared: Shared, max_parallelism: int) -> Layout:
        """Return the layout of the arrangement of some stores."""
        fields = list(self.schema)
        keys, life, count = fields[: len(self.keys)], self.layout.time_to_live, len(shared.stores)
        kept = StoredFields(keys, fields[shared.values], life, max_parallelism, count)
        return shared.stores[0].layout(kept)

    def completed(self, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
        """Return partial results of which some columns are given, the keys among them; the others are of no row."""
        count = len(columns[self.keys[0]])
        found = dict(columns)
        for part in self.parts:
            names = self.state.names[self._columns[part]]
            if names[0] not in found:
                found |= dict(zip(names, part.neutral(count), strict=True))
        for name in self.schema.names[len(self.state) :]:
            if name not in found:
                kind = self.schema.field(name)
                found[name] = (
                    pa.nulls(count, kind.type) if kind.nullable else pa.array(np.zeros(count, np.int64))
                )
        return pa.RecordBatch.from_arrays([found[name] for name in self.schema.names], schema=self.schema)

    def only_group(self) -> pa.RecordBatch:
        """Return the accumulator of the only group when it has no rows; for aggregates without keys."""
        columns = [pa.array([_THE_KEY], THE_GROUP.type)]
        for part in self.parts:
            columns += part.neutral(1)
        return pa.RecordBatch.from_arrays(columns, schema=self.state)


class _Names:
    """Names of columns, each once."""

    def __init__(self) -> None:
        self._used = {COUNT.name, ORDER.name}

    def new(self, wanted: str) -> str:
        """Return a name that is not used yet, like the one that is wanted."""
        stem = wanted.lstrip("$") or "column"
        name, number = stem, 1
        while name in self._used:
            number += 1
            name = f"{stem}_{number}"
        self._used.add(name)
        return name


def _parts(functions: Sequence[Function], *, counts: bool) -> tuple[Part, ...]:
    """Return each part once; with `counts`, the number of rows comes first."""
    parts: dict[Part, None] = dict.fromkeys((Count(None, None),) if counts else ())
    for function in functions:
        parts.update(dict.fromkeys(function.parts))
    return tuple(parts)


def _sharing(functions: Sequence[Function]) -> Iterator[tuple[int, tuple[Store, ...]]]:
    """Yield the stores of functions that are in one arrangement, with the number of the first of them."""
    stores = [*dict.fromkeys(function.store for function in functions if function.store is not None)]
    by_arrangement: dict[Store, list[int]] = {}
    for number, store in enumerate(stores):
        by_arrangement.setdefault(store.together_with(), []).append(number)
    for first, *others in by_arrangement.values():
        yield first, tuple(stores[number] for number in (first, *others))
