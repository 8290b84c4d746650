"""The calls of an OVER window: what is kept of rows for them, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.runtime.columns.aggregates.contents import Contents
from firesteel.runtime.columns.aggregates.functions import Function, function_of, of_values
from firesteel.runtime.columns.aggregates.parts import Columns, Given, Part
from firesteel.runtime.columns.aggregates.stores import Bag, Store
from firesteel.runtime.columns.aggregates.values import netted
from firesteel.runtime.columns.over.frames import Frames, Pairs, earlier_equals
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import Mask
from firesteel.state.arrangements.sorting import Positions

RANKS: Final = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK"})
"""Functions that count the rows of the frame. So does RANK in Flink's streams: rows with one time have the rank of the
last of them."""

OFFSETS: Final = frozenset({"LAG", "LEAD"})
"""Functions of a row at a distance, whatever the frame is."""

OF_WHOLE_PARTITIONS: Final = frozenset({"LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST"})
"""Functions that need rows after the current one."""

Values = Mapping[Part, Columns]
"""The columns of each part, for the frame of each row."""


class Calls:
    """What the calls keep of rows: the `lifted` accumulators of each row alone, then the values of `raw` columns.

    `parts` are those of all accumulators. The ones with a store are made of different values, and not of rows.
    """

    def __init__(self, given: RowType, aggregations: Sequence[Aggregation]) -> None:
        self.all = tuple(aggregations)
        self._functions = [None if call.function in OFFSETS else _function(call) for call in aggregations]
        known = [function for function in self._functions if function is not None]
        self._bodies = [function.body for function in known if function.body is not None]
        self.parts = tuple(dict.fromkeys(part for function in known for part in function.parts))
        self.lifted = tuple(part for part in self.parts if part.values_of is None)
        self.stores = tuple(dict.fromkeys(function.store for function in known if function.store is not None))
        self.distinct = tuple(
            store for store in self.stores if any(part.values_of == store for part in self.parts)
        )
        self.offsets = tuple(call for call in aggregations if call.function in OFFSETS)
        raw = {place for store in self.stores for place in store.arguments}
        self.raw = sorted(raw | {call.arguments[0] for call in self.offsets})
        self.types = to_arrow_schema(given).types

    @property
    def kept(self) -> list[pa.Field]:
        """The fields that `lift` gives."""
        raw = [pa.field(f"c{place}", self.types[place]) for place in self.raw]
        return [*accumulators(self.lifted), *raw]

    @property
    def recalled_places(self) -> list[int]:
        """The places of raw values that a frame without a bound needs of earlier rows."""
        stores = {place for store in self.stores if store not in self.distinct for place in store.arguments}
        return sorted(stores | {call.arguments[0] for call in self.offsets})

    @property
    def recalled(self) -> list[pa.Field]:
        """The fields of these."""
        return [pa.field(f"c{place}", self.types[place]) for place in self.recalled_places]

    @property
    def contents(self) -> bool:
        """Whether a call needs all values of its frame."""
        return any(function is not None and function.contents is not None for function in self._functions)

    def open(self, context: OperatorContext) -> None:
        """Open the user's functions."""
        for body in self._bodies:
            body.open(context)

    def close(self) -> None:
        """Close the user's functions."""
        for body in self._bodies:
            body.close()

    def lift(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the accumulators of each row alone, then the raw values."""
        given = Given(rows)
        lifted = [column for part in self.lifted for column in part.lift(given)]
        return [*lifted, *(rows.column(place) for place in self.raw)]

    def lift_distinct(self, rows: pa.RecordBatch, store: Store, fresh: Mask) -> dict[Part, list[pa.Array]]:
        """Return the columns of the parts of a store for each row; only rows with `fresh` values count."""
        columns = [pc.if_else(pa.array(fresh), rows.column(place), None) for place in store.arguments]
        return self._of_store(store, columns)

    def over_frames(self, columns: Columns, codes: Positions, frames: Frames) -> list[pa.Array]:
        """Return the results of all calls but offsets over frames; `columns` are those of `lift`, for all rows."""
        values: dict[Part, Columns] = {}
        place = 0
        for part in self.lifted:
            values[part] = frames.part(part, columns[place : place + len(part.types)])
            place += len(part.types)
        raw = dict(zip(self.raw, columns[place:], strict=True))
        for store in self.distinct:
            mine = [raw[argument] for argument in store.arguments]
            earlier = earlier_equals(codes, mine)
            for part, lifted in self._of_store(store, mine).items():
                values[part] = frames.part_of_distinct(part, lifted, earlier)
        return self.results(values, raw, frames)

    def results(self, values: Values, raw: Mapping[int, pa.Array], frames: Frames | None) -> list[pa.Array]:
        """Return the results of all calls but offsets; `frames` and the `raw` values are for those of contents."""
        found = []
        for function in self._functions:
            if function is None:
                continue
            if function.contents is None:
                found.append(function.result([values[part] for part in function.parts]))
            else:
                assert frames is not None
                found.append(_of_contents(function, raw, frames))
        return found

    def together(self, results: Sequence[pa.Array], offsets: Sequence[pa.Array]) -> list[pa.Array]:
        """Return the results of all calls in their order; `offsets` are those of LAG and LEAD."""
        others, found = iter(results), iter(offsets)
        return [
            typed(next(found if function is None else others), call)
            for function, call in zip(self._functions, self.all, strict=True)
        ]

    def _of_store(self, store: Store, columns: Columns) -> dict[Part, list[pa.Array]]:
        names = [str(place) for place in range(len(columns))]
        given = Given(pa.RecordBatch.from_arrays(columns, names=names))
        return {part: part.lift(given) for part in self.parts if part.values_of == store}


def accumulators(parts: Sequence[Part]) -> list[pa.Field]:
    """Return the fields of the columns of parts."""
    kinds = [kind for part in parts for kind in part.types]
    return [pa.field(f"p{order}", kind) for order, kind in enumerate(kinds)]


def offset(
    call: Aggregation, rows: pa.RecordBatch, values: pa.Array, wanted: Positions, missing: Mask
) -> pa.Array:
    """Return what LAG or LEAD gives of the `wanted` places of `values`; where they are `missing`, the default."""
    found = values.take(pa.array(np.where(missing, 0, wanted), mask=missing)).cast(to_arrow(call.type))
    if len(call.arguments) < 3 or not missing.any():
        return found
    default = rows.column(call.arguments[2]).cast(to_arrow(call.type))
    return pc.if_else(pa.array(missing), default, found)


def typed(column: pa.Array, call: Aggregation) -> pa.Array:
    """Return the results of a call in its type."""
    kind = to_arrow(call.type)
    return column if column.type == kind else column.cast(kind)


def _function(call: Aggregation) -> Function:
    if call.function in RANKS:
        call = replace(call, function="COUNT", arguments=(), types=(), distinct=False)
    return function_of(call, retracts=False) if call.user is None else of_values(call)


def require_streamable(calls: Sequence[Aggregation], who: str) -> None:
    """Raise UnsupportedError for functions that need rows after the current one."""
    for call in calls:
        if call.function in OF_WHOLE_PARTITIONS:
            raise UnsupportedError("is not supported in streams, as in Flink", who=f"{who}: {call.shown}")


def _of_contents(function: Function, raw: Mapping[int, pa.Array], frames: Frames) -> pa.Array:
    store, make = function.store, function.contents
    assert store is not None
    assert make is not None
    columns = [raw[place] for place in store.arguments]
    valid = np.ones(len(columns[0]), np.bool_)
    if not store.nulls:
        for column in columns:
            valid &= np.asarray(column.is_valid())
    found = [make(_contents(store, pairs, columns, valid)) for pairs in frames.pairs()]
    return pa.concat_arrays(found) if found else make(_contents(store, _NO_PAIRS, columns, valid))


_NO_PAIRS: Final = Pairs(0, np.zeros(0, np.int64), np.zeros(0, np.int64))


def _contents(store: Store, pairs: Pairs, columns: Columns, valid: Mask) -> Contents:
    counted = valid[pairs.members]
    owners, members = pairs.owners[counted], pairs.members[counted]
    taken = [column.take(pa.array(members)) for column in columns]
    weights = np.ones(len(owners), np.int64)
    if isinstance(store, Bag):
        return netted(pairs.rows, owners, taken, weights)
    return Contents(pairs.rows, owners, taken, weights)
