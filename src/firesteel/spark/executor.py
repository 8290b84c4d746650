"""Runs each epoch as one Spark job: a linear chain of levels over DataFrames.

::

    range(width 0) -> mapInArrow(level 0) -> repartitionById(target) -> sortWithinPartitions(seq, channel)
                   -> mapInArrow(level 1) -> ... -> collect the reports
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final

from firesteel.checkpoint.compaction import MergeTask
from firesteel.checkpoint.objects import Storage
from firesteel.common import pickles
from firesteel.common.errors import EngineError, FiresteelError
from firesteel.common.log_context import LogContext, current_log_context
from firesteel.common.python_dependencies import PythonDependencies
from firesteel.runtime.plan import EpochPlan, Plan, TaskReport
from firesteel.runtime.processes import JvmView
from firesteel.runtime.task import read_results
from firesteel.spark.announcement import Announcement, announced
from firesteel.spark.errors import engine_error
from firesteel.spark.interpreter import resolved, workers_with
from firesteel.spark.interruption import Interruption
from firesteel.spark.jvm import Jvm
from firesteel.spark.jvm_view import jvm_view
from firesteel.spark.plans import StoredPlans
from firesteel.spark.preconditions import is_local
from firesteel.spark.release import release
from firesteel.spark.session import open_session, started_here
from firesteel.spark.shared.attaching import is_shared
from firesteel.spark.shipped import ANSWER, Preparation
from firesteel.spark.shipping import ship, ship_environment
from firesteel.spark.worker import EXCHANGE, CallsJob, LevelTask, MergeJob
from firesteel.spark.worker_logs import WorkerLogs
from firesteel.spark.worker_python import WorkerPython
from firesteel.state.live.durable import RunRef

_log = logging.getLogger(__name__)

_NO_DEPENDENCIES: Final = PythonDependencies()

_MOST_TASKS: Final = 1000
"""The tasks in which a commit is carried out, at most."""

_PROCESS: Final = uuid.uuid4().hex
_running: Final[list[str]] = []
"""The state directories of the jobs that this process runs."""


class SparkExecutor:
    """Runs the epochs of one job in a Spark session; see `firesteel.control.executor` for the contract.

    The plan goes to the state directory once (see `StoredPlans`); a task's closure carries only its name, and a worker
    process reads it once. The DataFrame is also built once for a plan. Each epoch runs it under a new alias, because
    Spark does not run a DataFrame again if it has computed its exchanges. If the driver process of a session
    that was started here has ended, the next epoch runs in a new one.
    """

    def __init__(
        self,
        job_id: str,
        state_url: str,
        master: str | None,
        parallelism: int,
        configuration: dict[str, str],
        python: PythonDependencies = _NO_DEPENDENCIES,
        worker_setup: Callable[[], None] | None = None,
        logs: LogContext | None = None,
    ) -> None:
        self._job_id = job_id
        self._logged = logs
        self._opening = (master, parallelism, configuration)
        self._shipping = (python, worker_setup)
        self._state_url = state_url
        self._storage = Storage.of(state_url)
        self._preparation = Preparation.of_driver()  # before Spark adds what is shipped to the path
        self._connect()
        _running.append(state_url)
        self._runs = True
        self._open = False

    def _connect(self) -> None:
        """Open a session, and ship to it the files that the job's workers need."""
        python, worker_setup = self._shipping
        self._spark = open_session(*self._opening)
        self._jvm, self._own = Jvm(), started_here(self._spark)
        self._interruption = Interruption(self._spark, f"firesteel-{self._job_id}-{uuid.uuid4().hex[:6]}")
        self._plans = StoredPlans(self._storage)
        self._prepared: tuple[Plan, Any] | None = None
        cluster = not is_local(self._spark.conf.get("spark.master", ""))
        ship(self._spark, python.files, cluster=cluster)
        setup = ship_environment(self._spark, python, worker_setup)
        logs = self._logged
        prints = logs is not None and (logs.form == "json" or is_shared(self._spark))
        self._preparation = replace(
            self._preparation, setup=setup, logs=None if logs is None else WorkerLogs(logs, prints)
        )
        own = setup if isinstance(setup, WorkerPython) else None
        self._own_workers = None if own is None else own.key
        self._python = python.executable and resolved(
            python.executable, own.archives if own else (), cluster=cluster
        )

    def _reconnect(self) -> None:
        """Continue in a new driver process."""
        if not self._own:
            raise EngineError(
                "has ended, and only the program could start it again",
                who="the Spark session that the program had opened",
                hint="start the program again: with a state directory its job resumes from the last commit",
            )
        before = self._interruption
        _log.warning("Spark's driver process has ended; starting another")
        self._connect()
        if before.asked:
            self._interruption.interrupt()

    def run(self, plan: Plan, epoch: EpochPlan) -> list[TaskReport]:
        """Run one epoch and return the reports of its tasks."""
        if self._jvm.lost:
            self._reconnect()
        self._plans.sweep(epoch.committed)
        announcement = Announcement(epoch, _PROCESS, frozenset(_running))
        self._open = True
        try:
            with self._interruption.running(), announced(self._spark, self._storage, announcement):
                rows = self._frame(plan).alias("epoch").collect()
        except Exception as error:
            raise self._failure(error) from None
        reports = read_results((row[0], row[1], row[2], row[3], bytes(row[4])) for row in rows)
        self._open = not epoch.facts.final
        return reports

    def merge(self, task: MergeTask) -> RunRef | None:
        """Merge runs in a Spark job of one task, which takes at most one core from running epochs."""
        job = MergeJob(self._preparation, self._state_url, task)
        try:
            with self._workers():
                frame = self._spark.range(0, 1, 1, 1).mapInArrow(job, ANSWER.spark)
            rows = frame.collect()
        except Exception as error:
            raise self._failure(error) from None
        return job.read(rows[0])

    def carry_out(self, calls: Sequence[Callable[[], None]]) -> None:
        """Carry out calls in a Spark job."""
        if self._jvm.lost:
            self._reconnect()
        job = CallsJob(self._in_epoch(), tuple(map(pickles.dumps, calls)))
        try:
            with self._interruption.running(), self._workers():
                frame = self._spark.range(0, len(calls), 1, min(len(calls), _MOST_TASKS)).mapInArrow(
                    job, ANSWER.spark
                )
                rows = frame.collect()
        except Exception as error:
            raise self._failure(error) from None
        for row in rows:
            job.read(row)

    def _in_epoch(self) -> Preparation:
        """Return the preparation for work on the epoch that this thread publishes."""
        logs, now = self._preparation.logs, current_log_context()
        if logs is None or now is None:
            return self._preparation
        return replace(self._preparation, logs=logs.at(now.epoch))

    def _failure(self, error: Exception) -> FiresteelError:
        return self._jvm.loss(error) or engine_error(error)

    def interrupt(self) -> None:
        """Make the running epoch and all later ones fail."""
        self._interruption.interrupt()

    def jvm(self, *, threads: bool) -> JvmView:
        """Return what there is to see of Spark's driver process, with its threads or not."""
        try:
            return jvm_view(self._spark, threads=threads)
        except Exception as error:
            raise self._failure(error) from None

    def close(self) -> None:
        """Release this job in the workers; the application stays, because other jobs of this process may use it."""
        if self._runs:
            self._runs = False
            _running.remove(self._state_url)
        if (
            self._open and not self._jvm.lost
        ):  # else the last epoch has closed all functions, or they are gone
            self._open = False
            with self._workers():
                release(self._spark, self._state_url)
        self._plans.close()

    def _frame(self, plan: Plan) -> Any:
        if self._prepared is None or self._prepared[0] is not plan:
            path = self._plans.store(plan)
            with self._workers():
                self._prepared = (plan, self._build(plan, path))
        return self._prepared[1]

    def _workers(self) -> AbstractContextManager[None]:
        return workers_with(self._spark, self._own_workers, self._python)

    def _build(self, plan: Plan, plan_path: str) -> Any:
        first, *others = plan.levels
        frame = self._spark.range(0, first, 1, first).mapInArrow(self._task(0, plan_path), EXCHANGE.spark)
        for level, width in enumerate(others, start=1):
            frame = (
                frame.repartitionById(width, frame["target"])
                .sortWithinPartitions("seq", "channel")
                .mapInArrow(self._task(level, plan_path), EXCHANGE.spark)
            )
        return frame

    def _task(self, level: int, plan_path: str) -> LevelTask:
        return LevelTask(self._preparation, level, self._state_url, plan_path)
