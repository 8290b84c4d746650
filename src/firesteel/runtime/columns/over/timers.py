"""The timers at which keys are forgotten, as Flink sets them.

A row sets one a frame and a half after its time, unless the key has one that is a frame after it or later. So a key is
forgotten between one frame and one and a half after its last row, depending on the rows before, and on their order.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.sorting import Positions

NO_TIMER: Final = -(1 << 63)
"""The timer of keys that have none."""

_MOST: Final = 1 << 62


def life_of(lower: int) -> int:
    """Return how long after the time of a row its timer is."""
    return lower + lower // 2 + 1


def setting(codes: Positions, times: Times, timers: Times, lower: int) -> Positions:
    """Return the places of the rows that set a timer, by key and in their order.

    Rows have the numbers of their keys in `codes`; `timers` has the last timer of each key.

    >>> codes, times = np.array([0, 0, 1, 0, 0]), np.array([10, 14, 12, 16, 30])
    >>> setting(codes, times, np.array([NO_TIMER, 20]), lower=10).tolist()
    [0, 3, 4, 2]
    """
    bare = timers == NO_TIMER
    later = times > np.where(bare, NO_TIMER, np.where(bare, 0, timers) - lower - 1)[codes]
    some = np.flatnonzero(later)
    if not len(some):
        return some
    bits = len(some).bit_length()
    keyed = codes[some] << bits | np.arange(len(some))
    keyed.sort()  # words are sorted several times as fast as places by their words
    places: Positions = some[keyed & ((1 << bits) - 1)]
    half = lower // 2
    span = int(times[places].max()) - int(times[places].min()) + half + 2
    if span * (int(codes[places[-1]]) + 1) >= _MOST:
        bounds = [0, *(np.flatnonzero(np.diff(codes[places])) + 1).tolist(), len(places)]
        parts = [places[start:stop] for start, stop in pairwise(bounds)]
        return np.concatenate([part[_chained(times[part], half)] for part in parts])
    words = codes[places] * span + (times[places] - times[places].min())
    return places[_chained(words, half)]


def _chained(words: Times, half: int) -> Positions:
    """Return the places of the first word, and of each next one that is more than `half` above the last of them.

    The words of several keys may follow each other, if those of the next one are more than `half` above all of them.
    """
    highest = np.maximum.accumulate(words)
    rising = np.flatnonzero(np.append(True, words[1:] > highest[:-1]))
    found = words[rising]
    jumps = np.append(np.searchsorted(found, found + half, "right"), len(found))
    marked = np.zeros(len(found) + 1, np.bool_)
    marked[0] = marked[-1] = True
    while True:  # each time, jumps are twice as long, and reach as far beyond the marked places as these go
        reached = jumps[marked]
        if marked[reached].all():
            return rising[marked[:-1]]
        marked[reached] = True
        jumps = jumps[jumps]
