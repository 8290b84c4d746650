"""The life of a job as a pure function: `step(job, event) -> (job, commands)`.

Nothing here does I/O or looks at a clock; the loop (`firesteel.control.loop`) carries commands out and feeds
the events that result. `firesteel.control.transitions` says what can happen in which phase, and `step` asserts it.

An epoch that failed changed nothing, so to continue is the same as to start again: RECOVERING reads the last manifest.
Committed output is published before anything else; if that fails it is retried like a failure of Spark. A stop takes
effect between two epochs, after committed output has been published. A cancel also interrupts the running epoch, which
then leaves no trace. Savepoints and changes of parallelism happen before the next epoch is planned. An error that no
retry can fix fails the job at once.

There is one exception: output of sinks that allow it is published beside the next epoch, while that is planned and run.
Then `Job.publishing` is true. This ends before anything else happens: whatever comes of the next epoch (it ran, failed,
has nothing to do, needs other types of state) is held until the output is published, and then counts as if it came only
now. So at most one committed epoch is unpublished at any time, always the last, and epochs are published in order. A
crash leaves nothing that a crash between commit and publishing would not leave, but for the traces of an epoch that was
not committed. If the publishing fails, the next epoch is dropped and runs again. Nothing is published beside if a
savepoint, a change of parallelism or the end of the job waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from firesteel.common.errors import (
    EngineError,
    FencedError,
    KeyEncodingError,
    OutputClosedError,
    ProgramError,
    StateCorruptedError,
    StateMismatchError,
    TypeMismatchError,
)
from firesteel.common.job_status import JobStatus
from firesteel.control.events import (
    Command,
    Committed,
    EpochRan,
    Event,
    EvolutionNeeded,
    Evolved,
    Failed,
    Phase,
    Planned,
    Published,
    Recovered,
    RequestEvent,
    Rescaled,
    RescaleRequested,
    Saved,
    SavepointRequested,
    StopRequested,
    Woken,
)
from firesteel.control.transitions import following


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """How often a failed epoch is retried before the job fails, and the delay before each retry (milliseconds).

    `attempts` counts retries after errors of the program. `engine_attempts` counts those after failures of Spark (a
    lost worker) and of a sink that publishes committed output; a job without a restart strategy retries these, too. A
    committed epoch resets both counts.
    """

    attempts: int = 0
    delay_ms: int = 0
    engine_attempts: int = 3
    engine_delay_ms: int = 500


@dataclass(frozen=True, slots=True)
class Job:
    """The whole state of the machine.

    `finished` is whether the last committed epoch is the job's last, `ending` how the job will end, `draining` whether
    one more epoch is to end the sources; `savepoint_due` and `rescale_due` are whether there are such requests.
    `failures` and `engine_failures` count those since the last commit; `delay_ms` is the wait before the next retry.
    `publishing` is whether the last epoch is being published beside the next one, and `held` what came of the next one,
    in which phase, while that went on.
    """

    policy: RestartPolicy
    phase: Phase = Phase.RECOVERING
    status: JobStatus = JobStatus.RUNNING
    finished: bool = False
    ending: JobStatus | None = None
    draining: bool = False
    savepoint_due: bool = False
    rescale_due: bool = False
    failures: int = 0
    engine_failures: int = 0
    delay_ms: int = 0
    error: Exception | None = None
    publishing: bool = False
    held: tuple[Phase, Event] | None = None


Step = tuple[Job, tuple[Command, ...]]

_RESTING = frozenset({Phase.WAITING, Phase.PLANNING})
_FATAL = (
    FencedError,
    KeyEncodingError,
    OutputClosedError,
    ProgramError,
    StateCorruptedError,
    StateMismatchError,
    TypeMismatchError,
)
"""The errors that a retry repeats: the same record has the same key, and the same value that does not fit its type."""


def step(job: Job, event: Event) -> Step:
    """Return the next state and commands after an event. Events after the end change nothing.

    Raises AssertionError for a transition that `firesteel.control.transitions` does not have.

    >>> job, commands = step(Job(RestartPolicy()), Recovered(finished=False))
    >>> job.phase.name, [command.name for command in commands]
    ('PUBLISHING', ['PUBLISH'])
    """
    possible = following(job.phase, type(event))
    assert possible, f"{type(event).__name__} cannot come while a job is {job.phase.name}"
    after, commands = (job, ()) if job.phase is Phase.ENDED else _step(job, event)
    assert after.phase in possible, f"{job.phase.name} to {after.phase.name} by {type(event).__name__}"
    return after, commands


def _step(job: Job, event: Event) -> Step:
    if _must_wait(job, event):
        return _to(replace(job, held=(job.phase, event)), Phase.PUBLISHING, Command.PUBLISH)
    match event:
        case Published() if job.held is not None:
            phase, held = job.held
            return _step(replace(job, phase=phase, publishing=False, held=None), held)
        case Recovered(finished):
            return _to(replace(job, finished=finished), Phase.PUBLISHING, Command.PUBLISH)
        case Published() | Saved() | Rescaled():
            return _after_epoch(job)
        case Planned() if job.ending is not None:
            return _end(job, job.ending)
        case Planned(work):
            return _to(job, Phase.RUNNING, Command.RUN) if work else _without_work(job)
        case EpochRan() | EvolutionNeeded() if (
            job.ending is JobStatus.CANCELED
        ):  # the interrupt came too late
            return _end(job, JobStatus.CANCELED)
        case EpochRan():
            return _to(job, Phase.COMMITTING, Command.COMMIT)
        case EvolutionNeeded():
            return _to(job, Phase.EVOLVING, Command.EVOLVE)
        case Evolved():
            return _to(job, Phase.RECOVERING, Command.RECOVER)
        case Committed(finished, beside):
            quiet = replace(job, finished=finished, failures=0, engine_failures=0)
            return _after_commit(quiet, beside)
        case Woken():
            if job.phase is Phase.BACKING_OFF:
                return _to(job, Phase.RECOVERING, Command.RECOVER)
            return _next(job)
        case Failed(error):
            return _after_failure(replace(job, publishing=False, held=None), error)
        case StopRequested(status, drain):
            return _stop(job, status, drain)
        case SavepointRequested():
            return replace(job, savepoint_due=True), ()
        case RescaleRequested():
            return replace(job, rescale_due=True), ()


def _to(job: Job, phase: Phase, command: Command) -> Step:
    return replace(job, phase=phase), (command,)


def _must_wait(job: Job, event: Event) -> bool:
    """Return whether an event counts only when the last epoch is published."""
    if not job.publishing or job.phase is Phase.PUBLISHING or isinstance(event, RequestEvent):
        return False
    return job.ending is not None or event != Planned(work=True)


def _after_commit(job: Job, beside: bool) -> Step:
    """Publish; beside the next epoch if nothing else is to happen before that."""
    waits = job.finished or job.ending is not None or job.savepoint_due or job.rescale_due
    if waits or not beside:
        return _to(job, Phase.PUBLISHING, Command.PUBLISH)
    job, commands = _next(replace(job, publishing=True))
    return job, (Command.PUBLISH_BESIDE, *commands)


def _after_epoch(job: Job) -> Step:
    if job.finished:
        return _end(job, JobStatus.FINISHED)
    if job.ending is not None:
        return _end(job, job.ending)
    return _next(job)


def _next(job: Job) -> Step:
    """Carry out the requests; then plan an epoch."""
    if job.savepoint_due:
        return _to(replace(job, savepoint_due=False), Phase.SAVING, Command.SAVE)
    if job.rescale_due:
        return _to(replace(job, rescale_due=False), Phase.RESCALING, Command.RESCALE)
    return _to(job, Phase.PLANNING, Command.DRAIN if job.draining else Command.PLAN)


def _without_work(job: Job) -> Step:
    if job.savepoint_due or job.rescale_due or job.draining:
        return _next(job)
    return _to(job, Phase.WAITING, Command.WAIT)


def _after_failure(job: Job, error: Exception) -> Step:
    if job.ending is JobStatus.CANCELED:
        return _end(job, JobStatus.CANCELED)
    job, again = _counted(replace(job, error=error), error)
    if not again:
        return _end(job, JobStatus.FAILED)
    if job.ending is not None and job.phase is Phase.RUNNING:  # all committed output is published
        return _end(job, job.ending)
    return _to(job, Phase.BACKING_OFF, Command.BACK_OFF)


def _counted(job: Job, error: Exception) -> tuple[Job, bool]:
    """Count a failure and decide whether to retry."""
    policy = job.policy
    if isinstance(error, _FATAL):
        return job, False
    if isinstance(error, EngineError) or job.phase is Phase.PUBLISHING:
        count = job.engine_failures + 1
        again = count <= max(policy.engine_attempts, policy.attempts)
        return replace(job, engine_failures=count, delay_ms=policy.engine_delay_ms), again
    count = job.failures + 1
    return replace(job, failures=count, delay_ms=policy.delay_ms), count <= policy.attempts


def _stop(job: Job, status: JobStatus, drain: bool) -> Step:
    if drain:
        return replace(job, draining=True), ()
    if job.phase in _RESTING and not job.publishing:
        return _end(job, status)
    if status is JobStatus.CANCELED and job.phase is Phase.BACKING_OFF:
        return _end(job, status)
    if job.ending is not JobStatus.CANCELED:  # a discarded epoch cannot be requested again
        job = replace(job, ending=status)
    if status is JobStatus.CANCELED and job.phase is Phase.RUNNING:
        return job, (Command.INTERRUPT,)
    return job, ()


def _end(job: Job, status: JobStatus) -> Step:
    error = job.error if status is JobStatus.FAILED else None
    return replace(job, phase=Phase.ENDED, status=status, error=error), (Command.END,)
