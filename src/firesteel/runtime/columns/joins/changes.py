"""Changes of rows as rows with weights: how many of them come (below 0: go)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.segments import segments_of
from firesteel.runtime.columns.batch import ColumnBatch, together
from firesteel.state.arrangements.columns import Mask, Numbers
from firesteel.state.arrangements.hashing import hash_columns


class Weighted(NamedTuple):
    """Rows, each with its weight."""

    rows: pa.RecordBatch
    weights: Numbers

    def where(self, mask: Mask) -> Weighted:
        """Return some of the rows."""
        return self if mask.all() else Weighted(self.rows.filter(pa.array(mask)), self.weights[mask])

    def slice(self, start: int, stop: int) -> Weighted:
        """Return the rows from `start` to `stop` (exclusive)."""
        return Weighted(self.rows.slice(start, stop - start), self.weights[start:stop])


def weighted(batches: Sequence[ColumnBatch]) -> Weighted:
    """Return what batches of changes come to."""
    rows = together([batch.rows for batch in batches])
    return net(Weighted(rows, np.concatenate([batch.signs() for batch in batches])))


def net(changes: Weighted) -> Weighted:
    """Return changes with each row once, if any go, without those that come and go; rows stay in their order.

    >>> rows = pa.RecordBatch.from_pydict({"a": [1, 2, 1, 3]})
    >>> found = net(Weighted(rows, np.array([1, 1, -1, 1])))
    >>> found.rows["a"].to_pylist(), found.weights.tolist()
    ([2, 3], [1, 1])
    """
    rows, weights = changes
    if not len(weights) or weights.min() > 0:
        return changes
    groups = segments_of(rows, hash_columns(rows.columns))
    sums = groups.sums(weights)
    left = np.flatnonzero(sums)
    places = groups.firsts[left]
    order = np.argsort(places, kind="stable")
    return Weighted(rows.take(pa.array(places[order])), sums[left][order])


def repeated(changes: Weighted) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return the rows that go, and those that come, each as often as it does.

    >>> rows = pa.RecordBatch.from_pydict({"a": [1, 2]})
    >>> [part["a"].to_pylist() for part in repeated(Weighted(rows, np.array([-1, 2])))]
    [[1], [2, 2]]
    """
    rows, weights = changes
    gone, come = np.maximum(-weights, 0), np.maximum(weights, 0)
    if weights.min(initial=1) == 1 == weights.max(initial=1):
        return rows.slice(0, 0), rows
    every = np.arange(rows.num_rows)
    going, coming = (rows.take(pa.array(np.repeat(every, counts))) for counts in (gone, come))
    return going, coming
