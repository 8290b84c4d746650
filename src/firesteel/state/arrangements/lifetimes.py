"""Time to live: which rows of an arrangement no longer exist.

A row is gone from the moment on that is its time to live after its last write (Flink: `TtlUtils.expired`). For an
upsert that is the write time of the newest change. A multiset adds weights, but only as long as the row lives: what
follows a pause of at least the time to live counts from zero. So the changes of one row fall into stretches between
such pauses, and the last stretch counts. A stored change is the sum of the last stretch of some changes, with the first
and the last write time of it, so that changes can be added to each other in any grouping: what is older than a pause
within it is also a pause away from its last stretch.

Merges drop rows that had expired at the newest write time that they see. What is newer than the merge was written
later, so for a multiset it begins a new stretch; what is older was written earlier, and has expired, too. So merges
need no clock, and come to the same in memory and on storage.
"""

from __future__ import annotations

import numpy as np

from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.sorting import Positions


def summed(
    starts: Positions, weights: Numbers, since: Numbers, written: Numbers, time_to_live: int
) -> tuple[Positions, Numbers, Numbers, Numbers]:
    """Return a place, the weight, the first and the last write time of each row's last stretch.

    The changes of one row are neighbours, oldest first, and begin at `starts`.

    >>> weights, times = np.array([1, 1, 1, 5]), np.array([10, 12, 30, 40])
    >>> [column.tolist() for column in summed(np.array([0, 3]), weights, times, times, 10)]
    [[2, 3], [1, 5], [30, 40], [30, 40]]
    """
    if len(starts) == len(weights):
        return starts, weights, since, written
    begins = np.zeros(len(weights), np.bool_)
    begins[1:] = since[1:] - written[:-1] >= time_to_live
    begins[starts] = True
    stretches = np.flatnonzero(begins)
    lasts = np.searchsorted(stretches, np.append(starts[1:], len(weights))) - 1
    places = stretches[lasts]
    ends = np.append(stretches[1:], len(weights))[lasts] - 1
    return places, np.add.reduceat(weights, stretches)[lasts], since[places], written[ends]
