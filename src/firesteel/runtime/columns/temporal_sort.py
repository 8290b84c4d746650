"""Sorting by a time attribute in STREAMING mode.

Source: Flink's RowTimeSortOperator and ProcTimeSortOperator.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.sorting import SortColumn, TemporalSort
from firesteel.runtime.columns.arrivals import ARRIVAL, first_number, numbered_schema
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.sort_order import require_sortable, sorted_places
from firesteel.runtime.columns.times import Times, present_times
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Layout


class TemporalSortOperator(Operator[ColumnBatch]):
    """Emits rows, which are inserts, in the order of their times; runs in one subtask.

    Rows wait for the watermark. One that is not later than the last row that was emitted is dropped and counted; a row
    behind the watermark is taken as long as it is later than that. In processing time, rows of one epoch have one time.
    """

    def __init__(self, sort: TemporalSort) -> None:
        self._sort = sort
        self._schema = to_arrow_schema(sort.row)
        time = len(self._schema)
        self._order = (SortColumn(time, True, True), *sort.order)
        self._stored = numbered_schema(self._schema.append(pa.field("", pa.int64())))
        self._time = f"c{time}"

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows that wait."""
        super().open(context)
        require_sortable(self._schema, self._sort.order, context.who)
        self._late = context.metrics.counter("numLateRecordsDropped")
        assert context.arrangements is not None
        self._waiting = context.arrangements.declare(
            "waiting", Layout(self._stored, (ARRIVAL,), leading=self._time)
        )

    def begin_epoch(self, epoch: Epoch) -> None:
        """Go on from the time of the last row that was emitted."""
        super().begin_epoch(epoch)
        self._last: int = MIN_WATERMARK if epoch.operator_state is None else epoch.operator_state
        self._next = first_number(epoch)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let the rows wait that are not late."""
        if self._sort.time is None:
            self._wait(batch, np.full(len(batch), self.processing_time))
            return
        times = present_times(batch, self._sort.time, self.context.who)
        late = times <= self._last
        if late.any():
            self._late.inc(int(late.sum()))
            kept = np.flatnonzero(~late)
            batch, times = batch.take(kept), times[kept]
        self._wait(batch, times)

    def advance_watermark(self, watermark: int) -> None:
        """Emit the rows up to the watermark, and then the watermark."""
        if self._sort.time is not None:
            self._emit(watermark)
        super().advance_watermark(watermark)

    def end_epoch(self) -> OperatorReport:
        """Report the time of the last row that was emitted."""
        if self._sort.time is None:
            self._emit(self.processing_time)
        return OperatorReport(operator_state=self._last)

    def _wait(self, batch: ColumnBatch, times: Times) -> None:
        arrivals = np.arange(self._next, self._next + len(batch))
        self._next += len(batch)
        columns = [*batch.rows.columns, pa.array(times), pa.array(arrivals)]
        self._waiting.put(pa.RecordBatch.from_arrays(columns, schema=self._stored))

    def _emit(self, until: int) -> None:
        rows = self._waiting.up_to(until)
        if not rows.num_rows:
            return
        self._waiting.drop_up_to(until)
        self._last = int(numbers(rows.column(self._time)).max())
        in_order = rows.take(sorted_places(rows, self._order)).columns[:-2]
        batch = ColumnBatch(pa.RecordBatch.from_arrays(in_order, schema=self._schema))
        for part in batch.parts():
            self.output.emit(part)
