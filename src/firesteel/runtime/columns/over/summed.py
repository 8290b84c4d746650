"""A frame of a range of time whose calls are sums of whole numbers: each row is read once, when it leaves the frame.

A key's record has the sum of its rows that are in the frame of a row at the time that has been reached, and where that
frame begins (`gone`). The rows that have left the frame since are subtracted. A row that is later than the watermark
has an earlier frame; so rows that have left the frame are kept for a while, and added again for it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.columns.windows import OverAggregate
from firesteel.runtime.columns.aggregates.parts import Additive, Columns, Part
from firesteel.runtime.columns.over.calls import Calls
from firesteel.runtime.columns.over.due import Due, last_peers
from firesteel.runtime.columns.over.forgetting import Step, dropped_up_to
from firesteel.runtime.columns.over.ordering import in_order, not_before
from firesteel.runtime.columns.over.placing import Blocks, blocks_of
from firesteel.runtime.columns.over.reaching import ReachingBack
from firesteel.runtime.columns.over.waiting import ORDER, TIME, by_time
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.columns import Numbers, numbers
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_GONE: Final = "gone"

Sums = npt.NDArray[np.int64]
"""A row for each column of the accumulators."""


class SummedRanges(ReachingBack):
    """Sums over frames that reach back in time."""

    @staticmethod
    def suits(calls: Calls) -> bool:
        """Return whether all calls are sums of whole numbers."""
        return not calls.raw and all(
            isinstance(part, Additive) and not any(map(pa.types.is_floating, part.types))
            for part in calls.parts
        )

    def __init__(
        self, arrangements: LiveArrangements, over: OverAggregate, keys: Keys, calls: Calls, groups: int
    ) -> None:
        words = [pa.field(TIME, pa.int64()), pa.field(ORDER, pa.int64())]
        self._kept = pa.schema([*words, *keys.fields, *calls.kept])
        fields = [pa.field(_GONE, pa.int64()), *calls.kept]
        super().__init__(arrangements, over, keys, calls, fields, by_time(self._kept, keys, groups))
        self._reached = MIN_WATERMARK
        """Rows before this time have left the frames of all rows that are not late."""

    def begin(self, until: int) -> None:
        """Begin an epoch at a time."""
        super().begin(until)
        self._reached = self._frame_at(until)

    def settle(self) -> None:
        """Write what rows have set that time has not passed yet."""
        step = self._known.step(None, None, None)
        if step is not None:
            self._apply(step, self._recent.up_to(MIN_WATERMARK), self._reached)

    def advance(self, due: Due | None, until: int) -> list[pa.Array]:
        """Return the results of due rows, and subtract what has left the frames."""
        reached = max(self._frame_at(until), self._reached)
        low = self._reached if due is None else min(self._reached, int(due.times.min()) - self._lower)
        leaving = self._recent.up_to(reached - 1, after=low - 1)
        step = self._known.step(due, leaving.select(self._names), until)
        results: list[pa.Array] = []
        if step is not None:
            results = self._apply(step, leaving, reached)
            self._drop(dropped_up_to(until, self._lower))
        self._reached = reached
        return results

    def _frame_at(self, until: int) -> int:
        """Return where the frame of the first row after a time begins at the earliest."""
        return min(max(until - self._lower + 1, MIN_WATERMARK), MAX_WATERMARK)

    def _apply(self, step: Step, leaving: pa.RecordBatch, reached: int) -> list[pa.Array]:
        before, codes, due = step.before, step.others, step.due
        count, width = step.keys.num_rows, len(self._calls.kept)
        gone, sums = np.full(count, MIN_WATERMARK), np.zeros((width, count), np.int64)
        gone[before.places] = numbers(before.found.column(_GONE))
        sums[:, before.places] = _matrix(before.found.columns[-width:], len(before.places))
        there = numbers(leaving.column(ORDER)) >= before.born[codes]
        rows = _Rows(due, leaving.filter(pa.array(there)), self._calls)
        rows.place(codes[there], count)
        sums += rows.total(rows.returning(gone))
        results = [] if due is None else self._framed(due, rows, sums)
        sums += rows.total(rows.new) - rows.total(rows.times < reached)
        if due is not None:
            self._keep(due, rows.lifted)
        self._known.write(step, [pa.array(np.maximum(gone, reached)), *map(pa.array, sums)])
        return results

    def _framed(self, due: Due, rows: _Rows, sums: Sums) -> list[pa.Array]:
        """Return the results of due rows; `sums` are those of the rows that had not left, or return."""
        starts, ends = rows.frames(self._lower)
        begins, first = rows.blocks.begins[due.codes], rows.first_new[due.codes]
        until = rows.until
        framed = (
            sums[:, due.codes] + until[:, ends + 1] - until[:, first] - until[:, starts] + until[:, begins]
        )
        values: dict[Part, Columns] = {}
        place = 0
        for part in self._calls.parts:
            values[part] = [pa.array(row) for row in framed[place : place + len(part.types)]]
            place += len(part.types)
        return self._calls.together(self._calls.results(values, {}, None), [])

    def _keep(self, due: Due, lifted: Columns) -> None:
        keys = due.keys.take(pa.array(due.codes)).columns
        columns = [pa.array(due.times), pa.array(due.orders), *keys, *lifted]
        self._recent.put(pa.RecordBatch.from_arrays(columns, schema=self._kept))


class _Rows:
    """Rows that leave frames and due ones, by key."""

    def __init__(self, due: Due | None, leaving: pa.RecordBatch, calls: Calls) -> None:
        self.lifted = [] if due is None else calls.lift(due.rows)
        self._due = due
        self._leaving = leaving
        self._width = len(calls.kept)

    def place(self, codes: Positions, count: int) -> None:
        """Bring the rows in order; `codes` are the numbers of the keys of those that leave."""
        leaving, due = self._leaving, self._due
        times = numbers(leaving.column(TIME))
        order = in_order(codes, times, numbers(leaving.column(ORDER)))
        new, new_times = np.zeros(count, np.int64), np.zeros(0, np.int64)
        if due is not None:
            new[: len(due.counts)], new_times = due.counts, due.times
        self.blocks: Blocks = blocks_of(np.bincount(codes, minlength=count), new)
        self.first_new = self.blocks.ends - new
        self.times: Times = np.concatenate((times[order], new_times))[self.blocks.order]
        self.new = np.zeros(len(self.times), np.bool_)
        self.new[self.blocks.mine] = True
        earlier = _matrix(leaving.columns[len(leaving.columns) - self._width :], len(order))[:, order]
        later = _matrix(self.lifted, len(new_times), self._width)
        self._values = np.concatenate((earlier, later), 1)[:, self.blocks.order]

    @property
    def until(self) -> Sums:
        """The sums of the rows before each place."""
        return _cumulated(self._values)

    def frames(self, lower: int) -> tuple[Positions, Positions]:
        """Return where the frames of due rows begin and end."""
        codes, mine = self.blocks.codes, self.blocks.mine
        return not_before(codes, self.times, lower)[mine], last_peers(codes, self.times)[mine]

    def returning(self, gone: Times) -> npt.NDArray[np.bool_]:
        """Return which rows had been subtracted of their keys before; `gone` is where the frames of keys began."""
        earlier: npt.NDArray[np.bool_] = (self.times < gone[self.blocks.codes]) & ~self.new
        return earlier

    def total(self, mask: npt.NDArray[np.bool_]) -> Sums:
        """Return the sums of some rows of each key."""
        if not mask.any():
            return np.zeros((self._width, len(self.blocks.begins)), np.int64)
        until = _cumulated(np.where(mask, self._values, 0))
        found: Sums = until[:, self.blocks.ends] - until[:, self.blocks.begins]
        return found


def _cumulated(values: Sums) -> Sums:
    return np.concatenate((np.zeros((len(values), 1), np.int64), np.cumsum(values, 1)), 1)


def _matrix(columns: Columns, count: int, width: int | None = None) -> Sums:
    rows: list[Numbers] = [numbers(column) for column in columns]
    return np.stack(rows) if rows else np.zeros((width or 0, count), np.int64)
