"""Levels: the changes of an arrangement in chunks, from the oldest to the newest, and their merges.

A level is a sorted sequence of chunks with disjoint ranges. Levels are kept few: four levels of about one size are
merged into one, and a level that is smaller than the one after it is merged with that, so there are at most three or
four levels of each power of four, and a row is rewritten about log4(rows of the state / rows of an epoch) times.
Merging two at a time would halve the levels that are read, and rewrite each row twice as often. A merge is done in
steps, a chunk at a time. Each row that arrives pays for some rows of every merge under way (`MERGED_PER_ROW`), so
that no epoch waits for the merge of a large state. Until a merge is complete, its levels are read. This is the
fuelled merge of differential dataflow's trace (McSherry, Lattuada, Schwarzkopf, Roscoe: Shared Arrangements, VLDB
2020) with the tiers of a log-structured merge tree (Luo and Carey: LSM-based storage techniques, VLDB Journal 2020).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import is_not
from typing import Final, Protocol

import pyarrow as pa

from firesteel.state.arrangements.chunk import Chunk, Cut, Kept, merged
from firesteel.state.arrangements.drops import Drop, joined
from firesteel.state.arrangements.layout import Kind, Layout

CHUNK_ROWS: Final = 1 << 17
"""About the rows of a chunk: a step of a merge takes some ten milliseconds, and a look-up in a chunk some ten
microseconds besides what its keys cost."""

MERGED_TOGETHER: Final = 4
"""The levels of about one size that are merged into one."""

MERGED_PER_ROW: Final = 4
"""The rows that a merge reads for each row that arrives. The next merge of a size is due when about as many rows have
arrived as this one reads, at least a quarter of them, so 4 completes each merge in time."""

Level = tuple[Chunk, ...]


class Shelf(Protocol):
    """Where chunks are kept: in memory, or in files that are mapped."""

    def keep(self, batch: pa.RecordBatch) -> Kept:
        """Return the same rows, wherever they are kept."""


class InMemory:
    """Keeps chunks in memory."""

    def keep(self, batch: pa.RecordBatch) -> Kept:
        return Kept(batch)


@dataclass(frozen=True)
class Begun:
    """A merge under way: of `count` levels from number `at` on, up to `cut` (None: from the start).

    `chunks` are what it has come to; `credit` is the number of rows that it may still read.
    """

    at: int
    count: int
    cut: Cut | None
    chunks: Level
    credit: int


@dataclass(frozen=True)
class Form:
    """The levels of an arrangement, oldest first, and the merges under way."""

    levels: tuple[Level, ...] = ()
    merges: tuple[Begun, ...] = ()


class Levels:
    """The levels of one arrangement.

    Contract: `add` the newest level; `newest_first` to read. `add` advances the merges that are due in proportion to
    the rows added; `settle` completes them. `whole` means that nothing exists besides these levels, so that a delete in
    the oldest one has nothing to delete.

    >>> import numpy as np
    >>> from firesteel.state.arrangements.chunk import chunk_of
    >>> layout = Layout(pa.schema([("key", pa.int64()), ("count", pa.int64())]), ("key",))
    >>> levels = Levels(layout)
    >>> for count in (1, 2, 3, 4):
    ...     rows = pa.RecordBatch.from_pydict({"key": [7], "count": [count]})
    ...     levels.add((chunk_of(layout, rows, np.array([1])),))
    >>> [chunk.batch["count"].to_pylist() for level in levels.newest_first() for chunk in level]
    [[4]]
    """

    def __init__(
        self, layout: Layout, shelf: Shelf | None = None, *, chunk_rows: int = CHUNK_ROWS, whole: bool = True
    ) -> None:
        self._layout = layout
        self.shelf = shelf or InMemory()
        self._chunk_rows = chunk_rows
        self._whole = whole
        self._places: list[_Place] = []
        self._merges: list[_Merge] = []

    def __len__(self) -> int:
        """Return the number of rows in all levels, those with one identity counted in each."""
        return sum(map(rows_of, self.newest_first()))

    def add(self, level: Level) -> None:
        """Add the newest level, and advance the merges."""
        if level:
            self._places.append(_Place(level))
            self._work(MERGED_PER_ROW * rows_of(level))

    def all(self) -> tuple[Level, ...]:
        """Return the levels, oldest first."""
        return tuple(place.level for place in self._places if place.level)

    def form(self) -> Form:
        """Return the levels and merges as they are now."""
        merges = (merge.begun(self._places.index(merge.places[0])) for merge in self._merges)
        return Form(tuple(place.level for place in self._places), tuple(merges))

    def restore(self, form: Form) -> None:
        """Go back to what `form` returned, here or in another process."""
        self._places = [_Place(level) for level in form.levels]
        self._merges = [self._merge(begun.at, begun.count, begun) for begun in form.merges]

    def settle(self) -> None:
        """Complete all merges that are due."""
        self._start()
        while self._merges:
            self._work(len(self))
            self._start()

    def expire(self, now: int) -> None:
        """Drop levels in which nothing lives any more, if nothing newer may depend on them; see `lifetimes`."""
        expired = self._layout.expired_at(now)
        if expired is None or not self._places:
            return
        dead = [_newest(place.level) <= expired for place in self._places]
        if all(dead):
            self.restore(Form())
        elif self._layout.kind is Kind.UPSERT:
            busy = self._busy()
            self._places = [
                place for place, gone in zip(self._places, dead, strict=True) if not gone or place in busy
            ]

    def drop(self, drops: Sequence[Drop]) -> bool:
        """Delete ranges of rows; return whether there were any."""
        changed = False
        for place in self._places:
            left = without(place.level, drops)
            changed = changed or left is not place.level
            place.level = left
        if changed:
            for merge in self._merges:
                merge.drop(drops)
            busy = self._busy()
            self._places = [place for place in self._places if place.level or place in busy]
        return changed

    def newest_first(self) -> Iterator[Level]:
        """Yield the levels from the newest to the oldest."""
        return (place.level for place in reversed(self._places))

    def _start(self) -> None:
        """Start the merges of levels whose sizes are too close, from the newest to the oldest."""
        busy = self._busy()
        sizes = [0 if place in busy else rows_of(place.level) for place in self._places]
        stop = len(sizes)
        while stop > 1:
            count = _due(sizes[:stop])
            if count:
                self._merges.append(self._merge(stop - count, count))
            stop -= count or 1

    def _merge(self, at: int, count: int, begun: Begun | None = None) -> _Merge:
        places = tuple(self._places[at : at + count])
        whole = self._whole and at == 0
        return _Merge(self._layout, self.shelf, self._chunk_rows, places, whole=whole, begun=begun)

    def _busy(self) -> set[_Place]:
        return {place for merge in self._merges for place in merge.places}

    def _work(self, rows: int) -> None:
        """Start the merges that are due, and read about as many rows in each."""
        self._start()
        for merge in list(self._merges):
            if merge.work(rows):
                self._merges.remove(merge)
                self._install(merge)

    def _install(self, merge: _Merge) -> None:
        at = self._places.index(merge.places[0])
        self._places[at : at + len(merge.places)] = [_Place(tuple(merge.chunks))] if merge.chunks else []


@dataclass(eq=False)
class _Place:
    """A level, which can lose rows."""

    level: Level


def without(level: Level, drops: Sequence[Drop]) -> Level:
    """Return what range deletes leave of a level; this one if they leave all."""
    for drop in drops:
        left = tuple(rest for chunk in level if len(rest := chunk.without(drop)))
        if len(left) < len(level) or any(map(is_not, left, level)):
            level = left
    return level


def rows_of(level: Iterable[Chunk]) -> int:
    """Return the number of rows of a level."""
    return sum(map(len, level))


def expired_in(layout: Layout, levels: Iterable[Level]) -> int | None:
    """Return the latest write time that had expired at the newest one in some levels (None: nothing expires)."""
    if layout.time_to_live is None:
        return None
    return layout.expired_at(max((_newest(level) for level in levels), default=0))


def _newest(level: Level) -> int:
    return max((chunk.newest for chunk in level), default=0)


class _Merge:
    """The merge of neighbouring levels, in steps; `whole`: no older level exists."""

    def __init__(
        self,
        layout: Layout,
        shelf: Shelf,
        chunk_rows: int,
        places: tuple[_Place, ...],
        *,
        whole: bool,
        begun: Begun | None = None,
    ) -> None:
        self.places = places
        self.chunks: list[Chunk] = [] if begun is None else [*begun.chunks]
        levels = [place.level for place in places]
        self._layout = layout
        self._shelf = shelf
        self._chunk_rows = chunk_rows
        self._whole = whole
        self._expired = expired_in(layout, levels)
        self._drops: tuple[Drop, ...] = ()
        self._cut = None if begun is None else begun.cut
        self._pieces = pieces(levels, chunk_rows, self._cut)
        self._credit = 0 if begun is None else begun.credit

    def begun(self, at: int) -> Begun:
        """Return how far it has come; `at` is the number of its older level."""
        return Begun(at, len(self.places), self._cut, tuple(self.chunks), self._credit)

    def drop(self, drops: Sequence[Drop]) -> None:
        """Leave out ranges of rows that were deleted meanwhile."""
        self.chunks = list(without(tuple(self.chunks), drops))
        self._drops = joined((*self._drops, *drops))

    def work(self, rows: int) -> bool:
        """Read about as many rows more, what earlier steps read too much deducted; return whether all is merged."""
        self._credit += rows
        while self._credit > 0:
            piece, cut = next(self._pieces, ([], None))
            if left := without(tuple(piece), self._drops):
                chunk = merged(self._layout, left, whole=self._whole, expired=self._expired)
                self.chunks.extend(cut_up(chunk, self._chunk_rows, self._shelf))
                self._credit -= rows_of(left)
            if cut is None:
                return True
            self._cut = cut
        return False


def _due(sizes: Sequence[int]) -> int:
    """Return how many of the newest levels, which are the last, are to be merged; 0 stands for a level that cannot be.

    >>> _due([8, 2, 2, 2]), _due([8, 2, 2, 2, 2]), _due([2, 3])
    (0, 4, 2)
    """
    last = sizes[-MERGED_TOGETHER:]
    if len(last) == MERGED_TOGETHER and min(last) and last[0] < MERGED_TOGETHER * last[-1]:
        return MERGED_TOGETHER
    return 2 if 0 < sizes[-2] < sizes[-1] else 0


def merged_levels(layout: Layout, levels: Sequence[Level], rows: int, *, whole: bool) -> Iterator[Chunk]:
    """Yield the changes of levels, oldest first, as sorted chunks of about `rows`; `whole`: nothing older exists."""
    expired = expired_in(layout, levels)
    for piece, _ in pieces(levels, rows):
        yield merged(layout, piece, whole=whole, expired=expired)


def pieces(
    levels: Sequence[Level], rows: int, start: Cut | None = None
) -> Iterator[tuple[list[Chunk], Cut | None]]:
    """Cut levels at the same words into pieces of the chunks' order of size, each with its parts oldest first.

    Each comes with the place where it ends (None: with the last row); `start` is such a place, where to begin.
    """
    rests = [[*level] if start is None else [*_from(level, start)] for level in levels]
    longest = max(rests, key=len, default=[])
    cuts: list[Cut | None] = [chunk.first() for chunk in longest[1:]]
    if not cuts and sum(map(rows_of, rests)) > 2 * rows:  # a single chunk of many rows: never from a merge
        cuts = [longest[0].cut_at(place) for place in range(rows, len(longest[0]), rows)]
    starts = [0] * len(levels)
    for cut in [*cuts, None]:
        piece = []
        for number, rest in enumerate(rests):
            while rest:
                chunk, first = rest[0], starts[number]
                stop = len(chunk) if cut is None else chunk.position(cut)
                if stop > first:
                    piece.append(chunk.slice(first, stop))
                if stop < len(chunk):
                    starts[number] = stop
                    break
                starts[number] = 0
                rest.pop(0)
        if piece:
            yield piece, cut


def _from(level: Level, cut: Cut) -> Iterator[Chunk]:
    """Yield the rows of a level that are not before a place."""
    for chunk in level:
        rest = chunk.slice(chunk.position(cut), len(chunk))
        if len(rest):
            yield rest


def kept(shelf: Shelf, chunk: Chunk) -> Chunk:
    """Return a chunk that the shelf keeps."""
    return Chunk(chunk.layout, *shelf.keep(chunk.batch))


def cut_up(chunk: Chunk, rows: int, shelf: Shelf) -> Iterator[Chunk]:
    """Yield a chunk in parts of at most 1.5 times as many rows, which the shelf keeps; equal words stay together."""
    start = 0
    while start < len(chunk):
        stop = start + rows
        if len(chunk) - start <= rows + rows // 2:
            stop = len(chunk)
        elif stop < len(chunk):
            cut = chunk.cut_at(stop)
            before = chunk.position(cut)
            stop = before if before > start else chunk.position(cut, "right")
        part = chunk if stop - start == len(chunk) else chunk.slice(start, stop)
        yield kept(shelf, part)
        start = stop
