"""OVER in BATCH mode: rows are gathered, and have their results when the input has ended."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import OverPartitions
from firesteel.runtime.columns.arrivals import first_number
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.ending import EndingOperator
from firesteel.runtime.columns.over.calls import OF_WHOLE_PARTITIONS, OFFSETS, RANKS
from firesteel.runtime.columns.over.framing import FramedCalls
from firesteel.runtime.columns.over.partitions import Partitions, sorting
from firesteel.runtime.columns.over.waiting import ORDER
from firesteel.runtime.columns.sort_order import require_sortable
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Kind, Layout

_SPECIAL = OFFSETS | OF_WHOLE_PARTITIONS | RANKS


class OverPartitionsOperator(EndingOperator):
    """Appends the results of the calls to each row, partition by partition; the input must be inserts."""

    def __init__(self, over: OverPartitions) -> None:
        self._over = over
        self._input = to_arrow_schema(over.input)
        self._schema = to_arrow_schema(over.output)
        self._keys = Keys(self._input, over.keys)
        self._others = [place for place in range(len(self._input)) if place not in over.keys]
        self._calls = FramedCalls(over, _SPECIAL)

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        require_sortable(self._input, self._over.order, context.who)
        assert context.arrangements is not None
        others = [pa.field(f"c{place}", self._input.types[place]) for place in self._others]
        self._stored = pa.schema([pa.field(ORDER, pa.int64()), *self._keys.fields, *others])
        layout = Layout(self._stored, tuple(self._keys.names), Kind.MULTISET)
        self._rows = context.arrangements.declare("rows", layout)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._next = first_number(epoch) + self.context.subtask

    def process(self, batch: ColumnBatch, port: int) -> None:
        step = self.context.parallelism
        order = np.arange(self._next, self._next + len(batch) * step, step)
        self._next += len(batch) * step
        others = [batch.rows.column(place) for place in self._others]
        columns = [pa.array(order), *self._keys.columns(batch), *others]
        self._rows.put(pa.RecordBatch.from_arrays(columns, schema=self._stored))

    def results(self) -> Iterator[ColumnBatch]:
        """Yield the rows of all partitions."""
        return map(self._with_results, self._rows.rows())

    def _with_results(self, part: pa.RecordBatch) -> ColumnBatch:
        codes, _ = codes_of([part.column(name) for name in self._keys.names])
        order = sorting(codes, self._as_input(part), self._over.order, numbers(part.column(ORDER)))
        rows = self._as_input(part.take(pa.array(order)))
        results = self._calls.of(Partitions(codes[order], rows, self._over.order))
        return ColumnBatch(pa.RecordBatch.from_arrays([*rows.columns, *results], schema=self._schema))

    def _as_input(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        columns: list[pa.Array] = [pa.nulls(0)] * len(self._input)
        for name, place in zip(self._keys.names, self._keys.places, strict=False):
            columns[place] = rows.column(name)
        for place in self._others:
            columns[place] = rows.column(f"c{place}")
        return pa.RecordBatch.from_arrays(columns, schema=self._input)
