"""Operators whose rows have windows already, and wait until these are over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.waiting import ORDER, Waiting
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.columns.times import over_until, present_times
from firesteel.runtime.columns.windows.gathering import MOST_ROWS
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import Numbers, numbers


class WindowRows:
    """Rows of one input that wait, by key, for the ends of their windows, which column `end` has (local time)."""

    def __init__(
        self, schema: pa.Schema, keys: tuple[int, ...], end: int, context: OperatorContext, name: str
    ) -> None:
        assert context.arrangements is not None
        self._context = context
        self._end = end
        self._kept = KeyedRows(schema, keys)
        self._waiting = Waiting(
            context.arrangements, self._kept.keys, self._kept.others, context.max_parallelism, name
        )

    def begin(self, epoch: Epoch) -> None:
        """Begin an epoch."""
        self._waiting.begin()
        self._kept.begin(epoch, self._context)

    def ends(self, batch: ColumnBatch) -> Numbers:
        """Return the ends of the windows of rows. Raises ProgramError for NULL."""
        return present_times(batch, self._end, self._context.who)

    def numbered(self, batch: ColumnBatch, ends: Numbers) -> pa.RecordBatch:
        """Return rows as they wait, numbered as they came."""
        columns = [pa.array(ends), pa.array(self._kept.orders(len(batch))), *self._kept.columns(batch)]
        return pa.RecordBatch.from_arrays(columns, schema=self._waiting.schema)

    def put(self, rows: pa.RecordBatch) -> None:
        """Let numbered rows wait."""
        self._waiting.put(rows)

    def due(self, until: int) -> pa.RecordBatch | None:
        """Take out the rows of windows that end up to a local time, as they wait; None if there are none."""
        return self._waiting.due(until)

    def as_input(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows that waited as they came."""
        return self._kept.as_input(rows)

    def arrivals(self, rows: pa.RecordBatch) -> Numbers:
        """Return the numbers of rows that waited."""
        return numbers(rows.column(ORDER))

    def settle(self) -> None:
        """Write what is held in memory."""
        self._waiting.settle()


class ClosingOperator(SettlingOperator):
    """Keeps rows until their windows are over, in local time of a zone; a row whose window is over is dropped, counted.

    Contract for subclasses: `waiting` yields where the rows of each input wait, when the operator is opened; `worth`
    says which new rows must wait; `fire` takes the rows of each input whose windows are over now, of which no more will
    come, and sends what they come to. Both take rows numbered as `WindowRows` has them.
    """

    def __init__(self, zone: str) -> None:
        self._zone = zone

    @abstractmethod
    def waiting(self, context: OperatorContext) -> Iterable[WindowRows]:
        """Return where the rows of each input wait."""

    @abstractmethod
    def fire(self, due: list[pa.RecordBatch | None]) -> None:
        """Send what the rows come to whose windows are over; None: there are none of an input."""

    def worth(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return those of new rows that matter whatever else comes."""
        return rows

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of rows that wait."""
        super().open(context)
        self._late = context.metrics.counter("numLateRecordsDropped")
        self._inputs = tuple(self.waiting(context))

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        self._over = over_until(self.watermark, self._zone)
        self._forget()
        for rows in self._inputs:
            rows.begin(epoch)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let the rows wait that are not late."""
        rows = self._inputs[port]
        ends = rows.ends(batch)
        late = ends <= self._over
        if late.any():
            self._late.inc(int(late.sum()))
            kept = np.flatnonzero(~late)
            batch, ends = batch.take(kept), ends[kept]
        if len(batch):
            self._gathered[port].append(rows.numbered(batch, ends))
            self._count += len(batch)
        if self._count >= MOST_ROWS:
            self._settle()

    def advance_watermark(self, watermark: int) -> None:
        """Advance; windows that are over by then fire with the next step."""
        super().advance_watermark(watermark)
        self._over = over_until(watermark, self._zone)

    def end_epoch(self) -> OperatorReport:
        """Send what is due, and write the rows that wait on."""
        report = super().end_epoch()
        for rows in self._inputs:
            rows.settle()
        return report

    def _work(self) -> None:
        for rows, gathered in zip(self._inputs, self._gathered, strict=True):
            if gathered:
                rows.put(self.worth(pa.concat_batches(gathered)))
        self._forget()
        due = [rows.due(self._over) for rows in self._inputs]
        if any(rows is not None for rows in due):
            self.fire(due)

    def _forget(self) -> None:
        self._gathered: list[list[pa.RecordBatch]] = [[] for _ in self._inputs]
        self._count = 0
