"""Slices: the longest stretches of time that no window begins or ends within.

A row is aggregated once, into its slice, and a window is the merge of its slices, however much windows overlap (Flink:
SliceAssigners). All times are local, in milliseconds; a slice or a window is named by its end, which it does not
contain.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.windows import WindowShape
from firesteel.runtime.columns.times import Times
from firesteel.state.arrangements.sorting import Positions


class Slicing:
    """The slices of tumbling, hopping or cumulating windows.

    >>> hop = Slicing(WindowShape("hop", size=10, slide=5))
    >>> hop.ends(np.array([0, 4, 5])).tolist(), hop.last_windows(np.array([5])).tolist()
    ([5, 5, 10], [10])
    """

    def __init__(self, shape: WindowShape) -> None:
        self.size, self.offset = shape.size, shape.offset
        self.cumulates = shape.kind == "cumulate"
        self._first = shape.offset if self.cumulates else shape.offset + shape.size
        self._slide = shape.slide
        self._every = shape.size if self.cumulates else shape.slide
        self.slice = shape.slide if self.cumulates else gcd(shape.size, shape.slide)

    @property
    def merges(self) -> bool:
        """Whether windows have more slices than one."""
        return self.slice < self.size

    def all_open(self, ends: Times, over: int) -> bool:
        """Return whether no window of any of these slices is over when windows are over up to a time."""
        return self._every <= self.size and bool(self.first_windows(ends.min()) > over)

    def ends(self, times: Times) -> Times:
        """Return the end of the slice of each time."""
        return self._start(times, self.slice) + self.slice

    def last_windows(self, ends: Times) -> Times:
        """Return the end of the last window that has each slice; it is before the slice's if none has it."""
        return self._start(ends - self.slice, self._every) + self.size

    def window_starts(self, windows: Times) -> Times:
        """Return the start of each window."""
        return self._start(windows - 1, self.size) if self.cumulates else windows - self.size

    def first_windows(self, ends: Times) -> Times:
        """Return the end of the first window that has each slice."""
        return -(-(ends - self._first) // self._slide) * self._slide + self._first

    def next_window(self, after: int) -> int:
        """Return the end of the first window that ends later than a time."""
        return -(-(after + 1 - self._first) // self._slide) * self._slide + self._first

    def windows(self, ends: Times, after: int, until: int) -> tuple[Positions, Times]:
        """Return pairs of a place in `ends` and a window that has this slice and ends within `(after, until]`."""
        first = np.maximum(self.first_windows(ends), max(self.next_window(after), MIN_WATERMARK))
        last = np.minimum(self.last_windows(ends), until)
        counts = np.maximum((last - first) // self._slide + 1, 0)
        counts[last < first] = 0
        places = np.repeat(np.arange(len(ends)), counts)
        steps = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return places, first[places] + steps * self._slide

    def _start(self, times: Times, every: int) -> Times:
        """Return the last start of a stretch of this length that is not after each time."""
        return (
            times - self.offset
        ) // every * every + self.offset  # numpy divides faster than it takes remainders


class AttachedWindows(Slicing):
    """Windows that rows have already: each is a slice of its own, and may end at any time."""

    def __init__(self, shape: WindowShape) -> None:
        super().__init__(shape)
        self.cumulates = False
        self._starts = Slicing(shape)

    def all_open(self, ends: Times, over: int) -> bool:
        """Return whether no window is over."""
        return bool(ends.min() > over)

    @property
    def merges(self) -> bool:
        """Never."""
        return False

    def last_windows(self, ends: Times) -> Times:
        """Return the ends."""
        return ends

    def window_starts(self, windows: Times) -> Times:
        """Return the start of each window."""
        return self._starts.window_starts(windows)

    def first_windows(self, ends: Times) -> Times:
        """Return the ends."""
        return ends

    def next_window(self, after: int) -> int:
        """Return the first time at which a window may end that ends later."""
        return after + 1
