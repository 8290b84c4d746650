"""Intervals of time by key, and their unions: what sessions are."""

from __future__ import annotations

import numpy as np

from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.sorting import Positions, order_of


def unions(keys: Positions, starts: Times, ends: Times) -> Segments:
    """Return the intervals by the union that they belong to.

    Intervals of one key that overlap or touch belong to one union, as Flink's sessions do. Unions come by key, then by
    time. Keys are numbers from 0 up.

    >>> unions(np.array([0, 0, 1, 0]), np.array([1, 9, 1, 5]), np.array([5, 12, 5, 7])).numbers.tolist()
    [0, 1, 2, 0]
    """
    order = _order(keys, starts)
    keys, starts, ends = keys[order], starts[order], ends[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (keys[1:] != keys[:-1]) | (starts[1:] > _highest_so_far(keys, ends)[:-1])
    return Segments(order, np.flatnonzero(begins))


def _order(keys: Positions, starts: Times) -> Positions:
    """Return the order by key, then by start: one sort of words if both fit into one beside the positions."""
    if not len(keys):
        return keys
    low, room = int(starts.min()), 64 - len(keys).bit_length()
    key_bits, start_bits = (int(largest).bit_length() for largest in (keys.max(), starts.max() - low))
    if key_bits + start_bits > room or not key_bits + start_bits:
        return np.lexsort((starts, keys))
    words = keys.astype(np.uint64) << np.uint64(start_bits) | (starts - low).astype(np.uint64)
    return order_of(words << np.uint64(64 - key_bits - start_bits))


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
