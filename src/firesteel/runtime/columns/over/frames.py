"""Parts of accumulators, and the values that they are made of, over the frame of each row, all rows at once.

Rows are sorted by key, then in the order of the window. The frame of a row is a stretch of the rows of its key; where
stretches begin and end ascends from row to row. A frame without rows ends one place before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.chosen import Chosen
from firesteel.runtime.columns.aggregates.contents import equal_rows, owned
from firesteel.runtime.columns.aggregates.parts import Additive, Columns, Floats, Part
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.over.running import replaced
from firesteel.state.arrangements.columns import Mask, numbers
from firesteel.state.arrangements.sorting import Positions

_DIRECT: Final = 8
"""Rows of a frame up to which its floating point numbers are added up one by one.

How a frame is added up depends on the frame alone, so that its sum is the same whenever it is computed.
"""

_PAIRS: Final = 1 << 20
"""The most pairs of a row and a row of its frame that are made at a time, unless one frame has more."""


class Pairs(NamedTuple):
    """Rows with the rows of their frames: row `owners[i]` of `rows` rows has row `members[i]` in its frame."""

    rows: int
    owners: Positions
    members: Positions


@dataclass(frozen=True)
class Frames:
    """The frames of some rows, from `starts` to `ends`, both included."""

    starts: Positions
    ends: Positions

    def part(self, part: Part, columns: Columns) -> list[pa.Array]:
        """Return the columns of a part, which are given for each row, over each frame."""
        if isinstance(part, Additive) and not any(pa.types.is_floating(kind) for kind in part.types):
            return [self._sums(column) for column in columns]
        if isinstance(part, Chosen):
            return [columns[0].take(self._chosen(columns[0], part.which))]
        if isinstance(part, Additive):
            return self._added_up(part, columns)
        return self._merged(part, columns)

    def part_of_distinct(self, part: Part, columns: Columns, earlier: Positions) -> list[pa.Array]:
        """Return the columns of a part over the first of equal rows in each frame.

        `earlier` has for each row the place of the last one before it that is equal, -1 if there is none.
        """
        if isinstance(part, Additive) and not any(pa.types.is_floating(kind) for kind in part.types):
            return self._distinct_sums(columns, earlier)
        found = []
        for start, pairs in self._pairs():
            once = earlier[pairs.members] < self.starts[start + pairs.owners]
            owners, members = pairs.owners[once], pairs.members[once]
            begins = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))[: len(owners)]
            groups = Segments(np.arange(len(owners)), begins)
            taken = [column.take(pa.array(members)) for column in columns]
            combined = part.combine(taken, groups) if len(owners) else part.neutral(0)
            found.append(replaced(part.neutral(pairs.rows), owners[begins], combined))
        return [pa.concat_arrays(pieces) for pieces in zip(*found, strict=True)] if found else part.neutral(0)

    def pairs(self) -> Iterator[Pairs]:
        """Yield the rows, in stretches, with the rows of their frames."""
        yield from (pairs for _, pairs in self._pairs())

    @property
    def _lengths(self) -> Positions:
        return self.ends - self.starts + 1

    def _pairs(self) -> Iterator[tuple[int, Pairs]]:
        lengths = self._lengths
        until, start = np.cumsum(lengths), 0
        while start < len(lengths):
            before = int(until[start - 1]) if start else 0
            stop = max(int(np.searchsorted(until, before + _PAIRS, "right")), start + 1)
            mine = lengths[start:stop]
            owners = np.repeat(np.arange(stop - start), mine)
            steps = np.arange(len(owners)) - np.repeat(np.cumsum(mine) - mine, mine)
            yield start, Pairs(stop - start, owners, self.starts[start:stop][owners] + steps)
            start = stop

    def _sums(self, column: pa.Array) -> pa.Array:
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(numbers(column))))
        return pa.array(before[self.ends + 1] - before[self.starts])

    def _added_up(self, part: Part, columns: Columns) -> list[pa.Array]:
        """Add up floating point numbers: those of short frames in their order, those of others in pairs of halves."""
        short = np.flatnonzero(self._lengths <= _DIRECT)
        some = Frames(self.starts[short], self.ends[short])
        sums = [pa.array(some._direct_sums(column.to_numpy())) for column in columns]
        if len(short) == len(self.starts):
            return sums
        return replaced(self._merged(part, columns), short, sums)

    def _direct_sums(self, values: Floats) -> Floats:
        """Add up the numbers of each frame in their order."""
        edges = np.stack((self.starts, self.ends + 1), 1).ravel()
        sums: Floats = np.add.reduceat(np.append(values, 0.0), edges)[::2] if len(edges) else np.zeros(0)
        sums[self.ends < self.starts] = 0.0
        return sums

    def _distinct_sums(self, columns: Columns, earlier: Positions) -> list[pa.Array]:
        """Add each row to the stretch of the frames that contain it and none of its equals before it."""
        rows = np.arange(len(earlier))
        first = np.maximum(
            np.searchsorted(self.ends, rows, "left"), np.searchsorted(self.starts, earlier, "right")
        )
        after = np.searchsorted(self.starts, rows, "right")
        some = np.flatnonzero(first < after)
        found = []
        for column in columns:
            values = numbers(column)[some]
            steps = np.zeros(len(self.starts) + 1, np.int64)
            np.add.at(steps, first[some], values)
            np.subtract.at(steps, after[some], values)
            found.append(pa.array(np.cumsum(steps[:-1])))
        return found

    def _chosen(self, column: pa.Array, which: str) -> pa.Array:
        """Return the place of the first, last, smallest or largest value in each frame; NULL if all are NULL."""
        valid = np.asarray(column.is_valid())
        if not len(column):
            return pa.nulls(len(self.starts), pa.int64())
        if which == "first":
            places = np.append(_next_of(valid), len(valid))[self.starts]
            return pa.array(places, mask=places > self.ends)
        if which == "last":
            places = _last_of(valid)[self.ends]  # an empty frame may end before the first row of all
            return pa.array(places, mask=(places < self.starts) | (self.ends < self.starts))
        order = pc.array_sort_indices(column, order="ascending" if which == "min" else "descending")
        rank = np.empty(len(column), np.int64)
        rank[order.to_numpy()] = np.arange(len(column))
        places = order.to_numpy().astype(np.int64)[self._least(rank)]
        return pa.array(places, mask=~valid[places] | (self.ends < self.starts))

    def _least(self, values: Positions) -> Positions:
        """Return the least value of each frame, by tables of the least of 1, 2, 4, ... values; 0 for empty ones."""
        result = np.zeros(len(self.starts), np.int64)
        height = np.frexp(self._lengths.astype(np.float64))[1] - 1
        table = values
        for level in range(int(height.max()) + 1 if len(height) else 0):
            if level:
                step = 1 << level - 1
                table = np.minimum(table[:-step], table[step:])
            rows = np.flatnonzero(height == level)
            width = 1 << level
            result[rows] = np.minimum(table[self.starts[rows]], table[self.ends[rows] - width + 1])
        return result

    def _merged(self, part: Part, columns: Columns) -> list[pa.Array]:
        """Merge the rows of each frame in their order, by tables of 1, 2, 4, ... rows merged."""
        lengths, places = self._lengths, self.starts.copy()
        done, table = part.neutral(len(lengths)), list(columns)
        for level in range(int(lengths.max()).bit_length() if len(lengths) else 0):
            if level:
                half = 1 << level - 1
                count = max(len(table[0]) - half, 0)
                table = part.merge(
                    [column.slice(0, count) for column in table], [column.slice(half) for column in table]
                )
            rows = np.flatnonzero(lengths >> level & 1)
            if len(rows):
                mine = [column.take(pa.array(rows)) for column in done]
                pieces = [column.take(pa.array(places[rows])) for column in table]
                done = replaced(done, rows, part.merge(mine, pieces))
                places[rows] += 1 << level
        return done


def earlier_equals(codes: Positions, columns: Sequence[pa.Array]) -> Positions:
    """Return for each row the place of the last one before it with the same key and values, -1 if there is none.

    >>> earlier_equals(np.array([0, 0, 0, 1]), [pa.array([7, 8, 7, 7])]).tolist()
    [-1, -1, 0, -1]
    """
    equal = equal_rows(owned(codes, columns))
    found = np.full(len(codes), -1)
    found[equal.order[1:]] = equal.order[:-1]
    found[equal.firsts] = -1
    return found


def _last_of(mask: Mask) -> Positions:
    """Return for each row the last place up to it where the mask is TRUE; -1 if there is none."""
    return np.maximum.accumulate(np.where(mask, np.arange(len(mask)), -1))


def _next_of(mask: Mask) -> Positions:
    """Return for each row the first place from it on where the mask is TRUE; the number of rows if there is none."""
    places = np.where(mask, np.arange(len(mask)), len(mask))
    return np.minimum.accumulate(places[::-1])[::-1]
