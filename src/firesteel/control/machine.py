"""The life of a job as a pure function: `step(job, event) -> (job, commands)`.

Nothing here does I/O or looks at a clock; the loop (`firesteel.control.loop`) carries commands out and feeds
the events that result. The phases and what may happen in each::

    RECOVERING -- Recovered --> PUBLISHING --Published--> PLANNING --Planned--> RUNNING --EpochRan--> COMMITTING
                                     ^                      |  ^                   |                      |
                                     |                (no work) |               Failed                Committed
                                     |                      v  |                   v                      |
                                     |                   WAITING               BACKING_OFF --Woken--> RECOVERING
                                     +--------------------------------------------------------------------+

An epoch that failed changed nothing, so going on is the same as starting again: RECOVERING reads the last
manifest. What is committed is published before anything else, and a failure of that is tried again as those of
Spark are. A stop takes effect between two epochs, and after what was committed has been published; a cancel
also interrupts the epoch that runs, which then was never there. What no retry can mend fails the job at once.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from firesteel.common.errors import (
    EngineError,
    FencedError,
    ProgramError,
    StateCorruptedError,
    StateMismatchError,
)
from firesteel.common.job_status import JobStatus


class Phase(enum.Enum):
    """Where a job stands."""

    RECOVERING = "RECOVERING"
    PUBLISHING = "PUBLISHING"
    PLANNING = "PLANNING"
    RUNNING = "RUNNING"
    COMMITTING = "COMMITTING"
    WAITING = "WAITING"
    BACKING_OFF = "BACKING_OFF"
    ENDED = "ENDED"


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How often a failed epoch is tried again before the job fails, and the delay before each try (milliseconds).

    `attempts` counts tries after errors of the program, `engine_attempts` those after failures of Spark (a
    lost worker) and of a sink to publish what is committed, which are tried again even by a job that has no
    restart strategy. A committed epoch sets both counts back.
    """

    attempts: int = 0
    delay_ms: int = 0
    engine_attempts: int = 3
    engine_delay_ms: int = 500


@dataclass(frozen=True, slots=True)
class Job:
    """The whole state of the machine."""

    policy: RestartPolicy
    phase: Phase = Phase.RECOVERING
    status: JobStatus = JobStatus.RUNNING
    finished: bool = False
    ending: JobStatus | None = None
    failures: int = 0
    engine_failures: int = 0
    delay_ms: int = 0
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """The last manifest has been read; `finished` if the job had ended there."""

    finished: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """The next epoch's input is known: `work` if there is any reason to run it, else when to look again."""

    work: bool
    wakeup: int | None = None


@dataclass(frozen=True, slots=True)
class EpochRan:
    """All reports are in."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The manifest has been written; `finished` if it is the job's last."""

    finished: bool


@dataclass(frozen=True, slots=True)
class Published:
    """The sinks' committables have been committed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Whatever was under way did not succeed."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Woken:
    """A wait is over."""


@dataclass(frozen=True, slots=True)
class StopRequested:
    """End the job at the end of the running epoch (`status` FINISHED), or throw that epoch away (CANCELED)."""

    status: JobStatus


Event = Recovered | Planned | EpochRan | Committed | Published | Failed | Woken | StopRequested


class Command(enum.Enum):
    """What the loop shall do next; it answers with an event."""

    RECOVER = "RECOVER"
    PLAN = "PLAN"
    RUN = "RUN"
    COMMIT = "COMMIT"
    PUBLISH = "PUBLISH"
    WAIT = "WAIT"
    BACK_OFF = "BACK_OFF"
    INTERRUPT = "INTERRUPT"
    END = "END"


Step = tuple[Job, tuple[Command, ...]]

_RESTING = frozenset({Phase.WAITING, Phase.PLANNING})
_FATAL = (FencedError, StateMismatchError, StateCorruptedError, ProgramError)


def step(job: Job, event: Event) -> Step:
    """Answer what follows from an event. Events that come too late (after the end) change nothing.

    >>> job, commands = step(Job(RestartPolicy()), Recovered(finished=False))
    >>> job.phase.name, [command.name for command in commands]
    ('PUBLISHING', ['PUBLISH'])
    """
    if job.phase is Phase.ENDED:
        return job, ()
    match event:
        case Recovered(finished):
            return replace(job, phase=Phase.PUBLISHING, finished=finished), (Command.PUBLISH,)
        case Published():
            return _after_epoch(job)
        case Planned(work):
            if work:
                return replace(job, phase=Phase.RUNNING), (Command.RUN,)
            return replace(job, phase=Phase.WAITING), (Command.WAIT,)
        case EpochRan():
            if job.ending is JobStatus.CANCELED:  # the interrupt came too late
                return _end(job, JobStatus.CANCELED)
            return replace(job, phase=Phase.COMMITTING), (Command.COMMIT,)
        case Committed(finished):
            quiet = replace(job, phase=Phase.PUBLISHING, finished=finished, failures=0, engine_failures=0)
            return quiet, (Command.PUBLISH,)
        case Woken():
            if job.phase is Phase.BACKING_OFF:
                return replace(job, phase=Phase.RECOVERING), (Command.RECOVER,)
            return replace(job, phase=Phase.PLANNING), (Command.PLAN,)
        case Failed(error):
            return _after_failure(job, error)
        case StopRequested(status):
            return _stop(job, status)


def _after_epoch(job: Job) -> Step:
    if job.finished:
        return _end(job, JobStatus.FINISHED)
    if job.ending is not None:
        return _end(job, job.ending)
    return replace(job, phase=Phase.PLANNING), (Command.PLAN,)


def _after_failure(job: Job, error: Exception) -> Step:
    if job.ending is JobStatus.CANCELED:
        return _end(job, JobStatus.CANCELED)
    job, again = _counted(replace(job, error=error), error)
    if not again:
        return _end(job, JobStatus.FAILED)
    if job.ending is not None and job.phase is Phase.RUNNING:  # all that is committed is published
        return _end(job, job.ending)
    return replace(job, phase=Phase.BACKING_OFF), (Command.BACK_OFF,)


def _counted(job: Job, error: Exception) -> tuple[Job, bool]:
    """Count a failure and answer whether to try again."""
    policy = job.policy
    if isinstance(error, _FATAL):
        return job, False
    if isinstance(error, EngineError) or job.phase is Phase.PUBLISHING:
        count = job.engine_failures + 1
        again = count <= max(policy.engine_attempts, policy.attempts)
        return replace(job, engine_failures=count, delay_ms=policy.engine_delay_ms), again
    count = job.failures + 1
    return replace(job, failures=count, delay_ms=policy.delay_ms), count <= policy.attempts


def _stop(job: Job, status: JobStatus) -> Step:
    if job.phase in _RESTING:
        return _end(job, status)
    if status is JobStatus.CANCELED and job.phase is Phase.BACKING_OFF:
        return _end(job, status)
    job = replace(job, ending=status)
    if status is JobStatus.CANCELED and job.phase is Phase.RUNNING:
        return job, (Command.INTERRUPT,)
    return job, ()


def _end(job: Job, status: JobStatus) -> Step:
    error = job.error if status is JobStatus.FAILED else None
    return replace(job, phase=Phase.ENDED, status=status, error=error), (Command.END,)
