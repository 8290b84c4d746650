"""Intervals of time by key, and their unions: what sessions are."""

from __future__ import annotations

import numpy as np

from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.sorting import Positions


def unions(keys: Positions, starts: Times, ends: Times) -> Positions:
    """Return for each interval the number of the union that it belongs to.

    Intervals of one key that overlap or touch belong to one union, as Flink's sessions do. Unions are numbered by key,
    then by time. Keys are numbers from 0 up.

    >>> unions(np.array([0, 0, 1, 0]), np.array([1, 9, 1, 5]), np.array([5, 12, 5, 7])).tolist()
    [0, 1, 2, 0]
    """
    order = np.lexsort((starts, keys))
    keys, starts, ends = keys[order], starts[order], ends[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (keys[1:] != keys[:-1]) | (starts[1:] > _highest_so_far(keys, ends)[:-1])
    result = np.empty(len(order), np.int64)
    result[order] = np.cumsum(begins) - 1
    return result


def _highest_so_far(keys: Positions, ends: Times) -> Times:
    """Return for each interval the latest end of its key's intervals up to it; keys ascend."""
    if not len(ends):
        return ends
    base = int(ends.min())
    span = int(ends.max()) - base + 1
    if span * (int(keys[-1]) + 1) >= 1 << 62:
        values, ranks = np.unique(ends, return_inverse=True)
        return values[_highest_so_far(keys, ranks)]
    shift = keys * span - base
    return np.maximum.accumulate(ends + shift) - shift
