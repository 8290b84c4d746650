"""The status of a job, for observers that only see its state directory."""

from __future__ import annotations

from firesteel.common.job_status import JobStatus
from firesteel.control.events import Phase
from firesteel.control.inbox import Vital
from firesteel.control.loop import EpochLoop


class Vitals:
    """The status of a loop's job; set `failure` when the job has failed."""

    def __init__(self, loop: EpochLoop) -> None:
        self._loop = loop
        self.failure: Exception | None = None

    def __call__(self) -> Vital:
        loop = self._loop
        error = None if self.failure is None else str(self.failure)
        return Vital(self.status, loop.epoch, loop.parallelism, error, loop.metrics(), loop.failures())

    @property
    def status(self) -> JobStatus:
        """The job's current status."""
        if self.failure is not None:
            return JobStatus.FAILED
        job = self._loop.job
        if job.phase is Phase.BACKING_OFF:
            return JobStatus.RESTARTING
        if job.ending is JobStatus.CANCELED and job.phase is not Phase.ENDED:
            return JobStatus.CANCELLING
        return job.status
