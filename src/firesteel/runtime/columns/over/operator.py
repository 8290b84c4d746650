"""OVER aggregates: rows wait for the watermark, and come out in the order of their times, with their results.

In event time a row is late if the watermark has passed its time; over a bounded frame, as in Flink, only if a row of
its key with this time or a later one has come out, or a timer has passed. In processing time rows come out at once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.windows import OverAggregate, WindowAssignment, WindowShape
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.over.calls import Calls, require_streamable
from firesteel.runtime.columns.over.due import BEFORE_ALL, Due, History
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.ordering import in_order
from firesteel.runtime.columns.over.ranges import RangeRows
from firesteel.runtime.columns.over.records import KeyRecords
from firesteel.runtime.columns.over.summed import SummedRanges
from firesteel.runtime.columns.over.waiting import ORDER, TIME, Waiting
from firesteel.runtime.columns.times import Times, times_of
from firesteel.runtime.columns.windows.gathering import stages
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.columns.windows.operator import GatheringOperator
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import Mask, numbers

_EVERY_MILLISECOND = WindowShape("tumble", 1, 1)


class OverAggregateOperator(GatheringOperator):
    """Appends the results of the calls to each row; see the module."""

    def __init__(self, over: OverAggregate) -> None:
        super().__init__(WindowAssignment(_EVERY_MILLISECOND, over.time, event_time=over.event_time))
        self._over_aggregate = over
        self._input = to_arrow_schema(over.input)
        self._schema = to_arrow_schema(over.output)
        self._kept = KeyedRows(self._input, over.keys)
        self._keys = self._kept.keys

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.arrangements is not None
        over, groups = self._over_aggregate, context.max_parallelism
        require_streamable(over.aggregations, context.who)
        self._calls = calls = Calls(over.input, over.aggregations)
        calls.open(context)
        self._waiting = Waiting(context.arrangements, self._keys, self._kept.others, groups)
        self._history: History
        if over.frame.rows or over.frame.lower is None:
            self._history = KeyRecords(context.arrangements, over, self._keys, calls, groups)
        else:
            make = SummedRanges if SummedRanges.suits(calls) else RangeRows
            self._history = make(context.arrangements, over, self._keys, calls, groups)

    def close(self) -> None:
        """Close the user's functions."""
        self._calls.close()
        super().close()

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._waiting.begin()
        self._history.begin(self._fired - 1)
        self._kept.begin(epoch, self.context)

    def end_epoch(self) -> OperatorReport:
        report = super().end_epoch()
        self._waiting.settle()
        self._history.settle()
        return report

    def _receive(self, batch: ColumnBatch, over: Times) -> None:
        times = times_of(batch, self._window, self.processing_time, self.context.who)
        rows = self._numbered(batch, times)
        if not self._window.event_time:
            self._history.arrive(rows, times)
            self._emit(rows, self.processing_time - 1)
        elif self._over_aggregate.frame.lower is None:
            self._wait(rows, over, times < over)
        else:
            for start, stop, until in stages(over, times < over):
                if until is not None:
                    self._fire(until)
                part, mine, then = rows.slice(start, stop - start), times[start:stop], over[start:stop]
                passed = (mine < then).any() or (mine <= BEFORE_ALL).any()
                late = mine <= self._last_times(part) if passed else np.zeros(len(mine), np.bool_)
                self._wait(part, then, late)

    def _last_times(self, rows: pa.RecordBatch) -> Times:
        """Return for each row the time up to which rows of its key are late."""
        keys = rows.select(self._keys.names)
        codes, firsts = codes_of(keys.columns)
        return self._history.last_times(keys.take(pa.array(firsts)))[codes]

    def _wait(self, rows: pa.RecordBatch, over: Times, late: Mask) -> None:
        if self._over_aggregate.time_to_live is not None and rows.num_rows:
            keys = rows.select(self._keys.names)
            self._history.renew(keys.take(pa.array(codes_of(keys.columns)[1])))
        if late.any():
            self._late.inc(int(late.sum()))
            rows, over = rows.filter(pa.array(~late)), over[~late]
        self._waiting.put(rows)
        self._history.arrive(rows, over)

    def _fire(self, until: int) -> None:
        if until <= self._fired:
            return
        self._fired = until
        last = until if until == MAX_WATERMARK else until - 1
        due = self._waiting.due(last) if self._window.event_time else None
        if due is None:
            self._history.advance(None, last)
        else:
            self._emit(due, last)

    def _next_end(self, after: int) -> int:
        return after + 1

    def _numbered(self, batch: ColumnBatch, times: Times) -> pa.RecordBatch:
        orders = self._kept.orders(len(batch))
        columns = [pa.array(times), pa.array(orders), *self._kept.columns(batch)]
        return pa.RecordBatch.from_arrays(columns, schema=self._waiting.schema)

    def _emit(self, due: pa.RecordBatch, until: int) -> None:
        """Emit rows with their results, by key and in the order of their times."""
        codes, _ = codes_of([due.column(name) for name in self._keys.names])
        order = in_order(codes, numbers(due.column(TIME)), numbers(due.column(ORDER)))
        due = due.take(pa.array(order))
        codes = codes[order]
        begins = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        keys = due.select(self._keys.names).take(pa.array(begins))
        times, orders = numbers(due.column(TIME)), numbers(due.column(ORDER))
        rows = self._kept.as_input(due)
        counts = np.diff(begins, append=len(codes))
        results = self._history.advance(Due(keys, counts, times, orders, rows), until)
        columns = [*rows.columns, *results]
        self.output.emit(ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=self._schema)))
