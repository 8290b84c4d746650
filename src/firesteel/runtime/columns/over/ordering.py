"""The order of rows by key, time and arrival."""

from __future__ import annotations

from typing import Final

import numpy as np

from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.sorting import Positions

_LOW: Final = 32
"""Bits of the number of a row within its epoch, in the number of its arrival."""

_MOST: Final = 1 << 24
"""The longest table from arrivals to places."""


def in_order(codes: Positions, times: Times, arrivals: Numbers) -> Positions:
    """Return the places of rows sorted by the number of their key, their time, and their arrival, which is unique.

    The three make one word if they are small enough, as they nearly always are: a sort of words is several times as
    fast as one by three columns.

    >>> in_order(np.array([1, 0, 0]), np.array([5, 7, 6]), np.array([0, 1, 2])).tolist()
    [2, 1, 0]
    """
    if not len(codes):
        return codes
    epochs, rows = arrivals >> _LOW, arrivals & ((1 << _LOW) - 1)
    epochs = epochs - epochs.min()
    width = int(rows.max()) + 1
    count = (int(epochs.max()) + 1) * width
    since = times - times.min()
    arrival_bits, time_bits = count.bit_length(), int(since.max()).bit_length()
    if count > _MOST or arrival_bits + time_bits + int(codes.max()).bit_length() > 63:
        order: Positions = np.lexsort((arrivals, times, codes))
        return order
    dense = epochs * width + rows
    words = (codes << time_bits | since) << arrival_bits | dense
    words.sort()
    places = np.empty(count, np.int64)
    places[dense] = np.arange(len(dense))
    result: Positions = places[words & ((1 << arrival_bits) - 1)]
    return result


def not_before(codes: Positions, times: Times, distance: int) -> Positions:
    """Return the first row of each row's key whose time is at most `distance` earlier; rows are sorted by both.

    >>> not_before(np.array([0, 0, 0, 1]), np.array([1, 5, 9, 9]), 4).tolist()
    [0, 0, 1, 3]
    """
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
