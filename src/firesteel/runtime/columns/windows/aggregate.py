"""Aggregates by key and window, of tumbling, hopping and cumulating windows.

Rows are aggregated into their slices, which an arrangement keeps by (end of the slice, key). When the watermark passes
the end of a window its slices are merged, and those that no other window needs are deleted: both are a range.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.windows import WindowAggregate
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.folding import LEAD, Folding
from firesteel.runtime.columns.windows.gathering import stages
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.columns.windows.operator import GatheringOperator
from firesteel.runtime.columns.windows.placing import placing_of
from firesteel.runtime.columns.windows.results import Results
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Layout


class SlicingAggregateOperator(GatheringOperator):
    """Emits the results of each window once, when it is over; see the module."""

    def __init__(self, aggregate: WindowAggregate) -> None:
        super().__init__(aggregate.window)
        self._aggregate = aggregate

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        given = self._aggregate
        schema = to_arrow_schema(given.input)
        keys = Keys(schema, given.keys)
        self._placing = placing_of(given.window, context.who)
        self._folding = Folding(schema, keys, given.aggregations, given.retracts)
        self._results = Results(given, keys, self._folding)
        assert context.arrangements is not None
        layout = Layout(self._folding.schema, tuple(keys.names), leading=LEAD)
        self._slices = context.arrangements.declare("slices", layout)

    def _work(self, batch: ColumnBatch, over: Times) -> None:
        windows = self._placing.slicing
        ends = self._placing.ends(batch, self.processing_time, self.context.who)
        last = windows.last_windows(ends)
        late = (last <= over) | (last < ends)
        if late.any():
            self._late.inc(int(late.sum()))
            kept = np.flatnonzero(~late)
            batch, ends, over, last = batch.take(kept), ends[kept], over[kept], last[kept]
        if not len(ends):
            return
        self._last = max(self._last, int(last.max()))
        for start, stop, until in stages(over, windows.first_windows(ends) <= over):
            if until is not None:
                self._fire(until)
            self._add(batch.slice(start, stop), ends[start:stop])

    def _add(self, batch: ColumnBatch, ends: Times) -> None:
        fresh = self._folding.partial(ends, batch)
        found = self._slices.get(fresh).rows
        if found.num_rows:
            fresh = self._folding.merged(pa.concat_batches([found, fresh]))
        self._slices.put(fresh)

    def _next_end(self, after: int) -> int:
        return self._placing.slicing.next_window(after)

    def _fire(self, until: int) -> None:
        after, self._fired = self._fired, max(until, self._fired)
        windows = self._placing.slicing
        if windows.next_window(after) > until:
            return
        slices = self._slices.up_to(until)
        if not slices.num_rows:
            return
        if windows.cumulates:
            self._fire_one_by_one(slices, after, until)
        else:
            self._fire_together(slices, after, until)

    def _fire_together(self, slices: pa.RecordBatch, after: int, until: int) -> None:
        windows, ends = self._placing.slicing, numbers(slices.column(LEAD))
        results = slices
        if windows.merges:
            places, due = windows.windows(ends, after, until)
            results = self._folding.merged(self._folding.led_by(due, slices.take(pa.array(places))))
        self._emit(results)
        over = windows.last_windows(ends) <= until
        self._slices.delete(slices if over.all() else slices.filter(pa.array(over)))

    def _fire_one_by_one(self, slices: pa.RecordBatch, after: int, until: int) -> None:
        """Complete windows in order; the slices of one become a single slice, which the next window begins with."""
        windows, ends = self._placing.slicing, numbers(slices.column(LEAD))
        due = np.unique(windows.windows(np.unique(ends), after, until)[1])
        starts, starts_due = windows.window_starts(ends), windows.window_starts(due)
        self._slices.delete(slices.filter(pa.array(np.isin(starts, starts_due))))
        for start in np.unique(starts_due).tolist():
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
            self._emit(whole)
            done = end
        return whole

    def _emit(self, rows: pa.RecordBatch) -> None:
        rows = self._folding.alive(rows)
        if rows.num_rows:
            ends = numbers(rows.column(LEAD))
            self.output.emit(self._results.batch(rows, self._placing.slicing.window_starts(ends), ends))
