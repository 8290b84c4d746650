"""The stored values of all groups of an aggregate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.aggregates import GroupAggregate
from firesteel.runtime.columns.aggregates.chosen import Chosen
from firesteel.runtime.columns.aggregates.contents import Contents
from firesteel.runtime.columns.aggregates.form import Form, Shared
from firesteel.runtime.columns.aggregates.parts import Given
from firesteel.runtime.columns.aggregates.stores import Bag, Distinct, Log, Store
from firesteel.runtime.columns.aggregates.values import (
    Moves,
    bag_contents,
    by_owner,
    extremes,
    log_contents,
    transitions,
)
from firesteel.state.arrangements.arrangement import Arrangement
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
            shared.name: arrangements.declare(shared.name, form.layout_of(shared, max_parallelism))
            for shared in form.shared
        }
        self._read_whole = {function.store for function in form.functions if function.contents is not None}
        self._next = 0

    def begin_epoch(self, epoch: int) -> None:
        """Start an epoch."""
        self._next = epoch << _EPOCH_BITS

    def touched(self, partials: pa.RecordBatch) -> tuple[pa.RecordBatch, list[Moves]]:
        """Return one accumulator for each key of partial results, and the values that come and go.

        Values that are counted once have come or gone already, and are in the accumulators.
        """
        form = self._form
        if not form.shared:
            return partials, []
        groups = form.groups(partials)
        owners = np.empty(partials.num_rows, np.int64)
        owners[groups.order] = groups.groups
        moves = [self._moves(shared, partials, owners) for shared in form.shared]
        rows, owned_by = [form.reduce(form.accumulators(partials), groups)], [np.arange(len(groups))]
        for shared, moved in zip(form.shared, moves, strict=True):
            if isinstance(shared.stores[0], Distinct) and len(moved.owners):
                for found, found_by in self._of_distinct(shared, moved):
                    rows.append(found)
                    owned_by.append(found_by)
        if len(rows) == 1:
            return rows[0], moves
        return form.reduce(pa.concat_batches(rows), by_owner(np.concatenate(owned_by))), moves

    def _of_distinct(self, shared: Shared, moves: Moves) -> Iterator[tuple[pa.RecordBatch, Positions]]:
        """Yield accumulators of the values of each store that are new or gone, with the numbers of their groups."""
        form, width = self._form, len(self._form.keys)
        changes = transitions(self._arrangements[shared.name], moves, counts=self._counts)
        for store, (places, signs) in zip(shared.stores, changes, strict=True):
            values = moves.rows.take(pa.array(places))
            given = Given(
                pa.RecordBatch.from_arrays(values.columns[width:], values.schema.names[width:]), signs
            )
            owners = moves.owners[places]
            groups = by_owner(owners)
            yield form.of_values(values.select(form.keys), store, given, groups), owners[groups.firsts]

    def settle(
        self, old: pa.RecordBatch, new: pa.RecordBatch, moves: Sequence[Moves], places: Positions
    ) -> tuple[pa.RecordBatch, dict[Store, Contents], dict[Store, Contents]]:
        """Return the new accumulators with their extremes, and the contents of the groups before and after.

        `places` are those of the groups, which `moves` are numbered by, in `new`; the first of these have `old` ones.
        """
        before: dict[Store, Contents] = {}
        after: dict[Store, Contents] = {}
        keys = new.select(self._form.keys)
        for shared, moved in zip(self._form.shared, moves, strict=True):
            store, arrangement = shared.stores[0], self._arrangements[shared.name]
            moved = Moves(moved.rows, places[moved.owners], moved.weights)
            if store in self._read_whole:
                change = log_contents if isinstance(store, Log) else bag_contents
                before[store], after[store] = change(arrangement, keys, moved)
            elif isinstance(store, Bag):
                arrangement.change(moved.rows, moved.weights)
            if isinstance(store, Bag):
                new = self._with_extremes(store, arrangement, old, new, moved)
        return new, before, after

    def contents(self, keys: pa.RecordBatch) -> dict[Store, Contents]:
        """Return the contents of groups in the stores that are read whole."""
        nothing = np.zeros(0, np.int64)
        contents = {}
        for shared in self._form.shared:
            store, arrangement = shared.stores[0], self._arrangements[shared.name]
            if store in self._read_whole:
                change = log_contents if isinstance(store, Log) else bag_contents
                none = Moves(pa.RecordBatch.from_pylist([], arrangement.layout.rows), nothing, nothing)
                contents[store], _ = change(arrangement, keys, none)
        return contents

    def _moves(self, shared: Shared, partials: pa.RecordBatch, owners: Positions) -> Moves:
        """Return the values of some stores that partial results bring."""
        form, columns = self._form, partials.columns
        first, *others = weights = [numbers(column) for column in columns[shared.weights]]
        rows = [*columns[: len(form.keys)], *columns[shared.values]]
        if isinstance(shared.stores[0], Log):
            rows.append(pa.array(np.arange(self._next, self._next + len(owners))))
            self._next += len(owners)
        schema = pa.schema(list(self._arrangements[shared.name].layout.rows)[: len(rows)])
        moves = Moves(pa.RecordBatch.from_arrays(rows, schema=schema), owners, first, tuple(others))
        return moves.where(np.any([each != 0 for each in weights], axis=0))

    def _with_extremes(
        self, store: Bag, arrangement: Arrangement, old: pa.RecordBatch, new: pa.RecordBatch, moves: Moves
    ) -> pa.RecordBatch:
        """Return accumulators with the extremes of a bag that has been changed."""
        form = self._form
        for part in form.parts:
            if not isinstance(part, Chosen) or part.values_of != store:
                continue
            place = form.place_of(part)
            missing = pa.nulls(new.num_rows - old.num_rows, part.types[0])
            current = pa.concat_arrays([old.column(place), missing])
            column = extremes(part, current, arrangement, moves, new.select(form.keys))
            new = new.set_column(place, form.state.field(place), column)
        return new
