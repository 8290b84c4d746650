"""What the rows that have come out leave behind for the frames of later ones."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.windows import OverAggregate
from firesteel.runtime.columns.over.calls import Calls
from firesteel.runtime.columns.over.frames import Frames, frames_of
from firesteel.runtime.columns.over.ordering import in_order
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.state.arrangements.columns import Mask, numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

TIME: Final = "time"
ORDER: Final = "order"
"""The number of a row in the order in which rows came."""

BEFORE_ALL: Final = 0
"""The time that Flink takes for the last one of a key that has no rows yet."""


class Sorted(NamedTuple):
    """Rows sorted by the number of their key, then by time and order."""

    codes: Positions
    times: Times
    rows: pa.RecordBatch


class History:
    """The accumulators and rows of each key, so far."""

    def __init__(self, arrangements: LiveArrangements, over: OverAggregate, keys: Keys, calls: Calls) -> None:
        frame = over.frame
        self._calls = calls
        self._keys = keys
        self._lower = frame.lower
        self._rows = frame.rows or (frame.lower is None and not over.event_time)
        self._peers = not self._rows
        names = tuple(keys.names)
        time, order = pa.field(TIME, pa.int64()), pa.field(ORDER, pa.int64())
        self._kept = pa.schema([time, order, *keys.fields, *calls.accumulators, *calls.values])
        self._totals = pa.schema([*keys.fields, *calls.accumulators])
        self._recalls = frame.lower is not None or bool(calls.values)
        if self._recalls:
            self._recent = arrangements.declare("recent", Layout(self._kept, names, Kind.MULTISET))
        if frame.lower is None:
            totals = Layout(self._totals, names, time_to_live=over.time_to_live)
            self._sums = arrangements.declare("totals", totals)

    def last_times(self, rows: pa.RecordBatch) -> Times:
        """Return for each row the time of the last row of its key that has come out."""
        keys = rows.select(self._keys.names)
        codes, firsts = codes_of(keys.columns)
        found = self._recent.of(keys.take(pa.array(firsts)))
        last = np.full(len(firsts), BEFORE_ALL)
        np.maximum.at(last, found.keys, numbers(found.rows.column(TIME)))
        return last[codes]

    def results(self, due: Sorted, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the results of rows, and remember what later ones need; `rows` has the columns of the input."""
        lifted = self._calls.lift(rows)
        count = len(self._calls.accumulators)
        begins = np.flatnonzero(np.append(True, due.codes[1:] != due.codes[:-1]))
        keys = due.rows.select(self._keys.names).take(pa.array(begins))
        numbered = due._replace(codes=np.cumsum(np.append(False, due.codes[1:] != due.codes[:-1])))
        framed = None if self._lower is not None else self._running(numbered, lifted[:count], keys)
        if not self._recalls:
            assert framed is not None
            return self._calls.results(framed, rows, [], due.codes, due.codes)
        every, mine = self._with_recent(numbered, lifted, keys)
        frames = self._frames(every.codes, every.times, self._lower)
        columns = every.rows.columns[-len(lifted) :] if lifted else []
        if framed is None:
            framed = [column.take(pa.array(mine)) for column in self._calls.framed(columns[:count], frames)]
        self._keep(every, mine, frames, rows)
        return self._calls.results(framed, rows, columns[count:], frames.ends[mine], frames.first[mine])

    def _frames(self, codes: Positions, times: Times, lower: int | None) -> Frames:
        return frames_of(codes, times, rows=self._rows, lower=lower, peers=self._peers)

    def _running(self, due: Sorted, lifted: list[pa.Array], keys: pa.RecordBatch) -> list[pa.Array]:
        """Return the accumulators of all rows of a key up to each row, and remember those up to the last one."""
        found = self._sums.get(keys)
        codes = np.concatenate((found.keys, due.codes))
        order = np.argsort(codes, kind="stable")
        times = np.concatenate((np.full(len(found.keys), MIN_WATERMARK), due.times))[order]
        sums = found.rows.columns[len(self._keys.names) :]
        columns = [pa.concat_arrays(pair).take(pa.array(order)) for pair in zip(sums, lifted, strict=True)]
        framed = self._calls.framed(columns, self._frames(codes[order], times, None))
        ends = np.flatnonzero(np.append(np.diff(codes[order]) != 0, True))
        last = [column.take(pa.array(ends)) for column in framed]
        self._sums.put(pa.RecordBatch.from_arrays([*keys.columns, *last], schema=self._totals))
        mine = np.flatnonzero(order >= len(found.keys))
        return [column.take(pa.array(mine)) for column in framed]

    def _with_recent(
        self, due: Sorted, lifted: list[pa.Array], keys: pa.RecordBatch
    ) -> tuple[Sorted, Positions]:
        """Return the rows with those of their keys that are remembered, and where the former are among them."""
        found = self._recent.of(keys)
        fresh = pa.RecordBatch.from_arrays(
            [*due.rows.select([TIME, ORDER, *self._keys.names]).columns, *lifted], schema=self._kept
        )
        if not found.rows.num_rows:
            return Sorted(due.codes, due.times, fresh), np.arange(len(due.codes))
        known = in_order(found.keys, numbers(found.rows.column(TIME)), numbers(found.rows.column(ORDER)))
        rows = pa.concat_batches([found.rows.take(pa.array(known)), fresh])
        codes = np.concatenate((found.keys[known], due.codes))
        order = np.argsort(
            codes, kind="stable"
        )  # what is remembered of a key is earlier than all that is due
        rows = rows.take(pa.array(order))
        return Sorted(codes[order], numbers(rows.column(TIME)), rows), np.flatnonzero(
            order >= len(found.keys)
        )

    def _keep(self, every: Sorted, mine: Positions, frames: Frames, rows: pa.RecordBatch) -> None:
        """Remember the rows that frames of later rows can contain, and no others."""
        count = len(every.codes)
        wanted = self._wanted(every, frames, rows)
        old = np.ones(count, np.bool_)
        old[mine] = False
        self._recent.delete(every.rows.filter(pa.array(old & ~wanted)))
        self._recent.put(every.rows.filter(pa.array(~old & wanted)))

    def _wanted(self, every: Sorted, frames: Frames, rows: pa.RecordBatch) -> Mask:
        lasts = np.flatnonzero(np.append(np.diff(every.codes) != 0, True))
        last = np.repeat(lasts, np.diff(lasts, prepend=-1))
        reach = self._calls.reach(rows)
        if self._rows and self._lower is not None:
            reach = max(reach, self._lower, 1)
        wanted: Mask = last - np.arange(len(last)) < reach
        if not self._rows and self._lower is not None:
            wanted |= every.times >= every.times[last] - self._lower
        return wanted
