"""The tables of the materializing operators: entries by primary key, changed by batches of changes."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import Field, RowType, TinyIntType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.sinks import Materialization
from firesteel.runtime.columns.arrivals import ARRIVAL, numbered, numbered_schema
from firesteel.runtime.columns.batch import DELETE, INSERT, UPDATE_AFTER, ColumnBatch
from firesteel.runtime.columns.materialize.entries import (
    Entries,
    entries_by_key,
    entries_left,
    groups_of,
)
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.columns import Numbers, numbers, same_rows
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.sorting import Positions

_ONLY: Final = Field("only", TinyIntType(nullable=False))


class Applied(NamedTuple):
    """What changes make of the entries of the keys that they touch.

    `rows` are the old entries and then the changes, `codes` the number of the key of each, `old` how many old ones
    there are. `entries` are those left.
    """

    rows: pa.RecordBatch
    codes: Positions
    old: int
    entries: Entries


class KeyedEntries:
    """The entries of all keys of a subtask; `names` are the columns of the primary key within the state."""

    def __init__(self, spec: Materialization) -> None:
        self._schema = to_arrow_schema(spec.row)
        self.stored = numbered_schema(self._schema)
        self.names = [f"c{place}" for place in spec.key]
        self._columns = self.stored.names[:-1]
        told_apart = sorted({*spec.key, *spec.upsert_key}) if spec.upsert_key else range(len(self._columns))
        self._by_key = bool(spec.upsert_key)
        self._identity = [f"c{place}" for place in told_apart]
        self._time_to_live = spec.time_to_live

    @property
    def layout(self) -> Layout:
        """The layout of an arrangement of entries."""
        return Layout(self.stored, tuple(self.names), Kind.MULTISET, time_to_live=self._time_to_live)

    def numbered(self, batch: ColumnBatch, first: int) -> pa.RecordBatch:
        """Return the rows of a batch as they are stored, numbered from `first` on."""
        return numbered(batch, first, self.stored)

    def apply(self, arrangement: Arrangement, changes: pa.RecordBatch, signs: Numbers) -> Applied:
        """Return what changes, in their order, make of the entries in an arrangement, which stays as it is."""
        keys = groups_of(changes, self.names)
        found = arrangement.of(changes.select(self.names).take(pa.array(keys.firsts)))
        by_arrival = np.argsort(numbers(found.rows.column(ARRIVAL)), kind="stable")
        old = found.rows.take(pa.array(by_arrival))
        codes = np.empty(changes.num_rows, np.int64)
        codes[keys.order] = keys.groups
        rows = pa.concat_batches([old, changes]) if old.num_rows else changes
        every = np.concatenate((np.ones(old.num_rows, np.int64), signs))
        arrivals = numbers(rows.column(ARRIVAL))
        if self._by_key:
            left = entries_by_key(groups_of(rows, self._identity), every, arrivals)
        else:
            left = entries_left(rows, self._identity, every, arrivals)
        return Applied(rows, np.concatenate((found.keys[by_arrival], codes)), old.num_rows, left)

    def store(self, arrangement: Arrangement, applied: Applied, kept: Entries) -> None:
        """Replace the old entries by others."""
        places, arrivals = kept
        stays = np.zeros(applied.old, np.bool_)
        stays[places[places < applied.old]] = True
        arrangement.delete(applied.rows.slice(0, applied.old).filter(pa.array(~stays)))
        fresh = places >= applied.old
        rows = applied.rows.take(pa.array(places[fresh]))
        columns = [*rows.columns[:-1], pa.array(arrivals[fresh])]
        arrangement.put(pa.RecordBatch.from_arrays(columns, schema=self.stored))

    def refresh(self, arrangement: Arrangement, applied: Applied, signs: Numbers) -> None:
        """Begin the time to live of the entries that stay anew, if their key has changed.

        As in Flink, where the entries of a key are one value: adding one writes it, removing one that is not there
        does not. `signs` are those of the changes.
        """
        if self._time_to_live is None:
            return
        old, places = applied.codes[: applied.old], applied.entries.places
        count = int(applied.codes.max(initial=-1)) + 1
        left = np.bincount(applied.codes[places], minlength=count)
        written = left < np.bincount(old, minlength=count)
        written[applied.codes[applied.old :][signs > 0]] = True
        stays = places[places < applied.old]
        stays = stays[written[old[stays]]]
        arrangement.change(applied.rows.take(pa.array(stays)), np.zeros(len(stays), np.int64))

    def passing(self, applied: Applied, signs: Numbers) -> ColumnBatch | None:
        """Return deletes of the keys whose rows have come and gone within the changes; none without a time to live.

        What has expired is still written. Flink writes the row that comes over it, and then deletes it.
        """
        if self._time_to_live is None:
            return None
        codes = applied.codes
        known = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
        known[codes[: applied.old]] = True
        known[codes[applied.entries.places]] = True
        came = applied.old + np.flatnonzero((signs > 0) & ~known[codes[applied.old :]])
        if not len(came):
            return None
        rows = applied.rows.take(pa.array(came[lasts(codes[came])])).columns[:-1]
        found = pa.RecordBatch.from_arrays(rows, schema=self._schema)
        return ColumnBatch(found, np.full(found.num_rows, DELETE))

    def changed(self, applied: Applied, was: Positions, now: Positions) -> ColumnBatch | None:
        """Return how the written rows change: places in `rows`, at most one for each key, before and after."""
        count = int(applied.codes.max(initial=-1)) + 1
        old, new = np.full(count, -1), np.full(count, -1)
        old[applied.codes[was]] = was
        new[applied.codes[now]] = now
        gone = old[(old >= 0) & (new < 0)]
        fresh = new[(old < 0) & (new >= 0)]
        both = (old >= 0) & (new >= 0)
        updated = new[both]
        first, second = (applied.rows.take(pa.array(side[both])) for side in (old, new))
        updated = updated[~same_rows(first, second, self._columns)]
        places = np.concatenate((gone, updated, fresh))
        if not len(places):
            return None
        kinds = np.repeat(np.array([DELETE, UPDATE_AFTER, INSERT]), (len(gone), len(updated), len(fresh)))
        rows = applied.rows.take(pa.array(places)).columns[:-1]
        return ColumnBatch(pa.RecordBatch.from_arrays(rows, schema=self._schema), kinds)


class PartitionEntries(KeyedEntries):
    """The rows of all partitions, of which there may be one only: without keys, all rows share a column."""

    def __init__(self, row: RowType, keys: tuple[int, ...], time_to_live: int | None = None) -> None:
        self._alone = not keys
        if not keys:
            row, keys = RowType((*row.fields, _ONLY), nullable=False), (len(row.fields),)
        super().__init__(Materialization(row, keys, (), time_to_live=time_to_live))

    def numbered(self, batch: ColumnBatch, first: int) -> pa.RecordBatch:
        """Return the rows of a batch as they are stored, numbered from `first` on."""
        if self._alone:
            only = pa.array(np.zeros(len(batch), np.int8))
            batch = ColumnBatch(batch.rows.append_column(_ONLY.name, only))
        return super().numbered(batch, first)


def lasts(codes: Positions) -> Positions:
    """Return the place of the last row of each key.

    >>> lasts(np.array([0, 1, 0])).tolist()
    [2, 1]
    """
    found = np.full(int(codes.max(initial=-1)) + 1, -1)
    found[codes] = np.arange(len(codes))
    return found[found >= 0]


def firsts(codes: Positions) -> Positions:
    """Return the place of the first row of each key.

    >>> firsts(np.array([0, 1, 0])).tolist()
    [0, 1]
    """
    return len(codes) - 1 - lasts(codes[::-1])
