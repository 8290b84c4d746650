"""What a join keeps of one input: its rows by their keys, with the number of their partners where that matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.joins import Join, Side
from firesteel.runtime.columns.aggregates.segments import segments_of
from firesteel.runtime.columns.joins.changes import Weighted
from firesteel.runtime.columns.materialize.entries import groups_of
from firesteel.state.arrangements.arrangement import Arrangement, Found
from firesteel.state.arrangements.columns import Numbers, numbers
from firesteel.state.arrangements.hashing import hash_columns
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_PARTNERS: Final = "partners"
_ROWS_AT_ONCE: Final = 1 << 18
_ONLY: Final = "only"
"""The key of all rows of a join without keys."""


class Partners(NamedTuple):
    """Rows of one side that have certain keys: row `i` has key `keys[i]`, is there `weights[i]` times, and each has
    `partners[i]` partners (0 where that does not matter)."""

    keys: Positions
    rows: pa.RecordBatch
    weights: Numbers
    partners: Numbers


class JoinSide:
    """One input of a join.

    Columns are named by their places, so that the names of two inputs never meet.
    """

    def __init__(self, join: Join, side: Side) -> None:
        self.schema = to_arrow_schema(join.sides[side])
        self.counts = join.counts(side)
        keys = join.keys[side]
        self._columns = [pa.field(f"c{place}", field.type) for place, field in enumerate(self.schema)]
        self._names = [field.name for field in self._columns]
        self._keys = [f"c{place}" for place in keys] or [_ONLY]
        self._has_keys = bool(keys)
        fields = [*self._columns]
        if not keys:
            fields.append(pa.field(_ONLY, pa.int8(), nullable=False))
        if self.counts:
            fields.append(pa.field(_PARTNERS, pa.int64(), nullable=False))
        self._time_to_live = join.times_to_live[side]
        self._layout = Layout(
            pa.schema(fields), tuple(self._keys), Kind.MULTISET, time_to_live=self._time_to_live
        )

    def declare(self, arrangements: LiveArrangements, name: str) -> None:
        """Declare the arrangement of the rows."""
        self.rows: Arrangement = arrangements.declare(name, self._layout)

    def keyed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the keys of rows, as columns named as those of this side."""
        if self._has_keys:
            places = [int(name[1:]) for name in self._keys]
            return pa.RecordBatch.from_arrays([rows.column(place) for place in places], names=self._keys)
        return pa.RecordBatch.from_arrays([pa.array(np.zeros(rows.num_rows, np.int8))], names=self._keys)

    def parts_with_keys(self, keys: pa.RecordBatch) -> Iterator[Partners]:
        """Yield the rows that have some keys, each of which occurs once; columns stand in the order of this side's.

        They come in parts, for one key may have more rows than there is memory for. Rows that are stored or moved
        meanwhile are not seen.
        """
        return map(self._partners, self.rows.in_parts(self._named(keys), _ROWS_AT_ONCE))

    def _named(self, keys: pa.RecordBatch) -> pa.RecordBatch:
        """Return keys as columns of the arrangement."""
        return pa.RecordBatch.from_arrays(
            [
                column.cast(self._layout.rows.field(name).type)
                for column, name in zip(keys.columns, self._keys, strict=True)
            ],
            names=self._keys,
        )

    def _partners(self, found: Found) -> Partners:
        rows = pa.RecordBatch.from_arrays(found.rows.select(self._names).columns, schema=self.schema)
        none = np.zeros(rows.num_rows, np.int64)
        partners = numbers(found.rows.column(_PARTNERS)) if self.counts else none
        return Partners(found.keys, rows, found.weights, partners)

    def all(self) -> Iterator[tuple[pa.RecordBatch, Numbers, Numbers]]:
        """Yield all rows, in parts, with their weights and the numbers of their partners, if these count."""
        if not self.counts:
            return
        for kept, weights in self.rows.weighted():
            rows = pa.RecordBatch.from_arrays(kept.select(self._names).columns, schema=self.schema)
            yield rows, weights, numbers(kept.column(_PARTNERS))

    def store(self, changes: Weighted, partners: Numbers) -> None:
        """Add and remove rows with these numbers of partners."""
        self.rows.change(self._stored(changes.rows, partners), changes.weights)

    def move(self, rows: pa.RecordBatch, weights: Numbers, before: Numbers, after: Numbers) -> None:
        """Change the numbers of partners of rows that are kept."""
        self.rows.change(self._stored(rows, before), -weights)
        self.rows.change(self._stored(rows, after), weights)

    def known_partners(self, changes: Weighted, partners: Numbers) -> tuple[Weighted, Numbers]:
        """Return changes with the numbers of partners with which the rows that go are kept.

        These are others than there are if partners have expired since. A row that has itself expired cannot go.
        """
        if self._time_to_live is None or not (self.counts and (changes.weights < 0).any()):
            return changes, partners
        keys = groups_of(self.keyed(changes.rows), self._keys)
        mine = np.full(len(changes.weights), -1)
        for found in self.parts_with_keys(self.keyed(changes.rows.take(pa.array(keys.firsts)))):
            every = pa.concat_batches([found.rows, changes.rows])
            groups = segments_of(every, hash_columns(every.columns))
            kept = np.full(len(groups), -1)
            kept[groups.numbers[: found.rows.num_rows]] = found.partners
            mine = np.maximum(mine, kept[groups.numbers[found.rows.num_rows :]])
        goes = changes.weights < 0
        there = ~goes | (mine >= 0)
        return changes.where(there), np.where(goes, mine, partners)[there]

    def _stored(self, rows: pa.RecordBatch, partners: Numbers) -> pa.RecordBatch:
        columns = [*rows.columns]
        if not self._has_keys:
            columns.append(pa.array(np.zeros(rows.num_rows, np.int8)))
        if self.counts:
            columns.append(pa.array(partners))
        return pa.RecordBatch.from_arrays(columns, schema=self._layout.rows)
