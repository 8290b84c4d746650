"""Operators of SESSION windows: aggregates by key and session, and rows with their sessions.

A row that comes after the watermark has passed its own end is late, unless it touches a session that goes on: as in
Flink, it is merged first. So such rows are looked at one after another, but only those that touch anything at all.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.windows import WindowAggregate, WindowAssignment, WindowTable
from firesteel.runtime.columns.arrivals import first_number
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times, times_of
from firesteel.runtime.columns.windows.folding import LEAD, Folding
from firesteel.runtime.columns.windows.gathering import stages
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.columns.windows.operator import GatheringOperator
from firesteel.runtime.columns.windows.properties import window_columns
from firesteel.runtime.columns.windows.results import Results
from firesteel.runtime.columns.windows.session_rows import SessionRows
from firesteel.runtime.columns.windows.sessions import END, START, Rows, Sessions, rows_of, whole_schema
from firesteel.runtime.columns.windows.whole import WholeRows
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.sorting import Positions

_BOUNDS: Final = 2
"""The columns of a session before its keys."""


class SessionOperator(GatheringOperator):
    """Merges rows into sessions, and completes those that are over; a subclass says what of their rows is kept."""

    _sessions: Sessions

    def __init__(self, window: WindowAssignment, row: RowType, keys: tuple[int, ...]) -> None:
        super().__init__(window)
        self._gap = window.shape.size
        self._row = row
        self._input = to_arrow_schema(row)
        self._keys = Keys(self._input, keys)

    @abstractmethod
    def _keep(self, rows: Rows, batch: ColumnBatch) -> None:
        """Merge rows that are not late."""

    @abstractmethod
    def _complete(self, sessions: pa.RecordBatch) -> None:
        """Emit sessions that are over."""

    def _intervals(self, batch: ColumnBatch) -> tuple[Times, Times]:
        """Return the start and the end of the session that each row is by itself."""
        times = times_of(batch, self._window, self.processing_time, self.context.who)
        return times, times + self._gap

    def _receive(self, batch: ColumnBatch, over: Times) -> None:
        starts, ends = self._intervals(batch)
        self._last = max(self._last, int(ends.max()))
        for start, stop, until in stages(over, starts <= over):
            if until is not None:
                self._fire(until)
            part = slice(start, stop)
            self._take(batch.slice(start, stop), starts[part], ends[part], over[part])

    def _take(self, batch: ColumnBatch, starts: Times, ends: Times, over: Times) -> None:
        late = ends <= over
        if late.any():
            lost = late & (self._sessions.touching(rows_of(self._keys, batch, starts, ends)) <= over)
            self._late.inc(int(lost.sum()))
            kept = np.flatnonzero(~lost)
            batch, late = batch.take(kept), late[kept]
            starts, ends, over = starts[kept], ends[kept], over[kept]
        start = 0
        for place in np.flatnonzero(late).tolist():
            self._merge(batch.slice(start, place), starts[start:place], ends[start:place])
            one = slice(place, place + 1)
            self._merge_if_touching(batch.slice(place, place + 1), starts[one], ends[one], int(over[place]))
            start = place + 1
        self._merge(batch.slice(start, len(batch)), starts[start:], ends[start:])

    def _merge_if_touching(self, batch: ColumnBatch, starts: Times, ends: Times, over: int) -> None:
        if self._sessions.touching(rows_of(self._keys, batch, starts, ends))[0] > over:
            self._merge(batch, starts, ends)
        else:
            self._late.inc()

    def _merge(self, batch: ColumnBatch, starts: Times, ends: Times) -> None:
        if len(batch):
            self._keep(rows_of(self._keys, batch, starts, ends), batch)

    def _fire(self, until: int) -> None:
        if until <= self._fired:
            return
        self._fired = until
        over = self._sessions.take(until)
        if over.num_rows:
            self._complete(over)

    def _next_end(self, after: int) -> int:
        end = self._sessions.first_end()
        return MAX_WATERMARK if end is None else end


class SessionAggregateOperator(SessionOperator):
    """Emits the results of each session once, when it is over.

    `partial`: the input is that of `LocalSessionOperator`.
    """

    def __init__(self, aggregate: WindowAggregate, *, partial: bool = False) -> None:
        super().__init__(aggregate.window, aggregate.input, aggregate.keys)
        self._aggregate = aggregate
        self._partial = partial
        self._results = Results(aggregate)

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        given = self._aggregate
        self._folding = Folding(given.input, None, given.aggregations, context.who, retracts=given.retracts)
        self._folding.open(context)
        assert context.arrangements is not None
        self._sessions = Sessions(context.arrangements, self._keys, self._folding)
        self._partials = whole_schema(self._keys, self._folding)
        if self._partial:
            self._keys = Keys(self._partials, range(_BOUNDS, _BOUNDS + len(given.keys)))

    def close(self) -> None:
        """Close the user's functions."""
        self._folding.close()
        super().close()

    def _intervals(self, batch: ColumnBatch) -> tuple[Times, Times]:
        if not self._partial:
            return super()._intervals(batch)
        return numbers(batch.rows.column(0)), numbers(batch.rows.column(1))

    def _keep(self, rows: Rows, batch: ColumnBatch) -> None:
        folding = self._folding
        if self._partial:
            given = pa.RecordBatch.from_arrays(batch.rows.columns, schema=self._partials)
            values = folding.led_by(rows.codes, given)
            self._sessions.merge(rows, lambda groups: folding.merged_by(groups, values))
        else:
            self._sessions.merge(rows, lambda groups: folding.partial_by(groups, batch))

    def _complete(self, sessions: pa.RecordBatch) -> None:
        sessions = self._folding.alive(sessions)
        if sessions.num_rows:
            starts, ends = numbers(sessions.column(START)), numbers(sessions.column(END))
            results = self._folding.results(sessions)
            self.output.emit(self._results.batch(self._keys.shown(sessions), results, starts, ends))


class WholeSessionOperator(SessionOperator):
    """Keeps the rows of sessions until these are over; a subclass says what becomes of them then."""

    _fields: list[pa.Field]

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.arrangements is not None
        self._folding = Folding(self._row, None, (), context.who)
        self._sessions = Sessions(context.arrangements, self._keys, self._folding)
        self._waiting = SessionRows(context.arrangements, self._keys, self._fields, self._gap)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._next = first_number(epoch)

    @abstractmethod
    def _columns(self, batch: ColumnBatch) -> list[pa.Array]:
        """Return the columns of `_fields`."""

    @abstractmethod
    def _emit(self, sessions: pa.RecordBatch, rows: pa.RecordBatch, owners: Positions) -> None:
        """Emit sessions, which `owners` are the places of, for each row."""

    def _keep(self, rows: Rows, batch: ColumnBatch) -> None:
        self._sessions.merge(rows, lambda groups: self._folding.partial_by(groups, batch))
        self._waiting.put(self._keys.columns(batch), rows.starts, self._columns(batch))
        self._next += len(batch)

    def _complete(self, sessions: pa.RecordBatch) -> None:
        self._emit(sessions, *self._waiting.take(sessions))


class WholeSessionAggregateOperator(WholeSessionOperator):
    """Emits the results of sessions that need all of their rows."""

    def __init__(self, aggregate: WindowAggregate) -> None:
        super().__init__(aggregate.window, aggregate.input, aggregate.keys)
        self._whole = WholeRows(aggregate, self._keys)
        self._results = Results(aggregate)
        self._fields = [field for field in self._whole.fields if field.name not in self._keys.names]

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._whole.open(context)

    def close(self) -> None:
        """Close the user's functions."""
        self._whole.close()
        super().close()

    def _columns(self, batch: ColumnBatch) -> list[pa.Array]:
        columns = dict(
            zip(
                (field.name for field in self._whole.fields),
                self._whole.columns(batch, self._next),
                strict=True,
            )
        )
        return [columns[field.name] for field in self._fields]

    def _emit(self, sessions: pa.RecordBatch, rows: pa.RecordBatch, owners: Positions) -> None:
        found = self._whole.results(owners, rows)
        if found.num_rows:
            places = numbers(found.column(LEAD))
            starts, ends = numbers(sessions.column(START))[places], numbers(sessions.column(END))[places]
            keys = self._keys.shown(found)
            results = found.columns[1 + len(keys) :]
            self.output.emit(self._results.batch(keys, results, starts, ends))


class SessionTableOperator(WholeSessionOperator):
    """Emits the rows of each session, with the session, when it is over."""

    def __init__(self, table: WindowTable) -> None:
        super().__init__(table.window, table.input, table.partition)
        self._output = to_arrow_schema(table.output)
        self._fields = [pa.field(f"c{place}", kind) for place, kind in enumerate(self._input.types)]

    def _columns(self, batch: ColumnBatch) -> list[pa.Array]:
        return list(batch.rows.columns)

    def _emit(self, sessions: pa.RecordBatch, rows: pa.RecordBatch, owners: Positions) -> None:
        starts, ends = numbers(sessions.column(START))[owners], numbers(sessions.column(END))[owners]
        types = self._output.types[-3:]
        added = window_columns(("start", "end", "time"), starts, ends, types, self._window.zone)
        columns = [rows.column(field.name) for field in self._fields]
        self.output.emit(ColumnBatch(pa.RecordBatch.from_arrays([*columns, *added], schema=self._output)))
