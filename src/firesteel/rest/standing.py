"""How a job stands: what its records and its state directory say together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Final, TypeVar

import msgspec

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateCorruptedError
from firesteel.control.commands import DriverStatus, now_ms, read_status
from firesteel.control.views.failures import Failure, read_failures
from firesteel.control.views.metrics import JobMetrics, OperatorMetrics, read_metrics
from firesteel.control.views.plans import JobPlan, Vertex, read_plan
from firesteel.rest.records import Death, DriverProcess, JobGone, JobRecord, Outcome, Submission, Wish

T = TypeVar("T")

ENDED: Final = frozenset({"FINISHED", "CANCELED", "FAILED"})
STATUSES: Final = (
    "INITIALIZING",
    "CREATED",
    "RUNNING",
    "RESTARTING",
    "FAILING",
    "FAILED",
    "CANCELLING",
    "CANCELED",
    "FINISHED",
    "RECONCILING",
    "SUSPENDED",
)


class Standing(msgspec.Struct, frozen=True, dict=True):
    """A job at one moment; times in milliseconds, `end` None while it has not ended.

    `status` is a status of Flink's: CREATED while the job waits for slots, INITIALIZING until its first driver listens,
    RESTARTING until a later one does. `damage` says which of its files cannot be read; a job without a driver has then
    FAILED, since none can be started.
    """

    record: JobRecord
    submission: Submission
    status: str
    now: int
    start: int
    end: int | None
    running_since: int | None
    driver: DriverProcess | None
    listening: DriverStatus | None
    deaths: tuple[Death, ...]
    outcome: Outcome | None
    plan: JobPlan | None
    damage: str | None = None

    @property
    def record_id(self) -> str:
        """The job's id."""
        return self.record.id

    @property
    def directory(self) -> str:
        """The job's state directory."""
        return self.record.state

    @property
    def name(self) -> str:
        """The job's name; until it is known, that of the program."""
        if self.plan is not None:
            return self.plan.description.name
        return self.submission.code

    @property
    def duration(self) -> int:
        """How long the job has been there."""
        return (self.now if self.end is None else self.end) - self.start

    @property
    def parallelism(self) -> int:
        """What the job runs at, or would."""
        if self.listening is not None:
            return self.listening.parallelism
        return self.submission.slots if self.plan is None else self.plan.parallelism

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """The chains of the plan, at the parallelism that the job has now.

        Those that have the job's own parallelism in the plan change with it.
        """
        if self.plan is None:
            return ()
        planned, now = self.plan.parallelism, self.parallelism
        return tuple(
            msgspec.structs.replace(vertex, parallelism=now) if vertex.parallelism == planned else vertex
            for vertex in self.plan.vertices()
        )

    @property
    def mode(self) -> str:
        """STREAMING or BATCH."""
        return "STREAMING" if self.plan is None else self.plan.mode

    def timestamps(self) -> dict[str, int]:
        """Return when the job came into each status; 0 for those that it never had."""
        times = dict.fromkeys(STATUSES, 0) | {"INITIALIZING": self.start, "CREATED": self.start}
        if self.running_since is not None:
            times["RUNNING"] = self.running_since
        if self.deaths:
            times["RESTARTING"] = self.deaths[-1].at
        if self.outcome is not None:
            times[self.outcome.status] = self.outcome.at
        elif self.status not in ("RUNNING", "INITIALIZING", "CREATED", "RESTARTING"):
            times[self.status] = self.now
        return times

    def storage(self) -> Storage:
        """Return the state directory of a job whose driver has made one. Raises JobGone."""
        found = self.record.state_storage()
        if found is None:
            raise self.record.gone()
        return found

    def metrics(self) -> JobMetrics | None:
        """Return what the driver has measured; None if that cannot be read: it writes it anew all the time."""
        return self._metrics

    @cached_property
    def _metrics(self) -> JobMetrics | None:
        try:
            return None if self.plan is None else read_metrics(self.storage())
        except (StateCorruptedError, JobGone):
            return None

    @cached_property
    def measured_operators(self) -> dict[str, OperatorMetrics]:
        """What has been measured of each operator, by its id."""
        return {} if self._metrics is None else {each.id: each for each in self._metrics.operators}

    @property
    def restarts(self) -> int:
        """How often the job has been started again: its drivers, and by the last of them its subtasks."""
        metrics = self.metrics()
        own = () if metrics is None else metrics.job
        return len(self.deaths) + sum(int(view.value or 0) for view in own if view.name == "numRestarts")

    def failures(self) -> tuple[Failure, ...]:
        """Return the last failures that drivers went on from, or ended with, oldest first; that they cannot be read."""
        try:
            return () if self.plan is None else read_failures(self.storage()).entries
        except StateCorruptedError as error:
            return (Failure(self.now, f"{type(error).__module__}.{type(error).__qualname__}", str(error)),)


def standings(records: Iterable[JobRecord]) -> Iterator[Standing]:
    """Yield how jobs stand now, without those that have been forgotten meanwhile."""
    for record in records:
        try:
            yield standing(record)
        except JobGone:
            continue


class _Reading:
    """Reads the files of a job, and remembers which is damaged: the first one."""

    def __init__(self) -> None:
        self.damage: str | None = None

    def __call__(self, read: Callable[[], T | None]) -> T | None:
        try:
            return read()
        except StateCorruptedError as error:
            self.damage = self.damage or str(error)
            return None


def standing(record: JobRecord) -> Standing:
    """Return how a job that was accepted stands now. Raises JobGone if it has been forgotten meanwhile."""
    reading, reading_state = _Reading(), _Reading()
    submission = reading(record.submission)
    storage = record.state_storage()
    status = None if storage is None else reading_state(partial(read_status, storage))
    plan = None if storage is None else reading_state(partial(read_plan, storage))
    lives = record.driver_lives()  # before the outcome, which a driver writes before it lets go of its lock
    driver, outcome, now = reading(record.driver), reading(record.outcome), now_ms()
    wish, deaths = reading(record.wish), reading(record.deaths) or ()
    changed_at = record.changed_at()
    if submission is None:
        if reading.damage is None:
            raise record.gone()
        submission = Submission(record.id, record.id, changed_at)
    own = (
        driver is not None
        and status is not None
        and (status.pid, True)
        == (
            driver.pid,
            status.started_at >= driver.started_at,
        )
    )
    listening = status if own else None
    broken = reading.damage is not None and outcome is None and not lives
    heard = listening if lives else None
    return Standing(
        record=record,
        submission=submission,
        status="FAILED" if broken else _status(driver, heard, outcome, wish, now, lives=lives),
        now=now,
        start=submission.submitted_at,
        end=None if outcome is None else outcome.at,
        running_since=None if status is None else status.started_at,
        driver=driver,
        listening=listening,
        deaths=deaths,
        outcome=outcome,
        plan=plan,
        damage=reading.damage or reading_state.damage,
    )


def _status(
    driver: DriverProcess | None,
    listening: DriverStatus | None,
    outcome: Outcome | None,
    wish: Wish | None,
    now: int,
    *,
    lives: bool,
) -> str:
    if outcome is not None:
        return outcome.status
    if wish is not None:
        return "CANCELLING"
    if driver is None:
        return "CREATED"
    if listening is None:
        return "INITIALIZING" if lives and driver.attempt == 1 else "RESTARTING"
    if listening.status in _ENDING:
        return _ENDING[listening.status]
    return listening.status if listening.alive(now) else "RESTARTING"


_ENDING: Final = {"FINISHED": "RUNNING", "CANCELED": "CANCELLING", "FAILED": "FAILING"}
"""A job has ended when its driver has written down the outcome: one that fails with its session has not."""
