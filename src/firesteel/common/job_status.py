"""The states of a job (Flink: org.apache.flink.api.common.JobStatus)."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """The state a job is in.

    CREATED: no epoch has begun. RUNNING. FAILING, FAILED: it cannot continue, and is being, or has been, cleaned up.
    CANCELLING, CANCELED: somebody cancelled it. FINISHED: all input was processed, or it was stopped. RESTARTING: an
    epoch failed and runs again. SUSPENDED: it no longer runs here, but can be resumed. RECONCILING: it is being
    recovered.

    >>> JobStatus.SUSPENDED.is_terminal_state(), JobStatus.SUSPENDED.is_globally_terminal_state()
    (True, False)
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Return whether the job has ended for good: nobody will restart or recover it."""
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Return whether the job has ended here; a suspended job may be resumed elsewhere."""
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()
