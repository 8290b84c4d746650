"""Rows in groups of equal keys, found by one sort of the keys' hashes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.state.arrangements.columns import Mask, Numbers, same_rows
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.sorting import Positions, sorted_words

Addends = Numbers | npt.NDArray[np.float64]

_MANY: Final = 1 << 15
"""Rows whose 64-bit values fit into the cache anyway."""

_NARROW: Final = (np.int8, np.int16, np.int32)


@dataclass(frozen=True)
class Segments:
    """The groups of some rows: `order` has the rows' positions, group by group, and `starts` where each group begins.

    Within a group the rows stay in their order. Groups come in the order of their keys' hashes, which `hashes` are, if
    it was these that found the groups.

    >>> groups = segments_of(pa.RecordBatch.from_pydict({"k": [7, 8, 7]}), np.array([5, 3, 5], np.uint64))
    >>> groups.order.tolist(), groups.starts.tolist(), groups.lasts.tolist()
    ([1, 0, 2], [0, 1], [1, 2])
    """

    order: Positions
    starts: Positions
    hashes: Words | None = None

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def lengths(self) -> Positions:
        """The number of rows of each group."""
        lengths: Positions = np.diff(self.starts, append=len(self.order))
        return lengths

    @cached_property
    def firsts(self) -> Positions:
        """The position of each group's first row."""
        return self.order[self.starts]

    @cached_property
    def lasts(self) -> Positions:
        """The position of each group's last row."""
        lasts: Positions = self.order[self.starts + self.lengths - 1]
        return lasts

    @cached_property
    def groups(self) -> Positions:
        """The number of the group of each row in `order`."""
        groups: Positions = np.repeat(np.arange(len(self.starts)), self.lengths)
        return groups

    @cached_property
    def numbers(self) -> Positions:
        """The number of the group of each row, as the rows were given."""
        numbers: Positions = np.empty(len(self.order), np.int64)
        numbers[self.order] = self.groups
        return numbers

    @overload
    def sums(self, values: Numbers) -> Numbers: ...
    @overload
    def sums(self, values: Addends) -> Addends: ...

    def sums(self, values: Addends) -> Addends:
        """Return the sum of the values of each group.

        >>> segments_of(pa.RecordBatch.from_pydict({"k": [7, 8, 7]}), np.array([5, 3, 5], np.uint64)).sums(
        ...     np.array([1, 2, 4])
        ... ).tolist()
        [2, 5]
        """
        return np.add.reduceat(_gathered(values, self.order), self.starts)

    def least(self, values: Numbers) -> Numbers:
        """Return the smallest value of each group."""
        least: Numbers = np.minimum.reduceat(values[self.order], self.starts)
        return least

    def greatest(self, values: Numbers) -> Numbers:
        """Return the largest value of each group."""
        greatest: Numbers = np.maximum.reduceat(values[self.order], self.starts)
        return greatest


def _gathered(values: Addends, order: Positions) -> Addends:
    """Return values in an order; whole numbers of a small range are read from bytes, which fit into the cache."""
    if len(order) < _MANY or values.dtype != np.int64:
        return values[order]
    least, most = int(values.min()), int(values.max())
    if least == most:
        return np.full(len(order), least)
    for kind in _NARROW:
        limits = np.iinfo(kind)
        if limits.min <= least and most <= limits.max:
            return values.astype(kind).take(order).astype(np.int64)
    return values[order]


def segments_of(keys: pa.RecordBatch, hashes: Words, *, exact: bool = False) -> Segments:
    """Return the groups of rows with equal keys; `exact`: equal hashes mean equal keys."""
    order, ordered = sorted_words(hashes)
    same = ordered[1:] == ordered[:-1]
    if not exact and same.any():
        order, same = _settled(keys, order, same)
    starts = np.flatnonzero(np.append(True, ~same))[: len(order)]
    return Segments(order, starts, ordered[starts])


def _settled(keys: pa.RecordBatch, order: Positions, same: Mask) -> tuple[Positions, Mask]:
    """Settle which neighbours with equal hashes have equal keys; where some do not, equal ones are put together."""
    places = np.flatnonzero(same)
    equal = _equal_at(keys, order, places)
    if equal.all():
        return order, same
    order, same = order.copy(), same.copy()
    ends = np.flatnonzero(np.append(~same, True)) + 1
    for place in places[~equal]:
        stop = int(ends[np.searchsorted(ends, place, "right")])
        while place + 1 < stop:
            stretch = order[place:stop]
            alike = np.flatnonzero(_alike(keys, stretch))
            rest = np.setdiff1d(np.arange(len(stretch)), alike)
            order[place:stop] = stretch[np.concatenate((alike, rest))]
            place += len(alike)
    same[places] = _equal_at(keys, order, places)
    return order, same


def _alike(keys: pa.RecordBatch, rows: Positions) -> Mask:
    """Return which of some rows have the keys of the first of them."""
    first = keys.take(pa.array(np.full(len(rows), rows[0])))
    return same_rows(first, keys.take(pa.array(rows)), keys.schema.names)


def _equal_at(keys: pa.RecordBatch, order: Positions, places: Positions) -> Mask:
    """Return for each place whether the rows there and after it have equal keys."""
    here, after = (keys.take(pa.array(order[at])) for at in (places, places + 1))
    return same_rows(here, after, keys.schema.names)
