"""The result of `execute_async`: watches and controls one job."""

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
    """The part of the running job that a client needs.

    `wait` blocks until the job has ended, and raises its error if it failed. The futures of the other methods are done
    when the request is; those of savepoints return their URL.
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
    """Watches and controls one job.

    The methods start their work in the background; `result()` of the future they return waits for it, and raises the
    error if it failed.
    """

    def __init__(self, handle: _Handle) -> None:
        self._handle = handle

    def get_job_id(self) -> JobID:
        """Return the job's identity."""
        return JobID(self._handle.job_id)

    def get_job_status(self) -> CompletableFuture:
        """Return a future for the job's current JobStatus."""
        return CompletableFuture.completed(self._handle.status)

    def cancel(self) -> CompletableFuture:
        """Cancel the job; the future is done when the job has received the request, its result is None."""

        def cancel() -> None:
            self._handle.cancel()

        return CompletableFuture.of(cancel, "firesteel-cancel")

    def stop(self) -> CompletableFuture:
        """End the job after the running epoch; the future is done when it has ended, its result is None.

        Not in PyFlink. If you start the job again on its state directory, it resumes from there.
        """
        return CompletableFuture(self._handle.stop(), _nothing)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture:
        """End the job after the running epoch, with a savepoint; the future returns the savepoint's path or URL.

        The savepoint is a new directory below `savepoint_directory` (default: the environment's directory for
        savepoints, else one in the state directory). Pass `advance_to_end_of_event_time` to end the job for good: the
        final watermark is sent, all windows and timers fire, and a job that is started from this savepoint has
        finished, too.
        """
        return CompletableFuture(self._handle.stop(savepoint_directory or "", advance_to_end_of_event_time))

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture:
        """Take a savepoint between two epochs while the job continues; the future returns its path or URL.

        `stop_with_savepoint` describes its location.
        """
        return CompletableFuture(self._handle.savepoint(savepoint_directory))

    def rescale(self, parallelism: int, keep: bool = False) -> CompletableFuture:
        """Change the job's parallelism between two epochs; the future is done after the change, its result is None.

        Not in PyFlink. Operators with their own parallelism keep it. With `keep` the job has the new parallelism after
        a restart, too, until you start it with another one than before. Raises ProgramError for less than 1; the future
        raises one if the job's max parallelism is less.
        """
        if not isinstance(parallelism, int) or isinstance(parallelism, bool) or parallelism < 1:
            raise ProgramError(
                "requires a parallelism of at least 1", who="JobClient.rescale", got=repr(parallelism)
            )
        return CompletableFuture(self._handle.rescale(parallelism, keep), _nothing)

    def get_accumulators(self) -> CompletableFuture:
        """Return a future for the job's accumulators by name: always empty, because no API fills any."""
        return CompletableFuture.completed({})

    def get_job_execution_result(self) -> CompletableFuture:
        """Return a future for the job's JobExecutionResult, which is available when the job has ended.

        Its `result()` raises the job's error if it failed, FiresteelError if it was cancelled.
        """
        return CompletableFuture.of(self._wait, "firesteel-result")

    def _wait(self) -> JobExecutionResult:
        result: Any = self._handle.wait()
        if result.status is JobStatus.CANCELED:
            raise FiresteelError(f"the job {self._handle.job_id} was cancelled")
        return JobExecutionResult(JobID(self._handle.job_id), result.runtime_ms)


def _nothing(_done: str) -> None:
    """Replace the result of a request that has none by None."""
