"""The operator of tumbling, hopping and cumulating windows that need all of their rows."""

from __future__ import annotations

import pyarrow as pa

from firesteel.runtime.columns.arrivals import first_number
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.folding import LEAD
from firesteel.runtime.columns.windows.slicing_operator import SlicingOperator
from firesteel.runtime.columns.windows.whole import WholeRows
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Kind, Layout


class WholeAggregateOperator(SlicingOperator):
    """Keeps the rows of each slice, and aggregates those of a window when it is over."""

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._whole = WholeRows(self._aggregate, self._keys)
        self._whole.open(context)
        layout = Layout(self._whole.schema, tuple(self._keys.names), Kind.MULTISET, leading=LEAD)
        assert context.arrangements is not None
        self._slices = context.arrangements.declare("rows", layout)

    def close(self) -> None:
        """Close the user's functions."""
        self._whole.close()
        super().close()

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._next = first_number(epoch)

    def _add(self, batch: ColumnBatch, ends: Times) -> None:
        columns = [pa.array(ends), *self._whole.columns(batch, self._next)]
        self._next += len(batch)
        self._slices.put(pa.RecordBatch.from_arrays(columns, schema=self._whole.schema))

    def _complete(self, slices: pa.RecordBatch, after: int, until: int) -> None:
        ends = due = numbers(slices.column(LEAD))
        if self._windows.merges or self._windows.cumulates:
            places, due = self._windows.windows(ends, after, until)
            slices = slices.take(pa.array(places))
        found = self._whole.results(due, slices)
        results = found.columns[1 + len(self._aggregate.keys) :]
        self._emit(numbers(found.column(LEAD)), found, results)
        self._drop(ends, until)
