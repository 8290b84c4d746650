"""The keys of a look-up, in the order of an arrangement's rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.chunk import Chunk
from firesteel.state.arrangements.columns import has_nulls, numbers, same_rows
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.sorting import Positions, order_by


class Needles:
    """Keys that are looked for, sorted by their words, so that each search goes through a chunk once.

    A needle is the place of a key in that order; `keys_at` returns the places of the keys as they were given.
    """

    def __init__(self, layout: Layout, keys: pa.RecordBatch, hashes: Words | None = None) -> None:
        self._layout = layout
        self._columns = list(layout.keys)
        leading = None if layout.leading is None else numbers(keys.column(layout.leading))
        if hashes is None:
            hashes = layout.hash_of(keys)
        self._order, self._hashes = order_by(leading, hashes)
        self._keys = keys.select(self._columns)
        self._leading = None if leading is None else leading[self._order]

    def find(self, chunk: Chunk) -> tuple[Positions, Positions]:
        """Return pairs of a needle and the place of a row with its key in the chunk."""
        needles, places = [], []
        for leading, start, stop in self._stretches(chunk):
            first, counts = chunk.bounds(leading, self._hashes[start:stop])
            hits = np.flatnonzero(counts)
            if chunk.distinct:
                needles.append(hits + start)
                places.append(first[hits])
            else:
                counts = counts[hits]
                needles.append(np.repeat(hits + start, counts))
                steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
                places.append(np.repeat(first[hits], counts) + steps)
        if not needles:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return self._right(chunk, np.concatenate(needles), np.concatenate(places))

    def keys_at(self, needles: Positions) -> Positions:
        """Return the places of keys in the batch that was given."""
        return self._order[needles]

    def take_out(self, needles: Positions) -> None:
        """Look for some needles no longer."""
        keep = np.ones(len(self._order), np.bool_)
        keep[needles] = False
        self._order, self._hashes = self._order[keep], self._hashes[keep]
        if self._leading is not None:
            self._leading = self._leading[keep]

    def _stretches(self, chunk: Chunk) -> Iterator[tuple[int, int, int]]:
        """Yield each leading value with the range of the needles that may be in the chunk."""
        if not len(self._hashes) or not len(chunk):
            return
        if self._leading is None:
            start, stop = np.searchsorted(self._hashes, chunk.hashes[[0, -1]])
            stop += np.searchsorted(self._hashes[stop:], chunk.hashes[-1], "right")
            yield 0, int(start), int(stop)
            return
        assert chunk.leading is not None
        begin = int(np.searchsorted(self._leading, chunk.leading[0], "left"))
        end = int(np.searchsorted(self._leading, chunk.leading[-1], "right"))
        edges = (np.flatnonzero(np.diff(self._leading[begin:end])) + begin + 1).tolist()
        for start, stop in zip([begin, *edges], [*edges, end], strict=True):
            if start < stop:
                yield int(self._leading[start]), start, stop

    def _right(self, chunk: Chunk, needles: Positions, places: Positions) -> tuple[Positions, Positions]:
        """Return the pairs whose keys are equal, and not only their hashes."""
        stored = chunk.batch.select(self._columns)
        if not len(needles) or (self._layout.exact and not has_nulls(stored) and not has_nulls(self._keys)):
            return needles, places
        wanted = self._keys.take(pa.array(self._order[needles]))
        same = same_rows(wanted, stored.take(pa.array(places)), self._columns)
        return (needles, places) if same.all() else (needles[same], places[same])
