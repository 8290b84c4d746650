"""Rows whose turn it is to come out."""

from __future__ import annotations

from functools import cached_property
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.sorting import Positions

BEFORE_ALL: Final = 0
"""The time that Flink takes for the last one of a key that has no rows yet."""


class Due:
    """Rows in the order of their keys, their times and their arrival.

    `keys` has each key once, `counts` the number of its rows. `rows` have the columns of the input, `orders` the
    numbers of the rows in the order in which they came.
    """

    def __init__(
        self, keys: pa.RecordBatch, counts: Positions, times: Times, orders: Positions, rows: pa.RecordBatch
    ) -> None:
        self.keys = keys
        self.counts = counts
        self.times = times
        self.orders = orders
        self.rows = rows

    @cached_property
    def ends(self) -> Positions:
        """The place after the last row of each key."""
        ends: Positions = np.cumsum(self.counts)
        return ends

    @cached_property
    def begins(self) -> Positions:
        """The place of the first row of each key."""
        return self.ends - self.counts

    @cached_property
    def codes(self) -> Positions:
        """The number of the key of each row."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def peers(self) -> Positions:
        """The place of the last row with the key and the time of each row."""
        return last_peers(self.codes, self.times)


def last_peers(codes: Positions, times: Times) -> Positions:
    """Return the place of the last row with the same key and time for each row, given in their order.

    >>> last_peers(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6])).tolist()
    [1, 1, 2, 3]
    """
    last = np.ones(len(codes), np.bool_)
    last[:-1] = (codes[1:] != codes[:-1]) | (times[1:] != times[:-1])
    places = np.flatnonzero(last)
    return np.repeat(places, np.diff(places, prepend=-1))


class History(Protocol):
    """What rows that have come out leave behind for later ones.

    Contract: `begin` each epoch at a time that has been reached; `arrive` with all rows that are to come out, as they
    come; `advance` whenever time has progressed, with the rows that are due by then, of which each is later than all
    rows of its key that came out before; `settle` at the end of the epoch.
    """

    def begin(self, until: int) -> None:
        """Begin an epoch after the time `until`."""

    def advance(self, due: Due | None, until: int) -> list[pa.Array]:
        """Return the results of the calls for due rows, and keep what rows after the time `until` need."""

    def arrive(self, rows: pa.RecordBatch, over: Times) -> None:
        """Take note of rows, each with the time up to which time had progressed (exclusive) when it came."""

    def settle(self) -> None:
        """Write what is still only noted."""

    def last_times(self, keys: pa.RecordBatch) -> Times:
        """Return the time of each key up to which rows are late; BEFORE_ALL if there is none."""

    def renew(self, keys: pa.RecordBatch) -> None:
        """Let what is known of keys, for which rows have come, live on."""
