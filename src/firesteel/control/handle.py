"""The handle of a running job."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from firesteel.common.errors import EngineError
from firesteel.common.job_status import JobStatus
from firesteel.connectors.collect import CollectBuffer
from firesteel.control.loop import EpochLoop
from firesteel.control.vitals import Vitals


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended; `runtime_ms` is the wall time it took."""

    job_id: str
    status: JobStatus
    runtime_ms: int
    epochs: int


class JobHandle:
    """Watches and controls one job that runs on a thread of its own, from `start` on.

    `wait` raises the job's error if it failed. `stop` ends the job after the running epoch, `cancel` throws
    that epoch away; both return at once. `results(node)` iterates over what a collect sink has made visible,
    while the job runs.
    """

    def __init__(
        self,
        job_id: str,
        loop: EpochLoop,
        vitals: Vitals,
        body: Callable[[], JobResult],
        results: dict[int, CollectBuffer],
    ) -> None:
        self.job_id = job_id
        self._loop = loop
        self._vitals = vitals
        self._results = results
        self._result: JobResult | None = None
        self._failure: BaseException | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(body,), name=f"firesteel-job-{job_id[:8]}", daemon=True
        )

    def start(self) -> None:
        """Run the job; to be called once."""
        self._thread.start()

    @property
    def status(self) -> JobStatus:
        """The job's status now."""
        return JobStatus.FAILED if self._failure is not None else self._vitals.status

    @property
    def error(self) -> BaseException | None:
        """Why the job failed, None if it has not."""
        return self._failure

    def wait(self, timeout: float | None = None) -> JobResult:
        """Return the result once the job has ended; TimeoutError after `timeout` seconds. Raises a failed job's error.

        A first Ctrl-C stops the job at the end of the running epoch, a second one cancels it;
        KeyboardInterrupt is raised when it has ended.
        """
        interrupts = 0
        while True:
            try:
                if not self._done.wait(timeout):
                    raise TimeoutError(f"the job {self.job_id} still runs after {timeout} s")
                break
            except KeyboardInterrupt:
                interrupts += 1
                self.stop() if interrupts == 1 else self.cancel()
        if self._failure is not None:
            raise self._failure
        if interrupts:
            raise KeyboardInterrupt
        assert self._result is not None
        return self._result

    def done(self) -> bool:
        """Whether the job has ended."""
        return self._done.is_set()

    def stop(self, savepoint: str | None = None) -> Future[str]:
        """End the job after the running epoch; it can be started again from there.

        With a directory ("": the job's own) the end comes with a savepoint, whose URL is the result.
        """
        return self._loop.stop(savepoint)

    def cancel(self) -> Future[str]:
        """End the job now; the running epoch is thrown away."""
        return self._loop.cancel()

    def savepoint(self, target: str | None = None) -> Future[str]:
        """Take a savepoint below a directory while the job goes on; the result is its URL."""
        return self._loop.savepoint(target)

    def rescale(self, parallelism: int) -> Future[str]:
        """Change the parallelism before the next epoch; operators with a parallelism of their own keep it."""
        return self._loop.rescale(parallelism)

    def results(self, node: int) -> Iterator[Any]:
        """Iterate over the records that reach the collect sink `node`, epoch by epoch, until the job ends.

        Raises the job's error if it fails. Ctrl-C while it waits stops the job at the end of the running epoch.
        """
        values = self._results[node]
        try:
            yield from values
        except KeyboardInterrupt:
            self.stop()
            self._done.wait()
            raise

    def _run(self, body: Callable[[], JobResult]) -> None:
        try:
            self._result = body()
        except Exception as error:
            self._failure = error
        except BaseException as error:  # a SystemExit in user code must not hang those who wait
            self._failure = EngineError(f"the job's thread ended by {type(error).__name__}")
        finally:
            for buffer in self._results.values():
                buffer.finish(self._failure)
            self._done.set()
