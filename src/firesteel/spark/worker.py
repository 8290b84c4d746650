"""The functions in Spark's Python workers: from Arrow batches to rows, a task over them, and back to Arrow batches."""

from __future__ import annotations

import pickle
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, cast

import pyarrow as pa
from pyspark import BarrierTaskContext, TaskContext

from firesteel.checkpoint.compaction import MergeTask, merge
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.runtime.outbox import Row
from firesteel.runtime.routing import BLOCK_BYTES
from firesteel.runtime.task import failed_task, run_task
from firesteel.spark import collector
from firesteel.spark.announcement import read_announcement
from firesteel.spark.kept import Kept
from firesteel.state.live.durable import RunRef

_ARROW: Final = pa.schema(
    [
        ("target", pa.int32()),
        ("edge", pa.int32()),
        ("channel", pa.int32()),
        ("seq", pa.int64()),
        ("block", pa.binary()),
    ]
)
_BLOB: Final = pa.schema([("blob", pa.binary())])
_ROWS: Final = 64

_kept = Kept()


@dataclass(frozen=True)
class LevelTask:
    """The function that Spark maps over a level's partitions; the partition's index is the subtask.

    It is the same in all epochs of a plan.
    """

    level: int
    state_url: str
    plan_path: str
    sys_path: list[str]
    setup: Callable[[], None] | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sys.path.extend(path for path in self.sys_path if path not in sys.path)
        context = TaskContext.get()
        assert context is not None
        incoming = _rows(batches) if self.level else _nothing(batches)
        try:
            if self.setup is not None:
                self.setup()
            announcement = read_announcement(context, self.state_url)
            job = _kept.job(self.state_url, announcement)
            plan, epoch = job.plan(self.plan_path), announcement.epoch
        except (
            Exception
        ) as error:  # such as packages that cannot be installed, or a module that is missing here
            return _batches(failed_task(error, context.partitionId()))
        # Spark runs a task again if its worker died; the remains of the first try must not disturb it.
        attempt = f"{epoch.facts.attempt}-{context.taskAttemptId()}"
        epoch = replace(epoch, facts=replace(epoch.facts, attempt=attempt))
        rows = run_task(plan, epoch, self.level, context.partitionId(), incoming, job.worker, job.state)
        return collector.task(_batches(rows))


@dataclass(frozen=True)
class MergeJob:
    """The function of a compaction's job; its one row is the pickled RunRef, or the error."""

    state_url: str
    task: MergeTask
    sys_path: list[str]
    setup: Callable[[], None] | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sys.path.extend(path for path in self.sys_path if path not in sys.path)
        if self.setup is not None:
            self.setup()
        _nothing(batches)
        merged: RunRef | FiresteelError | None
        try:
            merged = merge(Storage.of(self.state_url), self.task)
        except FiresteelError as error:
            error.__cause__ = error.__context__ = None
            merged = error
        yield pa.RecordBatch.from_arrays([_binary([pickle.dumps(merged)])], schema=_BLOB)


@dataclass(frozen=True)
class LetGoTask:
    """The function of an ended job's last Spark job; its one row is the error of a function's `close`, or empty.

    It runs as a barrier stage as wide as the application, so that each of its tasks is in a different process.
    """

    state_url: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert isinstance(context, BarrierTaskContext)
        context.barrier()
        _nothing(batches)
        problem = ""
        try:
            _kept.let_go(self.state_url)
        except FiresteelError as error:
            problem = str(error)
        blob = pa.RecordBatch.from_arrays([_binary([problem.encode()])], schema=_BLOB)
        yield from collector.task([blob])


def read_merged(blob: bytes) -> RunRef | None:
    """Return the run that a compaction's job has written; raise its error."""
    merged = pickle.loads(blob)
    if isinstance(merged, FiresteelError):
        raise merged
    return cast("RunRef | None", merged)


def _nothing(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Yield no rows: level 0 has no input, and Spark's range only creates its tasks."""
    for _ in batches:
        continue
    return iter(())


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        targets, edges, channels, seqs, blocks = (column.to_pylist() for column in batch.columns)
        yield from zip(targets, edges, channels, seqs, blocks, strict=True)


def _batches(rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row[4])
        if size >= BLOCK_BYTES or len(held) >= _ROWS:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def _batch(rows: list[Row]) -> pa.RecordBatch:
    targets, edges, channels, seqs, blocks = zip(*rows, strict=True)
    columns = [
        _numbers(pa.int32(), array("i", targets)),
        _numbers(pa.int32(), array("i", edges)),
        _numbers(pa.int32(), array("i", channels)),
        _numbers(pa.int64(), array("q", seqs)),
        _binary(blocks),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)


def _numbers(kind: pa.DataType, values: array[int]) -> pa.Array:
    """Return an Arrow array; `pa.array` would import pandas at its first call, half a second in every worker."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _binary(values: Sequence[bytes]) -> pa.Array:
    offsets = array("i", [0, *accumulate(map(len, values))])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)
