"""The keys of a look-up, in the order of an arrangement's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.chunk import Chunk
from firesteel.state.arrangements.columns import has_nulls, numbers, same_rows
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.levels import Level
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
        self._exact = not has_nulls(self._keys)
        self._leading = None if leading is None else leading[self._order]

    def find(self, level: Level) -> Iterator[tuple[Chunk, Positions, Positions]]:
        """Yield each chunk in which some are found, with pairs of a needle and the place of a row with its key."""
        chunks = [chunk for chunk in level if len(chunk)]
        if self._leading is None:
            found = self._find_in_ranges(chunks)
        else:
            found = ((chunk, *self._find_in(chunk)) for chunk in chunks)
        for chunk, needles, places in found:
            if len(needles):
                needles, places = self._right(chunk, needles, places)
            if len(needles):
                yield chunk, needles, places

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

    def _find_in_ranges(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Positions, Positions]]:
        """Find hashes: those within the range of each chunk, which may share its ends with its neighbours."""
        firsts, lasts = np.array([chunk.range for chunk in chunks], np.uint64).reshape(-1, 2).T
        starts = np.searchsorted(self._hashes, firsts).tolist()
        stops = np.searchsorted(self._hashes, lasts, "right").tolist()
        for chunk, start, stop in zip(chunks, starts, stops, strict=True):
            if start < stop:
                needles, places = _pairs(chunk, *chunk.bounds(0, self._hashes[start:stop]))
                yield chunk, needles + start, places

    def _find_in(self, chunk: Chunk) -> tuple[Positions, Positions]:
        """Find leading values, and hashes with each."""
        found = []
        for leading, start, stop in self._stretches(chunk):
            needles, places = _pairs(chunk, *chunk.bounds(leading, self._hashes[start:stop]))
            found.append((needles + start, places))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        needles, places = map(np.concatenate, zip(*found, strict=True))
        return needles, places

    def _stretches(self, chunk: Chunk) -> Iterator[tuple[int, int, int]]:
        """Yield each leading value with the range of the needles that may be in the chunk."""
        assert chunk.leading is not None
        assert self._leading is not None
        begin = int(np.searchsorted(self._leading, chunk.leading[0], "left"))
        end = int(np.searchsorted(self._leading, chunk.leading[-1], "right"))
        edges = (np.flatnonzero(np.diff(self._leading[begin:end])) + begin + 1).tolist()
        for start, stop in zip([begin, *edges], [*edges, end], strict=True):
            if start < stop:
                yield int(self._leading[start]), start, stop

    def _right(self, chunk: Chunk, needles: Positions, places: Positions) -> tuple[Positions, Positions]:
        """Return the pairs whose keys are equal, and not only their hashes."""
        if self._exact and chunk.keys.exact:
            return needles, places
        wanted = self._keys.take(pa.array(self._order[needles]))
        same = same_rows(wanted, chunk.keys.rows.take(pa.array(places)), self._columns)
        return (needles, places) if same.all() else (needles[same], places[same])


def _pairs(chunk: Chunk, first: Positions, counts: Positions) -> tuple[Positions, Positions]:
    """Return pairs of the place of a hash and that of a row with it, for what `Chunk.bounds` returns."""
    hits = np.flatnonzero(counts)
    if chunk.distinct:
        return hits, first[hits]
    counts = counts[hits]
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(hits, counts), np.repeat(first[hits], counts) + steps
