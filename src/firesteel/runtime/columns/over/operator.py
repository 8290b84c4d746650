"""OVER aggregates: rows wait for the watermark, and come out in the order of their times, with their results.

In event time a row is late if the watermark has passed its time; over a bounded frame, as in Flink, only if a row of
its key with this time or a later one has come out. In processing time rows come out at once.

There are three arrangements. Rows that wait are sorted by time first, so those that are due are a range. Of rows that
have come out, a bounded frame needs the last ones of each key (`recent`), an unbounded one the accumulators of each key
(`totals`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.windows import OverAggregate, WindowAssignment, WindowShape
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.over.calls import Calls
from firesteel.runtime.columns.over.history import BEFORE_ALL, ORDER, TIME, History, Sorted
from firesteel.runtime.columns.over.ordering import in_order
from firesteel.runtime.columns.times import Times, times_of
from firesteel.runtime.columns.windows.gathering import stages
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.runtime.columns.windows.operator import GatheringOperator
from firesteel.runtime.columns.windows.whole import first_number
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import Mask, numbers
from firesteel.state.arrangements.layout import Kind, Layout

STRETCH: Final = "stretch"
"""The stretch of time in which a row is: rows that wait are sorted by it, which is faster than by many times."""

_STRETCH: Final = 10
"""Bits of the milliseconds of a stretch, about a second."""

_EVERY_MILLISECOND: Final = WindowShape("tumble", 1, 1)


class OverAggregateOperator(GatheringOperator):
    """Appends the results of the calls to each row; see the module."""

    def __init__(self, over: OverAggregate) -> None:
        super().__init__(WindowAssignment(_EVERY_MILLISECOND, over.time, event_time=over.event_time))
        self._over_aggregate = over
        self._input = to_arrow_schema(over.input)
        self._schema = to_arrow_schema(over.output)
        self._keys = Keys(self._input, over.keys)
        self._others = [place for place in range(len(self._input)) if place not in over.keys]

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        others = [pa.field(f"c{place}", self._input.types[place]) for place in self._others]
        time, order = pa.field(TIME, pa.int64()), pa.field(ORDER, pa.int64())
        self._stored = pa.schema([pa.field(STRETCH, pa.int64()), time, order, *self._keys.fields, *others])
        assert context.arrangements is not None
        if self._window.event_time:
            layout = Layout(self._stored, tuple(self._keys.names), Kind.MULTISET, leading=STRETCH)
            self._waiting = context.arrangements.declare("waiting", layout)
        calls = Calls(self._over_aggregate, context.who)
        self._history = History(context.arrangements, self._over_aggregate, self._keys, calls)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._next = first_number(epoch) + self.context.subtask

    def _work(self, batch: ColumnBatch, over: Times) -> None:
        times = times_of(batch, self._window, self.processing_time, self.context.who)
        rows = self._numbered(batch, times)
        if not self._window.event_time:
            self._emit(rows)
        elif self._over_aggregate.frame.lower is None:
            self._wait(rows, times < over)
        else:
            for start, stop, until in stages(over, times < over):
                if until is not None:
                    self._fire(until)
                part, mine = rows.slice(start, stop - start), times[start:stop]
                passed = (mine < over[start:stop]).any()
                self._wait(part, mine <= (self._history.last_times(part) if passed else BEFORE_ALL))

    def _wait(self, rows: pa.RecordBatch, late: Mask) -> None:
        if late.any():
            self._late.inc(int(late.sum()))
            rows = rows.filter(pa.array(~late))
        self._waiting.put(rows)

    def _fire(self, until: int) -> None:
        if until <= self._fired or not self._window.event_time:
            return
        self._fired = until
        last = until if until == MAX_WATERMARK else until - 1
        stretch = last >> _STRETCH
        rows = self._waiting.up_to(stretch)
        due = numbers(rows.column(TIME)) <= last
        if due.any():
            self._waiting.drop_up_to(stretch)
            self._waiting.put(rows.filter(pa.array(~due)))
            self._emit(rows.filter(pa.array(due)))

    def _next_end(self, after: int) -> int:
        return after + 1

    def _numbered(self, batch: ColumnBatch, times: Times) -> pa.RecordBatch:
        step = (
            self.context.parallelism
        )  # so that no two rows of an epoch have one number, whoever gets them later
        order = np.arange(self._next, self._next + len(batch) * step, step)
        self._next += len(batch) * step
        others = [batch.rows.column(place) for place in self._others]
        return pa.RecordBatch.from_arrays(
            [
                pa.array(times >> _STRETCH),
                pa.array(times),
                pa.array(order),
                *self._keys.columns(batch),
                *others,
            ],
            schema=self._stored,
        )

    def _emit(self, due: pa.RecordBatch) -> None:
        """Emit rows with their results, by key and in the order of their times."""
        codes, _ = codes_of([due.column(name) for name in self._keys.names])
        times = numbers(due.column(TIME))
        order = in_order(codes, times, numbers(due.column(ORDER)))
        due = due.take(pa.array(order))
        rows = self._as_input(due)
        results = self._history.results(Sorted(codes[order], times[order], due), rows)
        columns = [*rows.columns, *results]
        self.output.emit(ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=self._schema)))

    def _as_input(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        columns: list[pa.Array] = [pa.nulls(0)] * len(self._input)
        for name, place in zip(self._keys.names, self._keys.places, strict=False):
            columns[place] = rows.column(name)
        for place in self._others:
            columns[place] = rows.column(f"c{place}")
        return pa.RecordBatch.from_arrays(columns, schema=self._input)
