"""A chunk: rows of an arrangement in their order, each once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.columns import Mask, Numbers, has_nulls, numbers
from firesteel.state.arrangements.consolidation import consolidated
from firesteel.state.arrangements.drops import HASHES, Drop
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.layout import HASH, IDENTITY, WEIGHT, WRITTEN, Kind, Layout
from firesteel.state.arrangements.sorting import Positions, same_as_next

_HALF: Final = np.uint64(32)


class Cut(NamedTuple):
    """A place in the order of rows: before all rows with these words. `leading` is 0 if the layout has none.

    `identity` is the upper half of the identity of a multiset's row, 0 in others; so the rows of one key can be cut.
    """

    leading: int
    hash: np.uint64
    identity: np.uint64 = np.uint64(0)


class Place(NamedTuple):
    """Where the rows of a chunk are: in a file that processes share, from row `start` on."""

    file: str
    start: int


class Kept(NamedTuple):
    """Rows that are kept somewhere; `place` is None if other processes cannot find them there."""

    rows: pa.RecordBatch
    place: Place | None = None


class StoredKeys(NamedTuple):
    """The keys of rows; `exact`: equal hashes mean that they equal other keys without NULL."""

    rows: pa.RecordBatch
    exact: bool


class Chunk:
    """Sorted rows with their weights, as one Arrow batch; it never changes.

    The words and weights share the batch's memory, which may be that of a mapped file.
    """

    __slots__ = (
        "_distinct",
        "_keys",
        "_newest",
        "_range",
        "batch",
        "hashes",
        "layout",
        "leading",
        "place",
        "weights",
    )

    def __init__(self, layout: Layout, batch: pa.RecordBatch, place: Place | None = None) -> None:
        self.layout = layout
        self.place = place
        self.batch = batch
        self.hashes: Words = batch.column(HASH).to_numpy()
        self.weights: Numbers = numbers(batch.column(WEIGHT))
        self.leading: Numbers | None = None
        if layout.leading is not None:
            self.leading = numbers(batch.column(layout.leading))
        self._distinct: bool | None = None
        self._keys: StoredKeys | None = None
        self._newest: int | None = None
        self._range: tuple[np.uint64, np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    def slice(self, start: int, stop: int) -> Chunk:
        """Return the rows from `start` to `stop` (exclusive), without a copy."""
        place = None if self.place is None else Place(self.place.file, self.place.start + start)
        return Chunk(self.layout, self.batch.slice(start, stop - start), place)

    def between(self, first: int, end: int) -> Chunk:
        """Return the rows whose hash is at least `first` and less than `end` (at most 2 ** 64)."""
        if self.leading is None:
            start, stop = (
                int(np.searchsorted(self.hashes, np.uint64(bound))) if bound < HASHES else len(self)
                for bound in (first, end)
            )
            return self.slice(start, stop)
        return _filtered(self, _within(self.hashes, first, end))

    def cut_at(self, place: int) -> Cut:
        """Return the words of the row at a place."""
        leading = 0 if self.leading is None else int(self.leading[place])
        identity = self._identities(place, place + 1)
        return Cut(leading, self.hashes[place], identity[0] if len(identity) else np.uint64(0))

    def first(self) -> Cut:
        """Return the words of the first row."""
        return self.cut_at(0)

    def position(self, cut: Cut, side: Literal["left", "right"] = "left") -> int:
        """Return how many rows are before a cut, or (`right`) before it and at it."""
        start, stop = self.with_leading(cut.leading)
        hashes = self.hashes[start:stop]
        first, end = (start + int(np.searchsorted(hashes, cut.hash, which)) for which in ("left", "right"))
        if self.layout.kind is Kind.UPSERT:
            return first if side == "left" else end
        return first + int(np.searchsorted(self._identities(first, end), cut.identity, side))

    def _identities(self, start: int, stop: int) -> Words:
        """Return the upper halves of the identities of rows, in which rows with equal words are sorted."""
        if self.layout.kind is Kind.UPSERT:
            return np.zeros(0, np.uint64)
        found: Words = self.batch.column(IDENTITY).slice(start, stop - start).to_numpy() >> _HALF
        return found

    def with_leading(self, leading: int) -> tuple[int, int]:
        """Return where the rows with a leading value begin and end; all rows if the layout has none."""
        if self.leading is None:
            return 0, len(self)
        start = np.searchsorted(self.leading, leading, "left")
        stop = np.searchsorted(self.leading, leading, "right")
        return int(start), int(stop)

    def up_to(self, leading: int) -> int:
        """Return how many rows have a leading value of at most this."""
        return len(self) if self.leading is None else int(np.searchsorted(self.leading, leading, "right"))

    def without(self, drop: Drop) -> Chunk:
        """Return the rows that a range delete leaves: this chunk if it leaves all, without a copy if it is simple."""
        stop = self.up_to(drop.leading)
        if not stop:
            return self
        rest = self.slice(stop, len(self))
        if drop.everywhere:
            return rest
        before = self.slice(0, stop)
        gone = _within(before.hashes, drop.first, drop.end)
        if not gone.any():
            return self
        kept = before.batch.filter(pa.array(~gone))
        return (
            Chunk(self.layout, pa.concat_batches([kept, rest.batch]))
            if len(rest)
            else Chunk(self.layout, kept)
        )

    def bounds(self, leading: int, hashes: Words) -> tuple[Positions, Positions]:
        """Return where the rows with this leading value and each of the hashes, which ascend, begin, and how many."""
        first, last = self.with_leading(leading)
        stretch = self.hashes[first:last]
        starts = np.searchsorted(stretch, hashes, "left")
        counts = np.zeros(len(hashes), np.int64)
        if len(stretch):
            hit = stretch[np.minimum(starts, len(stretch) - 1)] == hashes
            if self.distinct:
                counts[hit] = 1
            else:
                counts[hit] = np.searchsorted(stretch, hashes[hit], "right") - starts[hit]
        return starts + first, counts

    @property
    def distinct(self) -> bool:
        """Whether no two rows with one leading value have the same hash."""
        if self._distinct is None:
            self._distinct = not same_as_next(self.leading, self.hashes).any()
        return self._distinct

    @property
    def range(self) -> tuple[np.uint64, np.uint64]:
        """The first and the last hash; there is at least one row."""
        if self._range is None:
            self._range = self.hashes[0], self.hashes[-1]
        return self._range

    @property
    def keys(self) -> StoredKeys:
        """The columns of the keys."""
        if self._keys is None:
            rows = self.batch.select(list(self.layout.keys))
            self._keys = StoredKeys(rows, self.layout.exact and not has_nulls(rows))
        return self._keys

    @property
    def newest(self) -> int:
        """The newest write time; for layouts with a time to live."""
        if self._newest is None:
            self._newest = int(numbers(self.batch.column(WRITTEN)).max())
        return self._newest


def chunk_of(
    layout: Layout, rows: pa.RecordBatch, weights: Numbers, now: int = 0, hashes: Words | None = None
) -> Chunk:
    """Return changes, in any order, that are written at a time, as a chunk.

    `rows` have the layout's columns, and `hashes` are those of their keys, if they are known. If several rows have one
    identity, an upsert takes the last of them, a multiset the sum of their weights.
    """
    words = [pa.array(layout.hash_of(rows) if hashes is None else hashes)]
    if layout.kind is Kind.MULTISET:
        words.append(pa.array(layout.identity_of(rows)))
    times = [pa.array(np.full(rows.num_rows, now)) for _ in layout.times]
    columns = [*words, *(rows.column(name) for name in layout.rows.names), *times, pa.array(weights)]
    batch = pa.RecordBatch.from_arrays(columns, schema=layout.stored)
    return Chunk(layout, consolidated(layout, batch))


def merged(layout: Layout, chunks: Sequence[Chunk], *, whole: bool, expired: int | None = None) -> Chunk:
    """Return the changes of chunks, oldest first, as one chunk; `whole`: nothing older exists, so deletes go.

    Rows that were last written at `expired` (None: none) or before go, too; see `lifetimes`.
    """
    if len(chunks) == 1:
        result = chunks[0]
    else:
        result = Chunk(layout, consolidated(layout, pa.concat_batches([chunk.batch for chunk in chunks])))
    return _filtered(result, _needed(result, whole, expired))


def visible(batch: pa.RecordBatch, expired: int | None) -> Mask:
    """Return which of some consolidated changes are rows that exist."""
    there: Mask = numbers(batch.column(WEIGHT)) > 0
    if expired is not None:
        there &= numbers(batch.column(WRITTEN)) > expired
    return there


def _within(hashes: Words, first: int, end: int) -> Mask:
    """Return which hashes are at least `first` and less than `end`."""
    within: Mask = hashes >= np.uint64(first)
    if end < HASHES:
        within &= hashes < np.uint64(end)
    return within


def _needed(chunk: Chunk, whole: bool, expired: int | None) -> Mask:
    needed: Mask = np.ones(len(chunk), np.bool_)
    layout = chunk.layout
    if expired is not None:
        needed &= numbers(chunk.batch.column(WRITTEN)) > expired
    if layout.kind is Kind.UPSERT:
        return needed & (chunk.weights > 0) if whole else needed
    if whole:
        needed &= chunk.weights != 0
    return needed


def _filtered(chunk: Chunk, needed: Mask) -> Chunk:
    return chunk if needed.all() else Chunk(chunk.layout, chunk.batch.filter(pa.array(needed)))
