"""The first row of each key by row time: it waits for the watermark, and is the only one of its key from then on.

Source: Flink's RowTimeDeduplicateKeepFirstRowFunction.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.ranks import FirstRow
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.waiting import ORDER, TIME, Waiting
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.columns.times import present_times
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import Mask, numbers
from firesteel.state.arrangements.layout import Layout

_MOST_WAITING: Final = 1 << 18
_NEVER: Final = (1 << 63) - 1


class FirstRowOperator(SettlingOperator):
    """Sends the first row of each key when the watermark has passed it; drops and counts those that come too late."""

    def __init__(self, spec: FirstRow) -> None:
        self._spec = spec
        self._rows = KeyedRows(to_arrow_schema(spec.row), spec.keys)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of the rows that wait, and of the keys that have had theirs."""
        super().open(context)
        assert context.arrangements is not None
        keys = self._rows.keys
        self._late = context.metrics.counter("numLateRecordsDropped")
        self._waiting = Waiting(context.arrangements, keys, self._rows.others, context.max_parallelism)
        times = [pa.field(TIME, pa.int64()), pa.field(ORDER, pa.int64())]
        layout = Layout(pa.schema([*keys.fields, *times]), tuple(keys.names))
        self._earliest = context.arrangements.declare("earliest", layout)
        given = Layout(
            pa.schema([*keys.fields, times[0]]), tuple(keys.names), time_to_live=self._spec.time_to_live
        )
        self._given = context.arrangements.declare("given", given)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        self._waiting.begin()
        self._rows.begin(epoch, self.context)
        self._come: list[pa.RecordBatch] = []
        self._count = 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Take the rows that are not late."""
        times = present_times(batch, self._spec.time, self.context.who)
        in_time = np.flatnonzero(times >= self.watermark)
        if len(in_time) < len(batch):
            self._late.inc(len(batch) - len(in_time))
            batch, times = batch.take(in_time), times[in_time]
        columns = [pa.array(times), pa.array(self._rows.orders(len(batch))), *self._rows.columns(batch)]
        self._come.append(pa.RecordBatch.from_arrays(columns, schema=self._waiting.schema))
        self._count += len(batch)
        if self._count >= _MOST_WAITING:
            self._work()

    def end_epoch(self) -> OperatorReport:
        """Send what is due, and write what is not."""
        report = super().end_epoch()
        self._waiting.settle()
        return report

    def _work(self) -> None:
        come, self._come, self._count = self._come, [], 0
        if come:
            self._keep(pa.concat_batches(come))
        due = self._waiting.due(self.watermark)
        if due is not None:
            self._send(due)

    def _keep(self, rows: pa.RecordBatch) -> None:
        """Let the first row of each key wait that comes before the one that waits, if none has been sent."""
        rows = rows.take(pa.array(np.lexsort((numbers(rows.column(ORDER)), numbers(rows.column(TIME))))))
        _, firsts = codes_of(rows.select(self._names).columns)
        rows = rows.take(pa.array(firsts))
        keys = rows.select(self._names)
        known = np.full(rows.num_rows, _NEVER)
        found = self._earliest.get(keys)
        known[found.keys] = numbers(found.rows.column(TIME))
        first: Mask = numbers(rows.column(TIME)) < known
        first[self._given.get(keys).keys] = False
        kept = rows.filter(pa.array(first))
        self._earliest.put(kept.select(self._earliest.layout.rows.names))
        self._waiting.put(kept)

    def _send(self, due: pa.RecordBatch) -> None:
        """Send the rows before which none of their key has come since."""
        codes, firsts = codes_of(due.select(self._names).columns)
        found = self._earliest.get(due.select(self._names).take(pa.array(firsts)))
        first = np.full(len(firsts), -1)
        first[found.keys] = numbers(found.rows.column(ORDER))
        sent = due.filter(pa.array(numbers(due.column(ORDER)) == first[codes]))
        sent = sent.take(pa.array(np.argsort(numbers(sent.column(ORDER)), kind="stable")))
        self._earliest.delete(sent.select(self._earliest.layout.rows.names))
        self._given.put(sent.select(self._given.layout.rows.names))
        for part in ColumnBatch(self._rows.as_input(sent)).parts():
            self.output.emit(part)

    @property
    def _names(self) -> list[str]:
        return self._rows.keys.names
