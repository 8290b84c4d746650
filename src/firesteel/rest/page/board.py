"""What the overview shows of all jobs, computed once for all pages that look at it."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Final, Literal

import msgspec

from firesteel.control.commands import now_ms
from firesteel.control.views.metrics import JobMetrics, OperatorMetrics
from firesteel.rest.page.pace import EVERY_MS
from firesteel.rest.records import JobGone, JobRecord
from firesteel.rest.standing import Standing, standing

Health = Literal["ok", "limit", "waits", "trouble", "failed", "ended"]
"""`limit`: it would read more if its bottleneck were faster; `waits`: it has not begun; `trouble`: it starts again."""

FRESH_SECONDS: Final = 1.0
"""How old the knowledge of the jobs may be."""

_REST: Final = 9.0
"""After a look so many times as long as it took pass, so that looking takes at most a tenth of a core."""

_HEALTH: Final[dict[str, Health]] = {
    "CREATED": "waits",
    "INITIALIZING": "waits",
    "RESTARTING": "trouble",
    "FAILING": "trouble",
    "FAILED": "failed",
    "FINISHED": "ended",
    "CANCELED": "ended",
    "CANCELLING": "ended",
}


class JobRow(msgspec.Struct, frozen=True):
    """A job as the overview lists it; times in milliseconds, `end` None while it has not ended.

    Records are those that its sources read and its sinks took, per second of the last minute; `busy` and
    `backpressured` are the shares of time of the subtask that has most. None where nothing was measured.
    """

    id: str
    name: str
    status: str
    mode: str
    health: Health
    start: int
    end: int | None
    parallelism: int
    restarts: int
    records_in: float | None = None
    records_out: float | None = None
    busy: float | None = None
    backpressured: float | None = None
    bottleneck: str | None = None


class Changes(msgspec.Struct, frozen=True):
    """The jobs that are new or other than in the version that was asked with, and the ids of those that are gone.

    With `all` these are all the jobs: what was known before is of no use. `now` is the server's time, and a page asks
    again after `again` (milliseconds).
    """

    version: str
    now: int
    all: bool
    jobs: list[JobRow]
    gone: list[str]
    again: int = EVERY_MS


class Board:
    """The rows of all jobs. `look` makes the row of a job; `clock` gives seconds."""

    def __init__(
        self,
        look: Callable[[JobRecord], JobRow] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look or _row_of_record
        self._clock = clock
        self._turn = threading.Lock()
        self._run = uuid.uuid4().hex[:8]  # versions of an earlier server mean nothing
        self._number = 0
        self._due = float("-inf")
        self._rows: dict[str, tuple[int, JobRow]] = {}
        self._gone: dict[str, int] = {}

    def changes(self, records: Callable[[], Iterable[JobRecord]], known: str) -> Changes:
        """Return what has changed since the version `known`; all, if it is none of this board's."""
        with self._turn:
            if self._clock() >= self._due:
                self._refresh(records())
            return self._since(known)

    def at_hand(self, known: str) -> Changes | None:
        """Return what `changes` does, None if the jobs have to be looked at first."""
        if not self._turn.acquire(blocking=False):
            return None
        try:
            return self._since(known) if self._clock() < self._due else None
        finally:
            self._turn.release()

    def _since(self, known: str) -> Changes:
        since = self._number_of(known)
        return Changes(
            version=f"{self._run}-{self._number}",
            now=now_ms(),
            all=since < 0,
            jobs=[row for at, row in self._rows.values() if at > since],
            gone=[job_id for job_id, at in self._gone.items() if at > since >= 0],
        )

    def _number_of(self, version: str) -> int:
        """Return the number in a version of this board, -1 for any other text."""
        run, _, number = version.partition("-")
        known = run == self._run and number.isascii() and number.isdecimal() and len(number) < 19
        return int(number) if known and int(number) <= self._number else -1

    def _refresh(self, records: Iterable[JobRecord]) -> None:
        begun, number, listed = self._clock(), self._number + 1, set()
        for record in records:
            listed.add(record.id)
            _, known = self._rows.get(record.id, (0, None))
            if known is not None and known.end is not None:
                continue  # an ended job changes no more
            try:
                row = self._look(record)
            except JobGone:
                listed.remove(record.id)
                continue
            if row != known:
                self._rows[record.id] = number, row
                self._number = number
        for job_id in self._rows.keys() - listed:
            del self._rows[job_id]
            self._gone[job_id] = self._number = number
        ended = self._clock()
        self._due = ended + max(FRESH_SECONDS, _REST * (ended - begun))


def _row_of_record(record: JobRecord) -> JobRow:
    return row_of(standing(record))


def row_of(job: Standing) -> JobRow:
    """Return the row of a job."""
    live = job.metrics() if job.outcome is None else None
    slowest = None if live is None else live.bottleneck
    health = _HEALTH.get(job.status, "ok")
    if health == "ok" and slowest is not None and slowest.at_limit:
        health = "limit"
    return JobRow(
        id=job.record_id,
        name=job.name,
        status=job.status,
        mode=job.mode,
        health=health,
        start=job.start,
        end=job.end,
        parallelism=job.parallelism,
        restarts=job.restarts,
        records_in=_sum(job, live, "source", "numRecordsInPerSecond"),
        records_out=_sum(job, live, "sink", "numRecordsInPerSecond"),
        busy=_most(live, "busyTimeMsPerSecond"),
        backpressured=_most(live, "backPressuredTimeMsPerSecond"),
        bottleneck=None if slowest is None else slowest.name,
    )


def _sum(job: Standing, live: JobMetrics | None, role: str, name: str) -> float | None:
    """Return a rate over all subtasks of the operators of a role."""
    if live is None or job.plan is None:
        return None
    ids = {operator.id for operator in job.plan.description.operators if operator.role == role}
    return round(sum(sum(_values(each, name)) for each in live.operators if each.id in ids), 1)


def _most(live: JobMetrics | None, name: str) -> float | None:
    """Return the greatest share of time of a subtask."""
    if live is None:
        return None
    return round(
        max((value for each in live.operators for value in _values(each, name)), default=0) / 1000, 2
    )


def _values(operator: OperatorMetrics, name: str) -> list[float]:
    found = next((view.subtasks for view in operator.metrics if view.name == name), ())
    return [value for value in found if value is not None]
