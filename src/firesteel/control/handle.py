"""The handle of a running job."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from firesteel.common.errors import EngineError
from firesteel.common.job_status import JobStatus
from firesteel.common.signals import Terminated, holding_signals, patiently
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
    """Watches and controls one job, which runs on its own thread from `start` on.

    `wait` raises the job's error if it failed. `stop` ends the job after the running epoch, `cancel` discards that
    epoch; both return at once. `results(node)` iterates over the records that a collect sink has made visible, while
    the job runs.
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
        self._failure_seen = False
        self._done = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(body,), name=f"firesteel-job-{job_id[:8]}", daemon=True
        )

    def start(self) -> None:
        """Run the job. Call this once."""
        with holding_signals():
            self._thread.start()

    @property
    def collects(self) -> bool:
        """Whether the program reads the job's output with `results`."""
        return bool(self._results)

    @property
    def concluded(self) -> bool:
        """Whether the job has ended and, if it failed, the program has seen the failure."""
        known = self._failure is None or self._failure_seen or self.collects
        return self.done() and known

    @property
    def status(self) -> JobStatus:
        """The job's current status."""
        return JobStatus.FAILED if self._failure is not None else self._vitals.status

    @property
    def error(self) -> BaseException | None:
        """The error that failed the job; None if it has not failed."""
        return self._failure

    def wait(self, timeout: float | None = None) -> JobResult:
        """Return the result when the job has ended. Raises a failed job's error, and TimeoutError after `timeout`
        seconds.

        A first Ctrl-C or SIGTERM stops the job at the end of the running epoch, a second one cancels it;
        KeyboardInterrupt or SystemExit is raised when it has ended.
        """
        signalled = self._until_done(timeout, None)
        if self._failure is not None:
            self._failure_seen = True
            raise self._failure
        if signalled is not None:
            raise signalled
        assert self._result is not None
        return self._result

    def _until_done(self, timeout: float | None, signalled: BaseException | None) -> BaseException | None:
        """Wait for the end; return the last signal, or `signalled` if no other has come."""
        with holding_signals():
            while True:
                try:
                    if not patiently(self._done.wait, timeout):
                        raise TimeoutError(f"the job {self.job_id} still runs after {timeout} s")
                    return signalled
                except (KeyboardInterrupt, Terminated) as signal:
                    self.stop() if signalled is None else self.cancel()
                    signalled = signal

    def done(self) -> bool:
        """Return whether the job has ended."""
        return self._done.is_set()

    def stop(self, savepoint: str | None = None, drain: bool = False) -> Future[str]:
        """End the job after the running epoch; it can be started again from there.

        With a directory ("": the job's own) the job ends with a savepoint, whose URL is the result. With `drain` one
        more epoch sends the final watermark, so that all windows and timers fire; the job is then finished for good.
        """
        with holding_signals():
            return self._loop.stop(savepoint, drain)

    def cancel(self) -> Future[str]:
        """End the job now and discard the running epoch."""
        with holding_signals():
            return self._loop.cancel()

    def savepoint(self, target: str | None = None) -> Future[str]:
        """Take a savepoint below a directory while the job runs; the result is its URL."""
        with holding_signals():
            return self._loop.savepoint(target)

    def rescale(self, parallelism: int, keep: bool = False) -> Future[str]:
        """Change the parallelism before the next epoch. Operators with their own parallelism keep it."""
        with holding_signals():
            return self._loop.rescale(parallelism, keep)

    def results(self, node: int) -> Iterator[Any]:
        """Iterate over the records that reach the collect sink `node`, epoch by epoch, until the job ends.

        Raises the job's error if it fails. While it waits, Ctrl-C or SIGTERM ends the job as in `wait`.
        """
        values = self._results[node]
        try:
            yield from values
        except (KeyboardInterrupt, Terminated) as signalled:
            with holding_signals():
                values.close()
                self.stop()
                self._until_done(None, signalled)
            raise

    def _run(self, body: Callable[[], JobResult]) -> None:
        try:
            self._result = body()
        except Exception as error:
            self._failure = error
        except BaseException as error:  # a SystemExit in user code must not hang threads that wait
            self._failure = EngineError(f"the job's thread ended by {type(error).__name__}")
        finally:
            for buffer in self._results.values():
                buffer.finish(self._failure)
            self._done.set()
