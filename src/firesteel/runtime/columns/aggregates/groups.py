"""The groups of an aggregate in arrangements, and how they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.aggregates import GroupAggregate
from firesteel.runtime.columns.aggregates.adding import Partials
from firesteel.runtime.columns.aggregates.contents import Contents
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.stored import StoredValues
from firesteel.runtime.columns.aggregates.stores import Store
from firesteel.runtime.columns.batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, ColumnBatch, Kinds
from firesteel.state.arrangements.columns import Mask, numbers, rows_at, same_rows
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_Change = tuple[np.int8, pa.RecordBatch]


class _Touched(NamedTuple):
    """Groups that an epoch touches: `old` are the accumulators of the first of them, `new` those of all.

    `hashes` are those of the keys of `new`, if they are known.
    """

    old: pa.RecordBatch
    new: pa.RecordBatch
    hashes: Words | None
    before: Mapping[Store, Contents]
    after: Mapping[Store, Contents]


class Groups:
    """The accumulators of all groups of a subtask.

    Contract: `apply` adds partial results, as `Form.combine` returns them, and returns the changes of the results: old
    rows before new ones. A group begins with its first row, and with `retracts` it ends when none is left. A result
    that stays the same is no change; but with a time to live a receiver has to see that the group is alive, and arrays
    and maps are not compared.
    """

    def __init__(
        self, spec: GroupAggregate, form: Form, arrangements: LiveArrangements, max_parallelism: int
    ) -> None:
        self._spec = spec
        self._form = form
        self._arrangement = arrangements.declare("groups", form.layout)
        self._stored = StoredValues(spec, form, arrangements, max_parallelism)
        results = [*to_arrow_schema(spec.output)][len(spec.keys) :]
        self._results = [field.name for field in results]
        self._comparable = spec.time_to_live is None and not any(
            pa.types.is_nested(field.type) for field in results
        )

    def begin_epoch(self, epoch: int) -> None:
        """Start an epoch."""
        self._stored.begin_epoch(epoch)

    def apply(self, partials: Partials) -> ColumnBatch | None:
        """Add partial results; return the changes, if there are any."""
        touched = self._touch(partials)
        known = touched.old.num_rows
        alive = self._alive(touched.new)
        self._store(touched, alive)
        before = self._form.table(
            touched.old, {store: of.of(np.arange(known)) for store, of in touched.before.items()}
        )
        after = self._form.table(touched.new, touched.after)
        there = alive[:known]
        changed = there.copy()
        if self._comparable:
            changed &= ~same_rows(before, after.slice(0, known), self._results)
        changes: list[_Change] = [(DELETE, _where(before, ~there))]
        if self._spec.update_before:
            changes.append((UPDATE_BEFORE, _where(before, changed)))
        changes.append((UPDATE_AFTER, _where(after.slice(0, known), changed)))
        changes.append((INSERT, _where(after.slice(known), alive[known:])))
        return _joined(changes)

    def store(self, partials: Partials) -> None:
        """Add partial results without a look at what changes."""
        touched = self._touch(partials)
        self._store(touched, self._alive(touched.new))

    def all(self) -> Iterator[ColumnBatch]:
        """Yield the results of all groups, as inserts."""
        some = False
        for rows in self._arrangement.rows():
            some = some or rows.num_rows > 0
            yield ColumnBatch(self._form.table(rows, self._stored.contents(rows.select(self._form.keys))))
        if not some and self._form.is_one_group:
            rows = self._form.only_group()
            yield ColumnBatch(self._form.table(rows, self._stored.contents(rows.select(self._form.keys))))

    def _touch(self, partials: Partials) -> _Touched:
        """Look up the groups of partial results, and add these to them."""
        form = self._form
        touched, moves = self._stored.touched(partials.rows)
        hashes = None if form.shared else partials.hashes
        found = self._arrangement.get(touched.select(form.keys), hashes)
        known, fresh = found.keys, _others(touched.num_rows, found.keys)
        new = form.settled(rows_at(touched, fresh))
        if len(known):
            merged = form.merge(found.rows, rows_at(touched, known))
            new = pa.concat_batches([merged, new]) if len(fresh) else merged
        if not form.shared:
            places = np.concatenate((known, fresh))
            return _Touched(found.rows, new, None if hashes is None else hashes[places], {}, {})
        places = np.empty(touched.num_rows, np.int64)
        places[np.concatenate((known, fresh))] = np.arange(touched.num_rows)
        new, before, after = self._stored.settle(found.rows, new, moves, places)
        return _Touched(found.rows, new, None, before, after)

    def _store(self, touched: _Touched, alive: Mask) -> None:
        """Put the groups that have rows, and delete those that had some."""
        known = touched.old.num_rows
        hashes = touched.hashes
        self._arrangement.put(_where(touched.new, alive), None if hashes is None else hashes[alive])
        if not alive[:known].all():
            self._arrangement.delete(_where(touched.new.slice(0, known), ~alive[:known]))

    def _alive(self, rows: pa.RecordBatch) -> Mask:
        """Return which groups have rows."""
        if not self._spec.retracts:
            return np.ones(rows.num_rows, np.bool_)
        (count,) = self._form.of(self._form.parts[0], rows)
        return numbers(count) > 0


def _others(count: int, places: Positions) -> Positions:
    """Return the places below `count` that are not among some."""
    others = np.ones(count, np.bool_)
    others[places] = False
    return np.flatnonzero(others)


def _where(rows: pa.RecordBatch, mask: Mask) -> pa.RecordBatch:
    return rows if mask.all() else rows.filter(pa.array(mask))


def _joined(changes: Sequence[_Change]) -> ColumnBatch | None:
    changes = [change for change in changes if change[1].num_rows]
    if not changes:
        return None
    if len(changes) == 1 and changes[0][0] == INSERT:
        return ColumnBatch(changes[0][1])
    kinds: Kinds = np.concatenate([np.full(rows.num_rows, kind) for kind, rows in changes])
    return ColumnBatch(pa.concat_batches([rows for _, rows in changes]), kinds)
