"""The in-process executor: the same plans and tasks as on Spark, one after another in this process, without a JVM.

It is for tests, like Flink's MiniCluster; it is not an engine.
"""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.checkpoint.compaction import MergeTask, merge
from firesteel.checkpoint.objects import Storage
from firesteel.common import pickles
from firesteel.common.errors import EngineError, UnsupportedError
from firesteel.common.python_dependencies import PythonDependencies
from firesteel.control.settings import JobSettings
from firesteel.runtime.outbox import Row
from firesteel.runtime.plan import EpochPlan, Plan, TaskReport
from firesteel.runtime.task import Worker, read_results, run_task
from firesteel.state.live.durable import RunRef


def _require_files_only(python: PythonDependencies) -> None:
    if python.requirements is None and not python.archives and python.executable is None:
        return
    raise UnsupportedError(
        "runs a job in this process, whose Python cannot be changed",
        who="the in-process executor",
        got="set_python_requirements, add_python_archive or set_python_executable",
        hint="install what the job needs here, and have the tested program leave that call out",
    )


class LocalExecutor:
    """Runs each level's tasks in turn and exchanges rows through lists; state is as durable as on Spark."""

    def __init__(self, job_id: str, state_url: str, settings: JobSettings) -> None:
        _require_files_only(settings.python)
        for path in map(Path, settings.python.files):
            importable = str(path.parent if path.suffix == ".py" else path)
            if importable not in sys.path:
                sys.path.append(importable)
        self._worker = Worker()
        self._state = CheckpointedState(state_url)
        self._storage = Storage.of(state_url)
        self._interrupted = threading.Event()

    def run(self, plan: Plan, epoch: EpochPlan) -> list[TaskReport]:
        """Run one epoch and return the reports."""
        rows: list[Row] = []
        for level, width in enumerate(plan.levels):
            rows = self._run_level(plan, epoch, level, width, rows)
        return read_results(rows)

    def merge(self, task: MergeTask) -> RunRef | None:
        """Merge runs into one."""
        return merge(self._storage, task)

    def carry_out(self, calls: Sequence[Callable[[], None]]) -> None:
        """Carry out copies of calls, as workers would."""
        for call in calls:
            if self._interrupted.is_set():
                raise EngineError("the epoch was interrupted")
            pickle.loads(pickles.dumps(call))()

    def interrupt(self) -> None:
        """Make the running epoch fail before its next task, and every later epoch."""
        self._interrupted.set()

    def jvm(self, *, threads: bool) -> None:
        """Return None: epochs run in this process."""

    def close(self) -> None:
        """Close the operators."""
        self._worker.close()

    def _run_level(self, plan: Plan, epoch: EpochPlan, level: int, width: int, rows: list[Row]) -> list[Row]:
        incoming: list[list[Row]] = [[] for _ in range(width)]
        for row in sorted(rows, key=lambda row: (row[3], row[2])):
            # A row that passes this level may be for a subtask that it does not have; Spark wraps it, too.
            incoming[row[0] % width].append(row)
        outgoing: list[Row] = []
        for subtask in range(width):
            if self._interrupted.is_set():
                raise EngineError("the epoch was interrupted")
            outgoing.extend(
                run_task(plan, epoch, level, subtask, incoming[subtask], self._worker, self._state)
            )
        return outgoing
