"""The first rows of a table that changes: ORDER BY with LIMIT, and LIMIT over updates, in STREAMING mode.

All rows are kept, or if rows never go, those alone that are shown. The first of them are held in memory, sorted: all
that come before a boundary, so that most changes need no look at the others. Only when so many of them have gone that
too few are left, all rows are read, and a new boundary is chosen.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.sinks import Materialization
from firesteel.functions.columns.sorting import Top
from firesteel.runtime.columns.arrivals import ARRIVAL, numbered
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.materialize.tables import KeyedEntries
from firesteel.runtime.columns.sort_order import require_sortable, sorted_places
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import Mask, Numbers, numbers

_RESERVE: Final = 1000
"""How many rows more than twice what is needed are held in memory."""


class TopOperator(ChangingOperator):
    """Emits how the first rows change, once in an epoch: deletes, then inserts; runs in one subtask."""

    most = 1 << 16

    def __init__(self, top: Top) -> None:
        self._top = top
        self._end = top.offset + top.fetch
        self._schema = to_arrow_schema(top.row)
        places = tuple(range(len(top.row.fields)))
        self._entries = KeyedEntries(Materialization(top.row, places, ()))
        self._held: int | None = None
        """The epoch to which what is held in memory belongs."""

        self._first: pa.RecordBatch = pa.RecordBatch.from_pylist([], self._entries.stored)
        self._boundary: pa.RecordBatch | None = None
        """The row up to which all rows are in `_first`; None: they are all there."""

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        require_sortable(self._schema, self._top.order, context.who)
        assert context.arrangements is not None
        self._rows = context.arrangements.declare("rows", self._entries.layout)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        if self._held != self.epoch - 1:
            self._held = None
        self._shown: pa.RecordBatch | None = None
        """What those who follow know of what is shown, once there is a change."""

    def end_epoch(self) -> OperatorReport:
        """Emit how the first rows have changed."""
        report = super().end_epoch()
        if self._held is not None:
            self._held = self.epoch
        return report

    def _settle(self) -> None:
        self._work()
        if self._shown is not None:
            self._emit(self._shown, self._window())
            self._shown = None
        super()._settle()

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        if self._shown is None:
            if self._held is None:
                self._read()
                self._held = self.epoch
            self._shown = self._window()
        changes = numbered(batch, first, self._entries.stored)
        if self._top.retracts:
            self._change(changes, batch.signs())
        else:
            self._add(changes)

    def _window(self) -> pa.RecordBatch:
        return self._first.slice(self._top.offset, self._top.fetch)

    def _add(self, rows: pa.RecordBatch) -> None:
        """Add rows where none ever go: those that are not shown are forgotten."""
        known = self._first.num_rows
        every = pa.concat_batches([self._first, rows])
        order = np.asarray(sorted_places(every, self._top.order))
        kept, gone = order[: self._end], order[self._end :]
        self._rows.delete(every.take(pa.array(gone[gone < known])))
        self._rows.put(every.take(pa.array(np.sort(kept[kept >= known]))))
        self._first = every.take(pa.array(kept))

    def _change(self, changes: pa.RecordBatch, signs: Numbers) -> None:
        """Add and remove rows; read all of them if too few are left in memory."""
        applied = self._entries.apply(self._rows, changes, signs)
        self._entries.store(self._rows, applied, applied.entries)
        left = applied.entries.places
        stays = np.zeros(applied.rows.num_rows, np.bool_)
        stays[left] = True
        gone = numbers(applied.rows.column(ARRIVAL))[: applied.old][~stays[: applied.old]]
        fresh = applied.rows.take(pa.array(left[left >= applied.old]))
        held = ~np.isin(numbers(self._first.column(ARRIVAL)), gone)
        self._hold(pa.concat_batches([self._first.filter(pa.array(held)), fresh]))
        if self._first.num_rows < self._end and self._boundary is not None:
            self._read()

    def _hold(self, rows: pa.RecordBatch) -> None:
        """Hold the rows that are not behind the boundary, and fewer if they are very many."""
        order = self._sorted(rows)
        if order.num_rows > 2 * (2 * self._end + _RESERVE):
            order = order.slice(0, 2 * self._end + _RESERVE)
            self._boundary = order.slice(order.num_rows - 1)
        self._first = order

    def _sorted(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that are not behind the boundary, in their order."""
        if self._boundary is None:
            return rows.take(sorted_places(rows, self._top.order))
        order = np.asarray(
            sorted_places(pa.concat_batches([rows, self._boundary]), self._top.order)
        )  # of two rows that are the same, the one that comes first is first
        (end,) = np.flatnonzero(order == rows.num_rows)
        return rows.take(pa.array(order[:end]))

    def _read(self) -> None:
        """Hold the first of all rows."""
        self._boundary = None
        self._first = pa.RecordBatch.from_pylist([], self._entries.stored)
        most = 2 * self._end + _RESERVE
        for part in self._rows.rows():
            rows = self._sorted(pa.concat_batches([self._first, part]))
            if rows.num_rows > most:
                rows = rows.slice(0, most)
                self._boundary = rows.slice(most - 1)
            self._first = rows

    def _emit(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        old, new = (numbers(rows.column(ARRIVAL)) for rows in (before, after))
        gone, fresh = _where(before, ~np.isin(old, new)), _where(after, ~np.isin(new, old))
        self._replace(self._as_input(gone), self._as_input(fresh))

    def _as_input(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(rows.columns[:-1], schema=self._schema)


def _where(rows: pa.RecordBatch, mask: Mask) -> pa.RecordBatch:
    return rows.filter(pa.array(mask))
