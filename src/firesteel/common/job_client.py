"""What `execute_async` returns: watches and controls one job."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

from firesteel.common.completable_future import CompletableFuture
from firesteel.common.errors import FiresteelError, ProgramError
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
    """What a client needs of the running job.

    `wait` blocks until it has ended and raises its error if it failed. The futures of the others end when it is done,
    those of savepoints with their URL.
    """

    job_id: str

    @property
    def status(self) -> JobStatus: ...
    def wait(self) -> _Result: ...
    def stop(self, savepoint: str | None = None, drain: bool = False) -> Future[str]: ...
    def cancel(self) -> Future[str]: ...
    def savepoint(self, target: str | None = None) -> Future[str]: ...
    def rescale(self, parallelism: int, keep: bool = False) -> Future[str]: ...


class JobClient:
    """Watches and controls one job. What its methods ask for happens in the background; `result()` of the future they
    return waits for it, and raises the error if it could not be done.
    """

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

        def tell() -> None:
            self._handle.cancel()

        return CompletableFuture.of(tell, "firesteel-cancel")

    def stop(self) -> CompletableFuture:
        """End the job after the running epoch; the future is done when it has ended, its result is None.

        Not in PyFlink. Started again on its state directory, the job goes on from there.
        """
        return CompletableFuture(self._handle.stop(), _nothing)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture:
        """End the job after the running epoch, with a savepoint; the future is for the savepoint's path or URL.

        It becomes a new directory below `savepoint_directory` (default: the environment's directory for savepoints,
        else one in the state directory). Pass `advance_to_end_of_event_time` to end the job for good: the final
        watermark is sent, all windows and timers fire, and a job that is started from there has finished, too.
        """
        return CompletableFuture(self._handle.stop(savepoint_directory or "", advance_to_end_of_event_time))

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture:
        """Take a savepoint between two epochs while the job goes on; the future is for its path or URL.

        Where it goes: see `stop_with_savepoint`.
        """
        return CompletableFuture(self._handle.savepoint(savepoint_directory))

    def rescale(self, parallelism: int, keep: bool = False) -> CompletableFuture:
        """Change the job's parallelism between two epochs; the future is done when it has, its result is None.

        Not in PyFlink. Operators with a parallelism of their own keep it. With `keep` the job has the new parallelism
        after a restart, too, until it is started with another one than before. Raises ProgramError for less than 1; the
        future's error is one if the job's max parallelism is less.
        """
        if not isinstance(parallelism, int) or isinstance(parallelism, bool) or parallelism < 1:
            raise ProgramError(
                "requires a parallelism of at least 1", who="JobClient.rescale", got=repr(parallelism)
            )
        return CompletableFuture(self._handle.rescale(parallelism, keep), _nothing)

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


def _nothing(_done: str) -> None:
    """What is left of the answer to a request without a result."""
