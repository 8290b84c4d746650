"""OVER in BATCH mode: rows are gathered, and have their results when the input has ended."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import OverPartitions
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.ending import EndingOperator
from firesteel.runtime.columns.over.framing import FramedCalls
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.partitions import Partitions, sorting
from firesteel.runtime.columns.over.waiting import ORDER
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Kind, Layout


class OverPartitionsOperator(EndingOperator):
    """Appends the results of the calls to each row, partition by partition; the input must be inserts."""

    def __init__(self, over: OverPartitions) -> None:
        self._over = over
        self._input = to_arrow_schema(over.input)
        self._schema = to_arrow_schema(over.output)
        self._kept = KeyedRows(self._input, over.keys)
        self._calls = FramedCalls(over)

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        require_sortable(self._input, self._over.order, context.who)
        self._calls.open(context)
        assert context.arrangements is not None
        keys = self._kept.keys
        self._stored = pa.schema([pa.field(ORDER, pa.int64()), *keys.fields, *self._kept.others])
        layout = Layout(self._stored, tuple(keys.names), Kind.MULTISET)
        self._rows = context.arrangements.declare("rows", layout)

    def close(self) -> None:
        """Close the user's functions."""
        self._calls.close()
        super().close()

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._kept.begin(epoch, self.context)

    def process(self, batch: ColumnBatch, port: int) -> None:
        columns = [pa.array(self._kept.orders(len(batch))), *self._kept.columns(batch)]
        self._rows.put(pa.RecordBatch.from_arrays(columns, schema=self._stored))

    def results(self) -> Iterator[ColumnBatch]:
        """Yield the rows of all partitions."""
        return map(self._with_results, self._rows.rows())

    def _with_results(self, part: pa.RecordBatch) -> ColumnBatch:
        codes, _ = codes_of([part.column(name) for name in self._kept.keys.names])
        order = sorting(codes, self._kept.as_input(part), self._over.order, numbers(part.column(ORDER)))
        rows = self._kept.as_input(part.take(pa.array(order)))
        results = self._calls.of(Partitions(codes[order], rows, self._over.order))
        return ColumnBatch(pa.RecordBatch.from_arrays([*rows.columns, *results], schema=self._schema))
