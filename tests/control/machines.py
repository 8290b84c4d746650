"""A job's state machine between events, for tests."""

from firesteel.common.errors import EngineError, UserFunctionError
from firesteel.common.job_status import JobStatus
from firesteel.control.events import Published, Recovered, StopRequested
from firesteel.control.machine import Job, RestartPolicy, step

USER = UserFunctionError("failed")
ENGINE = EngineError("a worker was lost")
DRAIN = StopRequested(JobStatus.FINISHED, drain=True)


def drive(job, *events):
    """Feed events; return the job and the last commands."""
    commands = ()
    for event in events:
        job, commands = step(job, event)
    return job, [command.name for command in commands]


def started(policy=None):
    return drive(Job(policy or RestartPolicy()), Recovered(False), Published())[0]
