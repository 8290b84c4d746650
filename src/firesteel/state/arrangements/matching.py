"""Which of some rows have which of some keys."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.state.arrangements.columns import Mask, same_rows
from firesteel.state.arrangements.hashing import Words, hash_columns
from firesteel.state.arrangements.sorting import Positions


class Hashed(NamedTuple):
    """Keys in the order of their hashes: the one with hash `hashes[i]` is at place `order[i]` of `keys`."""

    keys: pa.RecordBatch
    hashes: Words
    order: Positions

    @staticmethod
    def of(keys: pa.RecordBatch) -> Hashed:
        """Return keys in order."""
        hashes = hash_columns(keys.columns)
        order = np.argsort(hashes, kind="stable")
        return Hashed(keys, hashes[order], order)

    def matches(self, wanted: pa.RecordBatch) -> tuple[Positions, Positions]:
        """Return pairs of a place in `wanted` and the place of a key that equals it, by the former.

        >>> known = Hashed.of(pa.RecordBatch.from_pydict({"k": [7, 8, 7]}))
        >>> [part.tolist() for part in known.matches(pa.RecordBatch.from_pydict({"k": [9, 7]}))]
        [[1, 1], [0, 2]]
        """
        hashes = hash_columns(wanted.columns)
        first, last = (np.searchsorted(self.hashes, hashes, side) for side in ("left", "right"))
        mine = np.repeat(np.arange(wanted.num_rows), last - first)
        theirs = self.order[spread(first, last - first)]
        equal: Mask = same_rows(
            wanted.take(pa.array(mine)),
            self.keys.take(pa.array(theirs)).rename_columns(wanted.schema.names),
            wanted.schema.names,
        )
        return mine[equal], theirs[equal]


def spread(starts: Positions, counts: Positions) -> Positions:
    """Return the numbers from each start on, as many as its count says.

    >>> spread(np.array([5, 9, 1]), np.array([2, 0, 3])).tolist()
    [5, 6, 1, 2, 3]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    found: Positions = np.arange(total) + np.repeat(starts - ends + counts, counts)
    return found
