"""Sorting in BATCH mode, and limits."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.sorting import Limit, Sort
from firesteel.runtime.columns.arrivals import ARRIVAL, numbered, numbered_schema
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.ending import EndingOperator
from firesteel.runtime.columns.sort_order import require_sortable, sorted_places
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.state.arrangements.layout import Layout


class SortOperator(EndingOperator):
    """Keeps its input, which must be inserts, in an arrangement, and emits it sorted when it has ended.

    Rows that are equal in what they are sorted by keep the order in which they came.
    """

    def __init__(self, sort: Sort) -> None:
        self._sort = sort
        self._schema = to_arrow_schema(sort.row)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        require_sortable(self._schema, self._sort.order, context.who)
        assert context.arrangements is not None
        self._stored = numbered_schema(self._schema)
        self._rows = context.arrangements.declare("rows", Layout(self._stored, (ARRIVAL,)))

    def begin_epoch(self, epoch: Epoch) -> None:
        """Go on counting where the last epoch stopped."""
        super().begin_epoch(epoch)
        self._count: int = epoch.operator_state or 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Keep the rows, with their places."""
        self._rows.put(numbered(batch, self._count, self._stored))
        self._count += len(batch)

    def results(self) -> Iterator[ColumnBatch]:
        """Yield the rows, sorted."""
        kept = pa.Table.from_batches(self._rows.rows(), self._stored)
        end = None if self._sort.fetch is None else self._sort.offset + self._sort.fetch
        order = sorted_places(kept, self._sort.order)[self._sort.offset : end]
        columns = kept.take(order).drop_columns([ARRIVAL]).columns
        # Not a cast, which looks for NULL: as in Flink, a variance that is NOT NULL is NULL for one row.
        rows = pa.Table.from_arrays(columns, schema=self._schema)
        yield from map(ColumnBatch, rows.to_batches(max_chunksize=ColumnBatch.MOST))

    def end_epoch(self) -> OperatorReport:
        """Report how many rows there are."""
        return OperatorReport(operator_state=self._count)


class LimitOperator(Operator[ColumnBatch]):
    """Passes on some of its input, which must be inserts; runs in one subtask."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit

    def begin_epoch(self, epoch: Epoch) -> None:
        """Go on counting where the last epoch stopped."""
        super().begin_epoch(epoch)
        self._count: int = epoch.operator_state or 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Pass on the rows whose turn it is."""
        start = max(0, self._limit.offset - self._count)
        stop = len(batch)
        if self._limit.fetch is not None:
            stop = min(stop, self._limit.offset + self._limit.fetch - self._count)
        self._count += len(batch)
        if start < stop:
            self.output.emit(batch.slice(start, stop))

    def end_epoch(self) -> OperatorReport:
        """Report how many rows have come."""
        return OperatorReport(operator_state=self._count)
