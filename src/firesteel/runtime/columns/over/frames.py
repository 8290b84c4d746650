"""Parts of accumulators over the frame of each row, all rows at once.

Rows are sorted by key, then by time. The frame of row i is the rows `starts[i]` to `ends[i]`, both included and of its
key; both ascend from row to row of a key, and no frame is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.parts import Additive, Chosen, Part
from firesteel.state.arrangements.columns import Mask, numbers
from firesteel.state.arrangements.sorting import Positions

Floats = npt.NDArray[np.float64]

_DIRECT: Final = 8
"""Rows of all frames, for each row, up to which each frame of floating point numbers is added up on its own."""


@dataclass(frozen=True)
class Frames:
    """The frames of rows; `first` is the first row of each row's key."""

    starts: Positions
    ends: Positions
    first: Positions

    @property
    def whole(self) -> bool:
        """Whether all frames begin with the first row of their key."""
        return bool((self.starts == self.first).all())

    def part(self, part: Part, columns: Sequence[pa.Array]) -> list[pa.Array]:
        """Return the columns of a part, which are given for each row, over the frame of each row."""
        if isinstance(part, Additive):
            return [self._sums(column) for column in columns]
        assert isinstance(part, Chosen)
        return [columns[0].take(self.chosen(columns[0], part.which))]

    def chosen(self, column: pa.Array, which: str) -> pa.Array:
        """Return the place of the first, last, smallest or largest value in each frame; NULL if all are NULL."""
        valid = np.asarray(column.is_valid())
        if which == "first":
            places = _next_of(valid)[self.starts]
            return pa.array(places, mask=places > self.ends)
        if which == "last":
            places = _last_of(valid)[self.ends]
            return pa.array(places, mask=places < self.starts)
        order = pc.array_sort_indices(column, order="ascending" if which == "min" else "descending")
        rank = np.empty(len(column), np.int64)
        rank[order.to_numpy()] = np.arange(len(column))
        best = self._least(rank)
        places = order.to_numpy().astype(np.int64)[best]
        return pa.array(places, mask=~valid[places])

    def _least(self, values: Positions) -> Positions:
        """Return the least value of each frame, by tables of the least of 1, 2, 4, ... values."""
        result = np.empty(len(values), np.int64)
        height = np.frexp((self.ends - self.starts + 1).astype(np.float64))[1] - 1
        table = values
        for level in range(int(height.max()) + 1 if len(height) else 0):
            if level:
                step = 1 << level - 1
                table = np.minimum(table[:-step], table[step:])
            rows = np.flatnonzero(height == level)
            width = 1 << level
            result[rows] = np.minimum(table[self.starts[rows]], table[self.ends[rows] - width + 1])
        return result

    def _sums(self, column: pa.Array) -> pa.Array:
        if pa.types.is_floating(column.type):
            return pa.array(self._float_sums(column.to_numpy()))
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(numbers(column))))
        return pa.array(before[self.ends + 1] - before[self.starts])

    def _float_sums(self, values: Floats) -> Floats:
        """Add up numbers whose order counts: what one frame contains must not change what another one gives."""
        if not len(values):
            return values
        if self.whole:
            return _running_sums(values, self.first)[self.ends]
        if (self.ends - self.starts + 1).sum() <= _DIRECT * len(values) or not np.isfinite(values).all():
            edges = np.stack((self.starts, self.ends + 1), 1).ravel()
            return np.add.reduceat(np.append(values, 0.0), edges)[::2]
        before = np.concatenate((np.zeros(1, np.longdouble), np.cumsum(values, dtype=np.longdouble)))
        return (before[self.ends + 1] - before[self.starts]).astype(np.float64)


def _running_sums(values: Floats, first: Positions) -> Floats:
    """Return the sum of the values of each row's key up to the row, added in order."""
    bounds = np.append(np.flatnonzero(first == np.arange(len(first))), len(first))
    lengths = np.diff(bounds)
    result = values.copy()
    if len(lengths) <= lengths.max():
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            np.cumsum(values[start:stop], out=result[start:stop])
        return result
    starts = bounds[:-1]
    for place in range(1, int(lengths.max())):
        rows = starts[lengths > place] + place
        result[rows] += result[rows - 1]
    return result


def _last_of(mask: Mask) -> Positions:
    """Return for each row the last place up to it where the mask is TRUE; -1 if there is none."""
    return np.maximum.accumulate(np.where(mask, np.arange(len(mask)), -1))


def _next_of(mask: Mask) -> Positions:
    """Return for each row the first place from it on where the mask is TRUE; the number of rows if there is none."""
    places = np.where(mask, np.arange(len(mask)), len(mask))
    return np.minimum.accumulate(places[::-1])[::-1]


def frames_of(codes: Positions, times: Positions, *, rows: bool, lower: int | None, peers: bool) -> Frames:
    """Return the frames of rows sorted by the number of their key, then by time.

    A frame begins `lower` rows (or milliseconds) before its row, None: with the first row of the key. It ends with its
    row; `peers`: with the last row of the same time.
    """
    count = len(codes)
    places = np.arange(count)
    begins = np.ones(count, np.bool_)
    begins[1:] = codes[1:] != codes[:-1]
    first = np.maximum.accumulate(np.where(begins, places, 0))
    ends = places
    if peers:
        last = np.ones(count, np.bool_)
        last[:-1] = begins[1:] | (times[1:] != times[:-1])
        ends = np.minimum.accumulate(np.where(last, places, count)[::-1])[::-1]
    if lower is None:
        return Frames(first, ends, first)
    if rows:
        return Frames(np.maximum(places - lower, first), ends, first)
    return Frames(_not_before(codes, times, lower), ends, first)


def _not_before(codes: Positions, times: Positions, distance: int) -> Positions:
    """Return the first row of each row's key whose time is at most `distance` earlier."""
    if not len(times):
        return times
    base, span = int(times.min()) - distance, int(times.max()) - int(times.min()) + distance + 1
    if span * (int(codes[-1]) + 1) < 1 << 62:
        words = codes * span + (times - base)
        return np.searchsorted(words, words - distance, "left")
    result = np.empty(len(times), np.int64)
    bounds = np.append(np.flatnonzero(np.append(True, codes[1:] != codes[:-1])), len(codes))
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        mine = times[start:stop]
        result[start:stop] = start + np.searchsorted(mine, mine - distance, "left")
    return result
