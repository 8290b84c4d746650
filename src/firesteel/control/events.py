"""The parts of a job's state machine: the phases, the events and the commands."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from firesteel.common.job_status import JobStatus


class Phase(enum.Enum):
    """The phase that a job is in."""

    RECOVERING = "RECOVERING"
    PUBLISHING = "PUBLISHING"
    SAVING = "SAVING"
    RESCALING = "RESCALING"
    PLANNING = "PLANNING"
    RUNNING = "RUNNING"
    COMMITTING = "COMMITTING"
    EVOLVING = "EVOLVING"
    WAITING = "WAITING"
    BACKING_OFF = "BACKING_OFF"
    ENDED = "ENDED"


class Command(enum.Enum):
    """The next thing to do. The loop answers each command with an event, except INTERRUPT, PUBLISH_BESIDE and END.

    The thread whose request caused an INTERRUPT carries it out, because the loop's own thread is busy with the epoch.
    PUBLISH_BESIDE begins to publish in another thread, and comes with the next command. PUBLISH answers when all that
    is committed is published, whoever does it.
    """

    RECOVER = "RECOVER"
    PUBLISH = "PUBLISH"
    PUBLISH_BESIDE = "PUBLISH_BESIDE"
    SAVE = "SAVE"
    RESCALE = "RESCALE"
    PLAN = "PLAN"
    DRAIN = "DRAIN"
    RUN = "RUN"
    INTERRUPT = "INTERRUPT"
    COMMIT = "COMMIT"
    EVOLVE = "EVOLVE"
    WAIT = "WAIT"
    BACK_OFF = "BACK_OFF"
    END = "END"


@dataclass(frozen=True, slots=True)
class Recovered:
    """The last manifest has been read; `finished` is whether the job ended with it."""

    finished: bool


@dataclass(frozen=True, slots=True)
class Published:
    """The sinks' committables have been committed."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The requested savepoints have begun; the job continues while they are copied."""


@dataclass(frozen=True, slots=True)
class Rescaled:
    """The requested changes of parallelism have been carried out or refused."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The next epoch's input is known; `work` is whether there is a reason to run it."""

    work: bool


@dataclass(frozen=True, slots=True)
class EpochRan:
    """All tasks have reported."""


@dataclass(frozen=True, slots=True)
class EvolutionNeeded:
    """The epoch did not run: it found a state that was saved with another type."""


@dataclass(frozen=True, slots=True)
class Evolved:
    """The state has been converted, and the result committed."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The manifest has been written; `finished` is whether it is the job's last.

    `beside` is whether its output can be published while the next epoch runs.
    """

    finished: bool
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The operation under way failed."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Woken:
    """A wait has ended."""


@dataclass(frozen=True, slots=True)
class StopRequested:
    """End the job after the running epoch (`status` FINISHED), or throw that epoch away (CANCELED).

    With `drain` one more epoch ends the sources at their current positions and fires all timers and windows; then the
    job has finished.
    """

    status: JobStatus
    drain: bool = False


@dataclass(frozen=True, slots=True)
class SavepointRequested:
    """Take a savepoint before the next epoch."""


@dataclass(frozen=True, slots=True)
class RescaleRequested:
    """Change the parallelism before the next epoch."""


RequestEvent = StopRequested | SavepointRequested | RescaleRequested
"""A request from outside, in any phase."""

Event = (
    Recovered
    | Published
    | Saved
    | Rescaled
    | Planned
    | EpochRan
    | EvolutionNeeded
    | Evolved
    | Committed
    | Failed
    | Woken
    | RequestEvent
)
