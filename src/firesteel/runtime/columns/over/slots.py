"""The blocks of partitions, and how they are cut when they have grown, or put together when they are nearly empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.sorting import Positions

BLOCK: Final = pa.field("block", pa.int64())
"""The number of a block within its partition."""

COUNT: Final = pa.field("count", pa.int64())
"""How many rows a block has."""

_SPARSE: Final = 4
"""Neighbours are put together if their rows would fill less than one in so many of them."""


class Slots(NamedTuple):
    """Blocks in the order of their `partitions`, and of the window within these; `rows` say what is known of them.

    `listed` are those that are in a list; a partition without one has a block with the number 0.
    """

    partitions: Positions
    rows: pa.RecordBatch
    listed: Mask

    @property
    def ids(self) -> Numbers:
        """The numbers of the blocks within their partitions."""
        return numbers(self.rows.column(BLOCK.name))

    @property
    def counts(self) -> Numbers:
        """How many rows the blocks have; 0 where there is no list."""
        return numbers(self.rows.column(COUNT.name))


class Cut(NamedTuple):
    """In which of the `slots` each row is; those that are new, of some `partitions` and with some `ids`, come last.

    `firsts` has the place of the first row of the blocks that were cut.
    """

    slots: Positions
    partitions: Positions
    ids: Numbers
    firsts: Positions


ByOrder = Callable[[Positions, Positions], Positions]
"""Returns the order of the rows at some places by their codes, and within these by the order of the window."""


def cut(slots: Slots, touched: Mask, rows: Positions, size: int, by_order: ByOrder) -> Cut:
    """Return in which blocks rows shall be, which are in the slots `rows` now; only `touched` ones change.

    A block of more than twice the `size` is cut into parts of about this size; the first part stays.
    """
    count = len(slots.ids)
    groups, several = _groups(slots, touched, np.bincount(rows, minlength=count), size)
    totals = np.bincount(groups[rows], minlength=count)
    some = np.flatnonzero(((totals > 2 * size) | several)[groups[rows]])
    if not len(some):
        none = np.zeros(0, np.int64)
        return Cut(rows, none, none, np.zeros(count, np.int64))
    order = by_order(some, groups[rows[some]])
    some = some[order]
    codes = groups[rows[some]]
    place = np.arange(len(codes)) - np.searchsorted(codes, codes, "left")
    piece = place * -(-totals[codes] // size) // totals[codes]
    begins = np.append(True, (np.diff(codes) != 0) | (np.diff(piece) != 0))
    new = begins & (piece > 0)
    target = rows.copy()
    target[some] = np.where(piece > 0, count + np.cumsum(new) - 1, codes)
    partitions = slots.partitions[codes[new]]
    firsts = np.zeros(count + len(partitions), np.int64)
    firsts[target[some[begins]]] = some[begins]
    return Cut(target, partitions, _new_ids(slots, partitions), firsts)


def _new_ids(slots: Slots, partitions: Positions) -> Numbers:
    """Return numbers above those of all blocks of their partitions, which ascend."""
    highest = np.zeros(int(slots.partitions[-1]) + 1, np.int64)
    np.maximum.at(highest, slots.partitions, slots.ids)
    rank = np.arange(len(partitions)) - np.searchsorted(partitions, partitions, "left")
    ids: Numbers = highest[partitions] + 1 + rank
    return ids


def _groups(slots: Slots, touched: Mask, counts: Numbers, size: int) -> tuple[Positions, Mask]:
    """Return the first slot of the group of each one, and which slots are the first of several.

    A group is one slot, or a run of touched neighbours that are nearly empty.
    """
    groups, several = np.arange(len(counts)), np.zeros(len(counts), np.bool_)
    places = np.flatnonzero(touched)
    partitions = slots.partitions[places]
    begins = np.append(True, (np.diff(places) > 1) | (np.diff(partitions) > 0))[: len(places)]
    run = np.cumsum(begins) - 1
    sizes = np.bincount(run)
    rows = np.add.reduceat(counts[places], np.flatnonzero(begins))
    sparse = (sizes > 1) & (rows < sizes * size // _SPARSE)
    first = places[np.flatnonzero(begins)]
    groups[places] = np.where(sparse[run], first[run], places)
    several[first[sparse]] = True
    return groups, several
