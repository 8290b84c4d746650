"""The parts of a job that a Python worker keeps from task to task, and when it releases them.

A worker process serves all jobs of an application. For each job it keeps the plan, the operators with their state, and
the open working copies: megabytes and several file descriptors.

Contract: call `Kept.job` at the start of each task. It first releases jobs that their driver no longer runs: it closes
operators (a job that was stopped or cancelled did not close them itself) and copies. An error in `close` is logged: it
must not fail another job's task. Jobs of other drivers, which this task's driver does not know, are released when they
have had no task here for `IDLE_S` seconds. A driver whose job ends calls `let_go` itself, in as many tasks at once as
there are slots; a process that none of them reaches releases the job later.
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Final

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.runtime.plan import Plan
from firesteel.runtime.task import Worker
from firesteel.spark import collector
from firesteel.spark.announcement import Announcement
from firesteel.spark.worker_logs import WorkerLogs

IDLE_S: Final = 600.0

_log = logging.getLogger(__name__)


class KeptJob:
    """One job in this process: its live subtasks, its state, the last of its plans, and how it logs."""

    def __init__(self, state_url: str) -> None:
        self.worker = Worker()
        self.state = CheckpointedState(state_url, shared=True)
        self.driver = ""
        self.used = 0.0
        self.logs: WorkerLogs | None = None
        self._state_url = state_url
        self._plan: tuple[str, Plan] | None = None

    def plan(self, path: str) -> Plan:
        """Return the plan at a path of the state directory; it is read only once."""
        if self._plan is None or self._plan[0] != path:
            self._plan = path, pickle.loads(Storage.of(self._state_url).get(path))
        return self._plan[1]

    def close(self) -> None:
        """Close operators and working copies; then raise the first error of an operator."""
        with nullcontext() if self.logs is None else self.logs.used():
            try:
                self.worker.close()
            finally:
                self.state.close()


class Kept:
    """The jobs of this process, by state directory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._jobs: dict[str, KeptJob] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def job(self, state_url: str, announcement: Announcement) -> KeptJob:
        """Return what is kept of a task's job, after releasing jobs that have ended."""
        self._release(announcement)
        job = self._jobs.get(state_url)
        if job is None:
            job = self._jobs[state_url] = KeptJob(state_url)
        job.driver, job.used = announcement.driver, self._clock()
        return job

    def let_go(self, state_url: str) -> None:
        """Close everything that is kept of a job, if anything; then raise the first error of an operator."""
        job = self._jobs.pop(state_url, None)
        if job is not None:
            collector.whole_next()
            job.close()

    def _release(self, announcement: Announcement) -> None:
        ended = [url for url in self._jobs.keys() - announcement.running if self._may_go(url, announcement)]
        for url in ended:
            try:
                self.let_go(url)
            except FiresteelError as error:
                _log.warning("a job that has ended (%s) could not be closed in this worker: %s", url, error)

    def _may_go(self, url: str, announcement: Announcement) -> bool:
        job = self._jobs[url]
        return job.driver == announcement.driver or self._clock() - job.used > IDLE_S
