"""An arrangement: rows of a relational operator's state, looked up by keys or read in ranges.

Contract, for one operator subtask: `put` or `change` and the reads in any order; a read sees all changes before it. At
the end of an epoch `changes` returns what the epoch changed, consolidated, and starts the next epoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.changes import Changes
from firesteel.state.arrangements.chunk import Chunk, chunk_of, merged, visible
from firesteel.state.arrangements.columns import Numbers, numbers, rows_at
from firesteel.state.arrangements.consolidation import left_of, survivors
from firesteel.state.arrangements.drops import Drop, joined
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.layout import IDENTITY, WEIGHT, Layout
from firesteel.state.arrangements.levels import (
    CHUNK_ROWS,
    Form,
    Level,
    Levels,
    Shelf,
    cut_up,
    merged_levels,
    rows_of,
)
from firesteel.state.arrangements.needles import Needles
from firesteel.state.arrangements.sorting import Positions


@dataclass(frozen=True)
class Found:
    """The rows that belong to some keys: `rows[i]`, which counts `weights[i]` times, belongs to key `keys[i]`."""

    keys: Positions
    rows: pa.RecordBatch
    weights: Numbers


class Arrangement:
    """The state of one relation in one operator subtask.

    >>> layout = Layout(pa.schema([("key", pa.string()), ("count", pa.int64())]), ("key",))
    >>> arrangement = Arrangement(layout)
    >>> arrangement.put(pa.RecordBatch.from_pydict({"key": ["a", "b"], "count": [1, 2]}))
    >>> arrangement.put(pa.RecordBatch.from_pydict({"key": ["b"], "count": [3]}))
    >>> found = arrangement.get(pa.RecordBatch.from_pydict({"key": ["c", "b"]}))
    >>> found.keys.tolist(), found.rows.to_pylist()
    ([1], [{'key': 'b', 'count': 3}])
    """

    def __init__(self, layout: Layout, shelf: Shelf | None = None, *, chunk_rows: int = CHUNK_ROWS) -> None:
        self.layout = layout
        self.now = 0
        self._chunk_rows = chunk_rows
        self._drops: tuple[Drop, ...] = ()
        self._committed = Levels(layout, shelf, chunk_rows=chunk_rows)
        self._begin()

    @property
    def shelf(self) -> Shelf:
        """Where chunks are kept."""
        return self._committed.shelf

    def advance(self, now: int) -> None:
        """Set the clock, which decides what has expired, to the processing time (milliseconds) of an epoch that begins.

        Time never goes back.
        """
        self.now = now
        self._committed.expire(now)

    def load(self, changes: Changes) -> None:
        """Add committed changes, newer than those loaded before."""
        self._committed.drop(changes.drops)
        self._committed.add(changes.level)

    def put(self, rows: pa.RecordBatch, hashes: Words | None = None) -> None:
        """Put rows: each replaces the one with its keys (upsert), or is added (multiset).

        `hashes` are those of the keys (`Layout.hash_of`), from whoever has them.
        """
        self.change(rows, np.ones(rows.num_rows, np.int64), hashes)

    def delete(self, rows: pa.RecordBatch) -> None:
        """Delete the row with the keys of each row (upsert), or remove it once (multiset)."""
        self.change(rows, np.full(rows.num_rows, -1, np.int64))

    def change(self, rows: pa.RecordBatch, weights: Numbers, hashes: Words | None = None) -> None:
        """Put rows with weights above 0 and delete those with weights below 0."""
        if rows.num_rows:
            self._epoch.add((chunk_of(self.layout, rows, weights, self.now, hashes),))

    def drop_up_to(self, leading: int) -> None:
        """Delete all rows with a leading value of at most this; it costs the same for any number of rows.

        Rows that are put afterwards are not concerned. Raises ValueError if the layout has no leading column.
        """
        if self.layout.leading is None:
            raise ValueError(f"the layout has no leading column: {self.layout}")
        drop = Drop(leading)
        self._epoch.drop([drop])
        if self._committed.drop([drop]):
            self._drops = joined((*self._drops, drop))

    def get(self, keys: pa.RecordBatch, hashes: Words | None = None) -> Found:
        """Return the rows of an upsert arrangement with some keys (and leading values), of each key at most one.

        `keys` has these columns; each key occurs once in it. `hashes` are those of the keys, from whoever has them.
        """
        layout = self.layout
        search = _Search(layout, keys, hashes, [*layout.rows.names, *layout.times, WEIGHT])
        for level in self._newest_first():
            search.newest(level)
        return self._found(*search.changes())

    def of(self, keys: pa.RecordBatch) -> Found:
        """Return all rows with some keys (and leading values), each once with its weight, in no particular order.

        `keys` has these columns; each key occurs once in it.
        """
        return self._together(self._hits(keys))

    def in_parts(self, keys: pa.RecordBatch, most: int) -> Iterator[Found]:
        """Yield what `of` returns, of a multiset, in parts of about `most` changes; a row is in one of them.

        Changes that are made meanwhile are not seen. So a key may have more rows than there is memory for.
        """
        hits = self._hits(keys)
        count = -(-sum(len(hit.places) for hit in hits) // most)
        if count <= 1:
            yield self._together(hits)
            return
        cut = [hit.cut(count) for hit in hits]
        for number in range(count):
            yield self._together([parts[number] for parts in cut])

    def up_to(self, leading: int, *, after: int | None = None) -> pa.RecordBatch:
        """Return all rows with a leading value of at most this, and above `after` if it is given, in their order."""
        chunks: list[Chunk] = []
        for level in self._oldest_first():
            for chunk in level:
                start, stop = 0 if after is None else chunk.up_to(after), chunk.up_to(leading)
                if start < stop:
                    chunks.append(chunk.slice(start, stop))
        if not chunks:
            return pa.RecordBatch.from_pylist([], self.layout.rows)
        return self._visible(merged(self.layout, chunks, whole=True))

    def least(self) -> int | None:
        """Return a leading value that no row is below of, which some row has had; None if nothing was ever stored."""
        firsts = (chunk.first().leading for level in self._newest_first() for chunk in level if len(chunk))
        return min(firsts, default=None)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, in parts, in their order; a row of a multiset occurs once, however large its weight is."""
        for rows, _ in self.weighted():
            yield rows

    def weighted(self) -> Iterator[tuple[pa.RecordBatch, Numbers]]:
        """Yield all rows as `rows` does, with their weights."""
        for chunk in merged_levels(self.layout, self._oldest_first(), self._chunk_rows, whole=True):
            yield self._weighted(chunk)

    def changes(self) -> Changes:
        """Return the changes of the epoch, consolidated, and start the next one, which sees them as committed."""
        chunks = merged_levels(self.layout, self._epoch.all(), self._chunk_rows, whole=False)
        level = tuple(part for chunk in chunks for part in cut_up(chunk, self._chunk_rows, self.shelf))
        changes = Changes(level, self._drops)
        self._begin()
        self._committed.add(level)
        return changes

    def committed(self) -> Form:
        """Return the committed changes as they lie in levels; `restore` takes them back."""
        return self._committed.form()

    def restore(self, form: Form) -> None:
        """Go back to what `committed` returned, here or in another process; drop the epoch's changes."""
        self._committed.restore(form)
        self._begin()

    def settle(self) -> None:
        """Complete all merges of levels that are due."""
        self._committed.settle()

    def level_sizes(self) -> list[int]:
        """Return the number of rows of each level of committed changes, newest first."""
        return [rows_of(level) for level in self._committed.newest_first()]

    def _begin(self) -> None:
        self._epoch = Levels(self.layout, self.shelf, chunk_rows=self._chunk_rows, whole=False)
        self._drops = ()

    def _newest_first(self) -> Iterator[Level]:
        yield from self._epoch.newest_first()
        yield from self._committed.newest_first()

    def _oldest_first(self) -> list[Level]:
        return [*self._newest_first()][::-1]

    def _hits(self, keys: pa.RecordBatch) -> list[_Hit]:
        needles = Needles(self.layout, keys, None)
        return [
            _Hit(chunk.batch, needles.keys_at(found), places)
            for level in self._oldest_first()
            for chunk, found, places in needles.find(level)
        ]

    def _together(self, hits: Sequence[_Hit]) -> Found:
        """Return the rows that changes come to, all of which are among them."""
        batch, keys_of = pa.RecordBatch.from_pylist([], self.layout.stored), np.zeros(0, np.int64)
        if hits:
            batch = pa.concat_batches([rows_at(hit.batch, hit.places) for hit in hits])
            keys_of = np.concatenate([hit.keys for hit in hits])
        left = survivors(self.layout, batch)
        return self._found(left_of(self.layout, batch, left), keys_of[left.places])

    def _found(self, batch: pa.RecordBatch, keys: Positions) -> Found:
        there = visible(batch, self.layout.expired_at(self.now))
        if not there.all():
            batch, keys = batch.filter(pa.array(there)), keys[there]
        return Found(keys, batch.select(self.layout.rows.names), numbers(batch.column(WEIGHT)))

    def _visible(self, chunk: Chunk) -> pa.RecordBatch:
        return self._weighted(chunk)[0]

    def _weighted(self, chunk: Chunk) -> tuple[pa.RecordBatch, Numbers]:
        there = visible(chunk.batch, self.layout.expired_at(self.now))
        batch = chunk.batch if there.all() else chunk.batch.filter(pa.array(there))
        return batch.select(self.layout.rows.names), numbers(batch.column(WEIGHT))


class _Hit(NamedTuple):
    """Changes in a chunk that belong to keys: the one at `places[i]` to key `keys[i]`."""

    batch: pa.RecordBatch
    keys: Positions
    places: Positions

    def cut(self, count: int) -> list[_Hit]:
        """Return the changes in parts by their identity, so that all changes of a row are in one."""
        identity = np.asarray(self.batch.column(IDENTITY))[self.places]
        parts = ((identity >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
        order = np.argsort(parts, kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(count + 1).astype(np.uint64))
        return [
            _Hit(self.batch, self.keys[order[start:stop]], self.places[order[start:stop]])
            for start, stop in pairwise(bounds.tolist())
        ]


class _Search:
    """The changes that belong to some keys, from several levels: some of their columns."""

    def __init__(
        self,
        layout: Layout,
        keys: pa.RecordBatch,
        hashes: Words | None,
        columns: list[str],
    ) -> None:
        self._layout = layout
        self._columns = columns
        self._needles = Needles(layout, keys, hashes)
        self._parts: list[pa.RecordBatch] = []
        self._keys: list[Positions] = []

    def add(self, level: Level) -> list[Positions]:
        """Find the changes in a level; return the needles that were found."""
        taken = []
        for chunk, found, places in self._needles.find(level):
            self._parts.append(rows_at(chunk.batch.select(self._columns), places))
            self._keys.append(self._needles.keys_at(found))
            taken.append(found)
        return taken

    def newest(self, level: Level) -> None:
        """Find the changes in a level, and look in others no longer for the keys that have one."""
        if taken := self.add(level):
            self._needles.take_out(np.concatenate(taken))

    def changes(self) -> tuple[pa.RecordBatch, Positions]:
        """Return all changes that were found, and the place of the key of each."""
        if not self._parts:
            return pa.RecordBatch.from_pylist([], self._layout.stored), np.zeros(0, np.int64)
        if len(self._parts) == 1:
            return self._parts[0], self._keys[0]
        return pa.concat_batches(self._parts), np.concatenate(self._keys)
