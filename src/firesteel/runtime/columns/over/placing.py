"""Rows that came out before, and rows that come out now, together by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.sorting import Positions


class Blocks(NamedTuple):
    """The rows of each key in one block, the earlier ones first; keys are numbered in the order of their blocks.

    `begins` and `ends` are where the block of each key begins and ends (exclusive). `order` has the place of each row
    among all earlier rows followed by all new ones, `mine` where the new ones are.

    >>> blocks = blocks_of(np.array([0, 2]), np.array([2, 1]))
    >>> blocks.order.tolist(), blocks.mine.tolist(), blocks.begins.tolist()
    ([2, 3, 0, 1, 4], [0, 1, 4], [0, 2])
    """

    begins: Positions
    ends: Positions
    order: Positions
    mine: Positions

    def together(self, earlier: Sequence[pa.Array], new: Sequence[pa.Array]) -> list[pa.Array]:
        """Return columns of the rows in their blocks."""
        if len(self.order) == len(self.mine):
            return list(new)
        order = pa.array(self.order)
        return [pa.concat_arrays(pair).take(order) for pair in zip(earlier, new, strict=True)]

    @property
    def codes(self) -> Positions:
        """The number of the key of each row."""
        return np.repeat(np.arange(len(self.begins)), self.ends - self.begins)


def blocks_of(earlier: Positions, new: Positions) -> Blocks:
    """Return the blocks of keys with so many earlier and new rows each; both are given by key."""
    ends = np.cumsum(earlier + new)
    begins = ends - earlier - new
    old, mine = (
        np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        for counts, starts in ((earlier, begins), (new, begins + earlier))
    )
    order = np.empty(len(old) + len(mine), np.int64)
    order[old] = np.arange(len(old))
    order[mine] = len(old) + np.arange(len(mine))
    return Blocks(begins, ends, order, mine)


def stretches(starts: Positions, ends: Positions) -> Positions:
    """Return the places from each start to its end (exclusive), one stretch after another.

    >>> stretches(np.array([1, 5]), np.array([3, 6])).tolist()
    [1, 2, 5]
    """
    lengths = ends - starts
    places: Positions = np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return places
