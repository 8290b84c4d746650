"""What a job's state machine is made of: the phases, what happens to a job, and what is to be done next."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from firesteel.common.job_status import JobStatus


class Phase(enum.Enum):
    """Where a job stands."""

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
    """What is to be done next. The loop answers each with an event, but for INTERRUPT and END.

    INTERRUPT is carried out by the thread whose request caused it, since the loop's own is busy with the epoch.
    """

    RECOVER = "RECOVER"
    PUBLISH = "PUBLISH"
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
    """The last manifest has been read; `finished` if the job had ended there."""

    finished: bool


@dataclass(frozen=True, slots=True)
class Published:
    """The sinks' committables have been committed."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The savepoints that were asked for have begun; their copying needs no pause."""


@dataclass(frozen=True, slots=True)
class Rescaled:
    """The changes of parallelism that were asked for have been carried out, or refused."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The next epoch's input is known; `work` if there is any reason to run it."""

    work: bool


@dataclass(frozen=True, slots=True)
class EpochRan:
    """All reports are in."""


@dataclass(frozen=True, slots=True)
class EvolutionNeeded:
    """The epoch did not run: it met a state that was saved with another type."""


@dataclass(frozen=True, slots=True)
class Evolved:
    """The state has been converted, and the result committed."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The manifest has been written; `finished` if it is the job's last."""

    finished: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """What was under way did not succeed."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Woken:
    """A wait has ended."""


@dataclass(frozen=True, slots=True)
class StopRequested:
    """End the job after the running epoch (`status` FINISHED), or throw that epoch away (CANCELED).

    With `drain` a further epoch ends the sources where they stand and fires all timers and windows; then the job
    has finished.
    """

    status: JobStatus
    drain: bool = False


@dataclass(frozen=True, slots=True)
class SavepointRequested:
    """Take a savepoint before the next epoch."""


@dataclass(frozen=True, slots=True)
class RescaleRequested:
    """Change the parallelism before the next epoch."""


Request = StopRequested | SavepointRequested | RescaleRequested
"""What comes from outside, in any phase."""

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
    | Request
)
