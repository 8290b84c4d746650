"""The interfaces of columnar sources and sinks.

They are sources and sinks with the contracts of `firesteel.functions.source` and `firesteel.functions.sink` (splits,
ranges that can be read again, two-phase commit); records are rows of Arrow batches, and one of them is what a position
of unit "records" counts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.functions.columns.pushdowns import Condition, Partition, PartitionChoice
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.functions.sink import Sink, SinkWriter, WriterContext
from firesteel.functions.source import EndOfSplit, RecordBatches, Source, Split

Kinds = npt.NDArray[np.int8]
"""The kind of each change, a `RowKind` as a number."""

Changes = tuple[pa.RecordBatch, Kinds | None]
"""Rows, and the kinds of their changes (None: all are inserts)."""

ColumnBatches = Generator[Changes, None, EndOfSplit | None]
"""What `read_columns` returns: it yields changes, and may return `END_OF_SPLIT`."""


class ColumnSource(Source[Any]):
    """Reads columns from an external system; `read` is never called."""

    @abstractmethod
    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        """Yield the changes of `[start, end)` in order, some ten thousand rows at a time (worker)."""

    def projected(self, columns: tuple[int, ...]) -> ColumnSource | None:
        """Return a source of these columns alone (places, in this order); None if this one always reads all."""
        del columns
        return None

    def with_fields(self, paths: tuple[tuple[int, ...], ...]) -> ColumnSource | None:
        """Return a source of what is at these paths alone: the place of a column, and those of fields in rows in it.

        A field of a row that is NULL is NULL. None if this source reads whole columns.
        """
        del paths
        return None

    def partitioned(self, choice: PartitionChoice) -> ColumnSource | None:
        """Return a source of the chosen partitions, and of no rows of others; None if there are no partitions.

        The choice goes for partitions that come later, too.
        """
        del choice
        return None

    @property
    def partitions(self) -> list[Partition]:
        """Return the partitions that are there now and are read, in their order."""
        return []

    def filtered(self, condition: Condition) -> ColumnSource | None:
        """Return a source that may leave out rows for which a condition is not TRUE; None if it would leave out none.

        Positions do not depend on the condition: those of rows that are left out are passed over.
        """
        del condition
        return None

    def limited(self, rows: int) -> ColumnSource | None:
        """Return a source that stops reading when there are so many rows, or more; None if it always reads all.

        Only for jobs that read each split once, to its end.
        """
        del rows
        return None

    def prepared(self) -> ColumnSource:
        """Return the source that a job reads, when the plan is done and asks for nothing else (driver)."""
        return self

    def statistics(self) -> TableStatistics | None:
        """Return what is known of the rows that there are to read now (driver); None if it is nothing.

        It is asked for when a query is planned, so it must be quick, and may be wrong.
        """
        return None

    def read(self, split: Split, start: int, end: int) -> RecordBatches[Any]:
        """Never called: such a source has no records but columns."""
        raise AssertionError("a columnar source is read by columns")


class ColumnWriter(SinkWriter[Any]):
    """Writes the columns of one subtask in one epoch; they stay invisible until the commit."""

    @abstractmethod
    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        """Write the next changes, in order."""

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        """Never called: such a sink gets columns."""
        raise AssertionError("a columnar sink is written by columns")


class ColumnSink(Sink[Any]):
    """Writes columns to an external system."""

    @property
    def writes_at_end(self) -> bool:
        """Whether each subtask has a writer in the last epoch of a job, even one that gets no rows."""
        return False

    def overwriting(self) -> ColumnSink | None:
        """Return a sink of a bounded job that puts its rows in the place of what is there; None if there is none.

        Of a partitioned table, these are the partitions that rows are written to.
        """
        return None

    @abstractmethod
    def create_writer(self, context: WriterContext) -> ColumnWriter:
        """Open the writer of one subtask for one epoch (worker)."""
