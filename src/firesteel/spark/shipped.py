"""Tasks for Spark's Python workers: how they travel, how they start, and how their rows, results and errors return.

Contract:

- A task is a frozen dataclass. Spark pickles it with the DataFrame whose partitions it maps. Its fields are what the
  driver knows; objects of the user's program are not among them, because only `Preparation` makes those readable.
- A worker calls the task with the batches of one partition. That carries out the preparation first, then `run`.
- Any exception becomes a FiresteelError, which names the user's operator and line if user code raised it, else the
  task. `failed` gives it a form: a row, the answer, or an exception that fails Spark's job.
"""

from __future__ import annotations

import pickle
import sys
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import BinaryType, DataType, IntegerType, LongType, StructType

from firesteel.common.errors import FiresteelError
from firesteel.runtime.failures import RAISED, task_failure
from firesteel.spark.worker_logs import WorkerLogs

T = TypeVar("T")

Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True)
class Preparation:
    """The steps in a worker before a task: extend the module path, and set up the job's Python environment.

    `setup` may be called any number of times in one process. `logs` is how it logs for the job (None: as any process).
    """

    search_path: tuple[str, ...] = ()
    setup: Callable[[], None] | None = None
    logs: WorkerLogs | None = None

    @classmethod
    def of_driver(cls) -> Preparation:
        """Return the preparation that lets workers find the modules that this process finds."""
        return cls(tuple(path or str(Path.cwd()) for path in sys.path))

    def carry_out(self) -> None:
        """Prepare this process. Raises whatever `setup` raises."""
        sys.path.extend(path for path in self.search_path if path not in sys.path)
        if self.setup is not None:
            self.setup()

    def logging(self) -> AbstractContextManager[None]:
        """Have what is logged and printed in the block be the job's."""
        return nullcontext() if self.logs is None else self.logs.used()


@dataclass(frozen=True)
class ShippedTask(ABC):
    """A function that Spark maps over the Arrow batches of each partition; see the module's contract."""

    preparation: Preparation

    @property
    @abstractmethod
    def who(self) -> str:
        """The task, in messages about errors that name no place in the program."""

    @abstractmethod
    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the task's output."""

    def failed(self, failure: FiresteelError) -> Iterator[pa.RecordBatch]:
        """Return the rest of the output after an error. By default, raise it: Spark's job fails."""
        raise failure from None

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the task's output, or that of its failure."""
        with self.preparation.logging():
            try:
                self.preparation.carry_out()
                yield from self.run(batches)
            except RAISED as error:
                yield from self.failed(task_failure(error, self.who))


class AnsweringTask(ShippedTask, Generic[T]):
    """A task with one result, in one row of the form `ANSWER`; `read` returns it in the driver."""

    @abstractmethod
    def answer(self, batches: Batches) -> T:
        """Return the result, which can be pickled and is no error."""

    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Yield the result."""
        yield _answer(self.answer(batches))

    def failed(self, failure: FiresteelError) -> Iterator[pa.RecordBatch]:
        """Return the error in place of the result."""
        return iter([_answer(failure)])

    def read(self, row: Sequence[Any]) -> T:
        """Return the result in a row that Spark has collected; raise the task's error."""
        answer = pickle.loads(row[0])
        if isinstance(answer, FiresteelError):
            raise answer
        result: T = answer
        return result


class _Kind(NamedTuple):
    arrow: pa.DataType
    spark: DataType
    code: str
    """The type code of `array`; empty for bytes."""


_KINDS: Final = {
    "int": _Kind(pa.int32(), IntegerType(), "i"),
    "long": _Kind(pa.int64(), LongType(), "q"),
    "binary": _Kind(pa.binary(), BinaryType(), ""),
}


class RowForm:
    """The form of rows between tasks: named columns of int (32 bits), long (64 bits) or binary, without nulls.

    `spark` is the schema to pass to `mapInArrow`: as an object, because the JVM would parse its text again for each
    use.

    >>> form = RowForm(target="int", block="binary")
    >>> [*form.rows([form.batch([(1, b"one"), (2, b"")])])]
    [(1, b'one'), (2, b'')]
    """

    def __init__(self, **columns: Literal["int", "long", "binary"]) -> None:
        self._kinds = [_KINDS[kind] for kind in columns.values()]
        self._arrow = pa.schema([*zip(columns, (kind.arrow for kind in self._kinds), strict=True)])
        self.spark = StructType()
        for name, kind in zip(columns, self._kinds, strict=True):
            self.spark.add(name, kind.spark)

    def rows(self, batches: Batches) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of batches."""
        for batch in batches:
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        """Return rows as a batch."""
        columns = zip(*rows, strict=True) if rows else ((),) * len(self._kinds)
        arrays = [_column(kind, values) for kind, values in zip(self._kinds, columns, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self._arrow)


ANSWER: Final = RowForm(blob="binary")
"""The row of an `AnsweringTask`."""


def current_task() -> TaskContext:
    """Return Spark's description of the task that this process runs."""
    context = TaskContext.get()
    assert context is not None, "outside of a task"
    return context


def without_rows(batches: Batches) -> Iterator[tuple[Any, ...]]:
    """Consume an input that only creates tasks, and return no rows."""
    for _ in batches:
        continue
    return iter(())


def _answer(answer: object) -> pa.RecordBatch:
    return ANSWER.batch([(pickle.dumps(answer),)])


def _column(kind: _Kind, values: Sequence[Any]) -> pa.Array:
    """Return an Arrow array; `pa.array` would import pandas at its first call, half a second in every worker."""
    if kind.code:
        return pa.Array.from_buffers(kind.arrow, len(values), [None, pa.py_buffer(array(kind.code, values))])
    offsets = array("i", [0, *accumulate(map(len, values))])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(kind.arrow, len(values), buffers)
