"""Aggregates by key and window whose partial results can be added up.

Rows are aggregated into their slices, which an arrangement keeps by (end of the slice, key). When the watermark passes
the end of a window its slices are merged, and those that no other window needs are dropped: both are a range.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.windows import WindowAggregate
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.folding import LEAD, Folding
from firesteel.runtime.columns.windows.slicing_operator import SlicingOperator
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.sorting import distinct


class SlicingAggregateOperator(SlicingOperator):
    """Keeps the partial results of each slice; see the module.

    `partial`: the input is that of `LocalSlicingOperator`.
    """

    def __init__(self, aggregate: WindowAggregate, *, partial: bool = False) -> None:
        super().__init__(aggregate)
        self._partial = partial

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        given = self._aggregate
        self._folding = Folding(
            given.input, self._keys, given.aggregations, context.who, retracts=given.retracts
        )
        self._folding.open(context)
        assert context.arrangements is not None
        layout = Layout(self._folding.schema, tuple(self._keys.names), leading=LEAD)
        self._slices = context.arrangements.declare("slices", layout)

    def close(self) -> None:
        """Close the user's functions."""
        self._folding.close()
        super().close()

    def _ends(self, batch: ColumnBatch) -> Times:
        return numbers(batch.rows.column(0)) if self._partial else super()._ends(batch)

    def _add(self, batch: ColumnBatch, ends: Times) -> None:
        folding = self._folding
        if self._partial:
            given = pa.RecordBatch.from_arrays(batch.rows.columns, schema=folding.schema)
            fresh = folding.merged(given)
        else:
            fresh = folding.partial(ends, batch)
        found = self._slices.get(fresh).rows
        if found.num_rows:
            fresh = folding.merged(pa.concat_batches([found, fresh]))
        self._slices.put(fresh)

    def _complete(self, slices: pa.RecordBatch, after: int, until: int) -> None:
        if self._windows.cumulates:
            self._fire_one_by_one(slices, after, until)
            return
        ends, results = numbers(slices.column(LEAD)), slices
        if self._windows.merges:
            places, due = self._windows.windows(ends, after, until)
            results = self._folding.merged(self._folding.led_by(due, slices.take(pa.array(places))))
        self._emit_partial(results)
        self._drop(ends, until)

    def _fire_one_by_one(self, slices: pa.RecordBatch, after: int, until: int) -> None:
        """Complete windows in order; the slices of one become a single slice, which the next window begins with."""
        windows, ends = self._windows, numbers(slices.column(LEAD))
        due = distinct(windows.windows(distinct(ends), after, until)[1])
        starts, starts_due = windows.window_starts(ends), windows.window_starts(due)
        self._slices.delete(slices.filter(pa.array(np.isin(starts, starts_due))))
        for start in distinct(starts_due).tolist():
            mine = slices.filter(pa.array(starts == start))
            whole = self._fire_from(mine, due[starts_due == start].tolist())
            if start + windows.size > until:
                self._slices.put(whole)

    def _fire_from(self, slices: pa.RecordBatch, due: list[int]) -> pa.RecordBatch:
        """Complete windows with one start, and return the slice that all slices up to the last end have become."""
        ends = numbers(slices.column(LEAD))
        whole, done = slices.slice(0, 0), MIN_WATERMARK
        for end in due:
            fresh = slices.filter(pa.array((ends > done) & (ends <= end)))
            both = pa.concat_batches([whole, fresh])
            whole = self._folding.merged(self._folding.led_by(np.full(both.num_rows, end), both))
            self._emit_partial(whole)
            done = end
        return whole

    def _emit_partial(self, rows: pa.RecordBatch) -> None:
        rows = self._folding.alive(rows)
        self._emit(numbers(rows.column(LEAD)), rows, self._folding.results(rows))
