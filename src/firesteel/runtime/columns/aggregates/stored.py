"""The stored values of all groups of an aggregate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.aggregates import GroupAggregate
from firesteel.runtime.columns.aggregates.contents import Contents
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.parts import Chosen, Given
from firesteel.runtime.columns.aggregates.stores import Bag, Distinct, Log, Store
from firesteel.runtime.columns.aggregates.values import (
    Moves,
    bag_contents,
    by_owner,
    extremes,
    log_contents,
    transitions,
)
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_EPOCH_BITS: Final = 32
"""The order of a value is its epoch and then its number in the epoch, of so many bits."""


class StoredValues:
    """The stores of an aggregate in their arrangements."""

    def __init__(
        self, spec: GroupAggregate, form: Form, arrangements: LiveArrangements, max_parallelism: int
    ) -> None:
        self._form = form
        self._counts = spec.retracts or spec.time_to_live is not None
        self._arrangements = {
            store: arrangements.declare(f"{store.label}-{number}", form.layout_of(store, max_parallelism))
            for number, store in enumerate(form.stores)
        }
        self._read_whole = {function.store for function in form.functions if function.contents is not None}
        self._next = 0

    def begin_epoch(self, epoch: int) -> None:
        """Start an epoch."""
        self._next = epoch << _EPOCH_BITS

    def touched(self, partials: pa.RecordBatch) -> tuple[pa.RecordBatch, dict[Store, Moves]]:
        """Return one accumulator for each key of partial results, and the values that come and go.

        Values that are counted once have come or gone already, and are in the accumulators.
        """
        form = self._form
        if not form.stores:
            return partials, {}
        groups = form.groups(partials)
        owners = np.empty(partials.num_rows, np.int64)
        owners[groups.order] = groups.groups
        moves = {store: self._moves(store, partials, owners) for store in form.stores}
        rows, owned_by = [form.accumulators(partials)], [owners]
        for store, moved in moves.items():
            if isinstance(store, Distinct) and len(moved.owners):
                places, signs = transitions(self._arrangements[store], moved, counts=self._counts)
                values = moved.rows.take(pa.array(places))
                width = len(form.keys)
                columns = values.columns[width:]
                given = Given(pa.RecordBatch.from_arrays(columns, values.schema.names[width:]), signs)
                rows.append(form.lift_values(values.select(form.keys), store, given))
                owned_by.append(moved.owners[places])
        if len(rows) > 1:
            groups = by_owner(np.concatenate(owned_by))
        return form.reduce(pa.concat_batches(rows), groups), moves

    def settle(
        self, old: pa.RecordBatch, new: pa.RecordBatch, moves: Mapping[Store, Moves], places: Positions
    ) -> tuple[pa.RecordBatch, dict[Store, Contents], dict[Store, Contents]]:
        """Return the new accumulators with their extremes, and the contents of the groups before and after.

        `places` are those of the groups, which `moves` are numbered by, in `new`; the first of these have `old` ones.
        """
        before: dict[Store, Contents] = {}
        after: dict[Store, Contents] = {}
        keys = new.select(self._form.keys)
        for store, arrangement in self._arrangements.items():
            moved = moves[store]
            moved = Moves(moved.rows, places[moved.owners], moved.weights)
            if store in self._read_whole:
                change = log_contents if isinstance(store, Log) else bag_contents
                before[store], after[store] = change(arrangement, keys, moved)
            elif isinstance(store, Bag):
                arrangement.change(moved.rows, moved.weights)
            if isinstance(store, Bag):
                new = self._with_extremes(store, old, new, moved)
        return new, before, after

    def contents(self, keys: pa.RecordBatch) -> dict[Store, Contents]:
        """Return the contents of groups in the stores that are read whole."""
        nothing = np.zeros(0, np.int64)
        contents = {}
        for store, arrangement in self._arrangements.items():
            if store in self._read_whole:
                change = log_contents if isinstance(store, Log) else bag_contents
                none = Moves(pa.RecordBatch.from_pylist([], arrangement.layout.rows), nothing, nothing)
                contents[store], _ = change(arrangement, keys, none)
        return contents

    def _moves(self, store: Store, partials: pa.RecordBatch, owners: Positions) -> Moves:
        """Return the values of a store that partial results bring."""
        form = self._form
        columns = form.stores[store]
        weights = numbers(partials.column(columns.stop - 1))
        rows = [*partials.columns[: len(form.keys)], *partials.columns[columns][:-1]]
        schema = self._arrangements[store].layout.rows
        if isinstance(store, Log):
            rows.append(pa.array(np.arange(self._next, self._next + len(owners))))
            self._next += len(owners)
        elif isinstance(store, Distinct):
            schema = pa.schema(list(schema)[:-1])
        moves = Moves(pa.RecordBatch.from_arrays(rows, schema=schema), owners, weights)
        return moves.where(weights != 0)

    def _with_extremes(
        self, store: Bag, old: pa.RecordBatch, new: pa.RecordBatch, moves: Moves
    ) -> pa.RecordBatch:
        """Return accumulators with the extremes of a bag that has been changed."""
        form = self._form
        for part in form.parts:
            if not isinstance(part, Chosen) or part.values_of != store:
                continue
            place = form.place_of(part)
            missing = pa.nulls(new.num_rows - old.num_rows, part.types[0])
            current = pa.concat_arrays([old.column(place), missing])
            column = extremes(part, current, self._arrangements[store], moves, new.select(form.keys))
            new = new.set_column(place, form.state.field(place), column)
        return new
