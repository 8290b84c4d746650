"""The tasks of a job: a level of an epoch, the merge of runs, and the release of an ended job."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from pyspark import BarrierTaskContext

from firesteel.checkpoint.compaction import MergeTask, merge
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.common.log_context import current_log_context, whole_process_for
from firesteel.runtime.outbox import Row
from firesteel.runtime.routing import BLOCK_BYTES
from firesteel.runtime.task import failed_task, run_task
from firesteel.spark import collector
from firesteel.spark.announcement import read_announcement
from firesteel.spark.kept import Kept
from firesteel.spark.memory import keep_freed_memory
from firesteel.spark.shipped import (
    AnsweringTask,
    Batches,
    RowForm,
    ShippedTask,
    current_task,
    without_rows,
)
from firesteel.state.live.durable import RunRef

EXCHANGE: Final = RowForm(target="int", edge="int", channel="int", seq="long", block="binary")
"""The rows between levels, and the reports of the last one."""

_ROWS: Final = 64

_kept = Kept()


@dataclass(frozen=True)
class LevelTask(ShippedTask):
    """A level of a job; the partition's index is the subtask. It is the same in all epochs of a plan."""

    level: int
    state_url: str
    plan_path: str

    who = "a task"

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the rows for later levels, and the report."""
        return collector.task(super().__call__(batches))

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one epoch; its own errors are among them (see `run_task`)."""
        context = current_task()
        incoming = EXCHANGE.rows(batches) if self.level else without_rows(batches)
        announcement = read_announcement(context, self.state_url)
        job = _kept.job(self.state_url, announcement)
        job.logs = self.preparation.logs
        plan, epoch = job.plan(self.plan_path), announcement.epoch
        if plan.on_columns:
            keep_freed_memory()
        # Spark runs a task again if its worker died; the remains of the first try must not disturb it.
        attempt = f"{epoch.facts.attempt}-{context.taskAttemptId()}"
        epoch = replace(epoch, facts=replace(epoch.facts, attempt=attempt))
        logged = current_log_context()
        with whole_process_for(logged and replace(logged, epoch=epoch.facts.number)):
            yield from _batches(
                run_task(plan, epoch, self.level, context.partitionId(), incoming, job.worker, job.state)
            )

    def failed(self, failure: FiresteelError) -> Iterator[pa.RecordBatch]:
        """Return the row of an error, such as packages that cannot be installed, or a module that is missing here."""
        return _batches(failed_task(failure, current_task().partitionId()))


@dataclass(frozen=True)
class MergeJob(AnsweringTask[RunRef | None]):
    """A compaction's job of one task; its answer is the merged run, None if nothing is left."""

    state_url: str
    task: MergeTask

    who = "the merge of runs"

    def answer(self, batches: Batches) -> RunRef | None:
        """Merge the runs."""
        without_rows(batches)
        return merge(Storage.of(self.state_url), self.task)


@dataclass(frozen=True)
class CallsJob(AnsweringTask[None]):
    """A job that carries out calls, which are pickled; the rows of a task are the places of its calls."""

    calls: tuple[bytes, ...]

    who = "a commit"

    def answer(self, batches: Batches) -> None:
        """Carry out the calls of this task."""
        for place in [place for batch in batches for place in batch.column(0).to_pylist()]:
            pickle.loads(self.calls[place])()


@dataclass(frozen=True)
class LetGoTask(AnsweringTask[None]):
    """The last job of a job that has ended; its answer is the error of a function's `close`, if there is one.

    In an application that no other process uses it runs as a barrier stage as wide as that, so that each of its tasks
    is in a different process.
    """

    state_url: str

    who = "a function's close()"

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the answer."""
        return collector.task(super().__call__(batches))

    def answer(self, batches: Batches) -> None:
        """Release the job in this process; in a barrier stage, once all its tasks run."""
        context = current_task()
        if isinstance(context, BarrierTaskContext):
            context.barrier()
        without_rows(batches)
        _kept.let_go(self.state_url)


def _batches(rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row[4])
        if size >= BLOCK_BYTES or len(held) >= _ROWS:
            yield EXCHANGE.batch(held)
            held, size = [], 0
    if held:
        yield EXCHANGE.batch(held)
