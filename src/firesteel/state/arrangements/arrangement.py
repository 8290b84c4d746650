"""An arrangement: rows of a relational operator's state, looked up by keys or read in ranges.

Contract, for one operator subtask: `put` or `change` and the reads in any order; a read sees all changes before it. At
the end of an epoch `changes` returns what the epoch changed, consolidated, and starts the next epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.chunk import Chunk, chunk_of, merged
from firesteel.state.arrangements.columns import Numbers, numbers
from firesteel.state.arrangements.consolidation import survivors
from firesteel.state.arrangements.layout import WEIGHT, Layout
from firesteel.state.arrangements.levels import CHUNK_ROWS, Level, Levels, Shelf, cut_up, pieces, rows_of
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
        self._chunk_rows = chunk_rows
        self._shelf = shelf
        self._committed = Levels(layout, shelf, chunk_rows=chunk_rows)
        self._epoch = self._new_epoch()

    @property
    def shelf(self) -> Shelf:
        """Where chunks are kept."""
        return self._committed.shelf

    def load(self, level: Level) -> None:
        """Add a level of committed changes, newer than those loaded before."""
        self._committed.add(level)

    def put(self, rows: pa.RecordBatch) -> None:
        """Put rows: each replaces the one with its keys (upsert), or is added (multiset)."""
        self.change(rows, np.ones(rows.num_rows, np.int64))

    def delete(self, rows: pa.RecordBatch) -> None:
        """Delete the row with the keys of each row (upsert), or remove it once (multiset)."""
        self.change(rows, np.full(rows.num_rows, -1, np.int64))

    def change(self, rows: pa.RecordBatch, weights: Numbers) -> None:
        """Put rows with weights above 0 and delete those with weights below 0."""
        if rows.num_rows:
            self._epoch.add((chunk_of(self.layout, rows, weights),))

    def get(self, keys: pa.RecordBatch) -> Found:
        """Return the rows of an upsert arrangement with some keys (and leading values), of each key at most one.

        `keys` has these columns; each key occurs once in it.
        """
        needles = Needles(self.layout, keys)
        parts: list[pa.RecordBatch] = []
        owners: list[Positions] = []
        for level in self._newest_first():
            taken = []
            for chunk in level:
                found, places = needles.find(chunk)
                if len(found):
                    parts.append(chunk.batch.take(pa.array(places)))
                    owners.append(needles.keys_at(found))
                    taken.append(found)
            if taken:
                needles.take_out(np.concatenate(taken))
        if not parts:
            return self._nothing()
        batch, keys_of = _joined(parts, owners)
        weights = numbers(batch.column(WEIGHT))
        alive = weights > 0
        if not alive.all():
            batch, keys_of, weights = batch.filter(pa.array(alive)), keys_of[alive], weights[alive]
        return Found(keys_of, batch.select(self.layout.rows.names), weights)

    def of(self, keys: pa.RecordBatch) -> Found:
        """Return all rows with some keys (and leading values), each once with its weight, in no particular order.

        `keys` has these columns; each key occurs once in it.
        """
        needles = Needles(self.layout, keys)
        parts: list[pa.RecordBatch] = []
        owners: list[Positions] = []
        for chunk in chain.from_iterable(self._oldest_first()):
            found, places = needles.find(chunk)
            if len(found):
                parts.append(chunk.batch.take(pa.array(places)))
                owners.append(needles.keys_at(found))
        if not parts:
            return self._nothing()
        batch, keys_of = _joined(parts, owners)
        left, weights = survivors(self.layout, batch)
        alive = weights > 0
        left, weights = left[alive], weights[alive]
        return Found(keys_of[left], batch.take(pa.array(left)).select(self.layout.rows.names), weights)

    def up_to(self, leading: int) -> pa.RecordBatch:
        """Return all rows with a leading value of at most this, in their order."""
        chunks: list[Chunk] = []
        for level in self._oldest_first():
            chunks.extend(chunk.slice(0, stop) for chunk in level if (stop := chunk.up_to(leading)))
        if not chunks:
            return self._nothing().rows
        rows = merged(self.layout, chunks, whole=True).batch
        return rows.select(self.layout.rows.names)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, in parts, in their order; a row of a multiset occurs once, however large its weight is."""
        for chunk in self._merged(self._oldest_first(), whole=True):
            yield chunk.batch.select(self.layout.rows.names)

    def changes(self) -> Level:
        """Return the changes of the epoch, consolidated, and start the next one, which sees them as committed."""
        level = tuple(self._merged([*self._epoch.newest_first()][::-1], whole=False))
        self._epoch = self._new_epoch()
        self._committed.add(level)
        return level

    def committed_levels(self) -> tuple[Level, ...]:
        """Return the levels of committed changes, oldest first; `restore` takes them back."""
        return self._committed.all()

    def restore(self, levels: tuple[Level, ...]) -> None:
        """Go back to a state that `committed_levels` returned, or to the empty one; drop the epoch's changes."""
        self._committed.restore(levels)
        self._epoch = self._new_epoch()

    def settle(self) -> None:
        """Complete all merges of levels that are due."""
        self._committed.settle()

    def level_sizes(self) -> list[int]:
        """Return the number of rows of each level of committed changes, newest first."""
        return [rows_of(level) for level in self._committed.newest_first()]

    def _new_epoch(self) -> Levels:
        return Levels(self.layout, self._shelf, chunk_rows=self._chunk_rows, whole=False)

    def _newest_first(self) -> Iterator[Level]:
        yield from self._epoch.newest_first()
        yield from self._committed.newest_first()

    def _oldest_first(self) -> list[Level]:
        return [*self._newest_first()][::-1]

    def _merged(self, levels: list[Level], *, whole: bool) -> Iterator[Chunk]:
        if not levels:
            return
        for piece in pieces(levels, self._chunk_rows):
            chunk = merged(self.layout, piece, whole=whole)
            yield from cut_up(chunk, self._chunk_rows, self.shelf)

    def _nothing(self) -> Found:
        empty = pa.RecordBatch.from_arrays(
            [pa.array([], kind) for kind in self.layout.rows.types], schema=self.layout.rows
        )
        return Found(np.zeros(0, np.int64), empty, np.zeros(0, np.int64))


def _joined(parts: list[pa.RecordBatch], owners: list[Positions]) -> tuple[pa.RecordBatch, Positions]:
    if len(parts) == 1:
        return parts[0], owners[0]
    return pa.concat_batches(parts), np.concatenate(owners)
