"""When a job needs an epoch although there is nothing to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from firesteel.control.clock import Moment


class Wakeups(NamedTuple):
    """The first processing time, and the first steady time, at which something is due (milliseconds; None: never).

    Timers and rolling policies are due by processing time, the idleness of a stream by steady time.

    >>> wakeups = Wakeups.first_of([1500, 1200], [])
    >>> wakeups.left(Moment(1000, 0)), wakeups.left(Moment(1300, 0)), Wakeups().left(Moment(1000, 0))
    (200, 0, None)
    """

    processing: int | None = None
    steady: int | None = None

    @staticmethod
    def first_of(processing: Iterable[int], steady: Iterable[int]) -> Wakeups:
        """Return the first of each."""
        return Wakeups(min(processing, default=None), min(steady, default=None))

    def left(self, now: Moment) -> int | None:
        """Return the time until something is due (milliseconds): 0 if it is due now, None if nothing ever is."""
        due = ((self.processing, now.processing), (self.steady, now.steady))
        return min((max(0, at - clock) for at, clock in due if at is not None), default=None)
