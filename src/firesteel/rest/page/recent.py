"""What pages have seen of jobs in the last minutes, so that the charts of a page that is opened begin with it."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

MOST_POINTS: Final = 300
"""The points of a job that are kept: ten minutes, as drivers measure every two seconds."""

MOST_ROWS: Final = 50_000
"""The rows of numbers that are kept of all jobs together: one for each vertex, and one for the job, at each point."""


class Seen(NamedTuple):
    """What was measured at a time (milliseconds): of the whole job, and of its vertices by their ids."""

    at: int
    totals: Mapping[str, Any]
    vertices: Mapping[str, Mapping[str, Any]]

    @property
    def rows(self) -> int:
        """The rows of numbers."""
        return len(self.vertices) + 1


class Recent:
    """The last points of jobs that pages looked at, oldest first.

    Contract: `note` what was measured each time that somebody asks; what is not newer is passed over. Of more than
    `most_rows` rows the job that was noted longest ago is forgotten, or the oldest points of the only one.

    >>> recent = Recent(most_rows=5)
    >>> for at in (1, 2, 2, 3):
    ...     recent.note("one", Seen(at, {}, {"vertex": {}}))
    >>> [seen.at for seen in recent.of("one")], [seen.at for seen in recent.of("two")]
    ([2, 3], [])
    """

    def __init__(self, most_rows: int = MOST_ROWS) -> None:
        self._most_rows = most_rows
        self._turn = threading.Lock()
        self._jobs: OrderedDict[str, deque[Seen]] = OrderedDict()
        self._rows = 0

    def note(self, job: str, seen: Seen) -> None:
        """Keep a point."""
        with self._turn:
            points = self._jobs.setdefault(job, deque())
            self._jobs.move_to_end(job)
            if points and points[-1].at >= seen.at:
                return
            points.append(seen)
            self._rows += seen.rows
            if len(points) > MOST_POINTS:
                self._rows -= points.popleft().rows
            while self._rows > self._most_rows and len(self._jobs) > 1:
                _, gone = self._jobs.popitem(last=False)
                self._rows -= sum(each.rows for each in gone)
            while self._rows > self._most_rows and points:
                self._rows -= points.popleft().rows

    def of(self, job: str) -> list[Seen]:
        """Return the points of a job."""
        with self._turn:
            return [*self._jobs.get(job, ())]
