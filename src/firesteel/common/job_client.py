"""What `execute_async` returns: watches and controls one job."""

from __future__ import annotations

from typing import Any, Protocol

from firesteel.common.completable_future import CompletableFuture
from firesteel.common.errors import FiresteelError, UnsupportedError
from firesteel.common.job_execution_result import JobExecutionResult
from firesteel.common.job_id import JobID
from firesteel.common.job_status import JobStatus

__all__ = ["JobClient"]


class _Result(Protocol):
    @property
    def status(self) -> JobStatus: ...
    @property
    def runtime_ms(self) -> int: ...


class _Handle(Protocol):
    """What a client needs of the running job: `wait` blocks until it has ended and raises its error if it failed."""

    job_id: str

    @property
    def status(self) -> JobStatus: ...
    def wait(self) -> _Result: ...
    def cancel(self) -> None: ...


class JobClient:
    """Watches and controls one job. The futures it returns work in threads of their own; their `result()` waits."""

    def __init__(self, handle: _Handle) -> None:
        self._handle = handle

    def get_job_id(self) -> JobID:
        """The job's identity."""
        return JobID(self._handle.job_id)

    def get_job_status(self) -> CompletableFuture:
        """A future for the job's JobStatus now."""
        return CompletableFuture.completed(self._handle.status)

    def cancel(self) -> CompletableFuture:
        """Cancel the job; the future is done when the job has been told, its result is None."""
        return CompletableFuture.of(self._handle.cancel, "firesteel-cancel")

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture:
        """Not available: raises UnsupportedError."""
        del advance_to_end_of_event_time, savepoint_directory
        raise _no_savepoints("stop_with_savepoint")

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture:
        """Not available: raises UnsupportedError."""
        del savepoint_directory
        raise _no_savepoints("trigger_savepoint")

    def get_accumulators(self) -> CompletableFuture:
        """A future for the job's accumulators by name: none, as no API fills any."""
        return CompletableFuture.completed({})

    def get_job_execution_result(self) -> CompletableFuture:
        """A future for the job's JobExecutionResult, there when the job has ended.

        Its `result()` raises the job's error if it failed, FiresteelError if it was cancelled.
        """
        return CompletableFuture.of(self._wait, "firesteel-result")

    def _wait(self) -> JobExecutionResult:
        result: Any = self._handle.wait()
        if result.status is JobStatus.CANCELED:
            raise FiresteelError(f"the job {self._handle.job_id} was cancelled")
        return JobExecutionResult(JobID(self._handle.job_id), result.runtime_ms)


def _no_savepoints(method: str) -> UnsupportedError:
    return UnsupportedError(
        "is not available",
        who=f"JobClient.{method}",
        got="no savepoints yet",
        hint="a job started again on its state directory goes on where it stopped",
    )
