"""A frame of a range of time: the rows that it can contain, in stretches of time.

Rows are kept for three and a half frames or longer: a row that is later than the watermark may have an earlier frame,
but seldom one that reaches further back. Then a whole stretch is dropped by one mark, whether its keys have
rows or not.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.windows import OverAggregate
from firesteel.runtime.columns.over.calls import Calls
from firesteel.runtime.columns.over.due import BEFORE_ALL, Due, last_peers
from firesteel.runtime.columns.over.forgetting import STRETCH, Known, dropped_up_to, stretch_bits
from firesteel.runtime.columns.over.frames import Frames
from firesteel.runtime.columns.over.ordering import in_order, not_before
from firesteel.runtime.columns.over.placing import Blocks, blocks_of
from firesteel.runtime.columns.over.reaching import ReachingBack
from firesteel.runtime.columns.over.waiting import ORDER, TIME
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.columns import Mask, numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions


class RangeRows(ReachingBack):
    """Rows of frames that reach back in time, which are read by key."""

    def __init__(
        self, arrangements: LiveArrangements, over: OverAggregate, keys: Keys, calls: Calls, groups: int
    ) -> None:
        fields = [pa.field(name, pa.int64()) for name in (STRETCH, TIME, ORDER)]
        self._kept = pa.schema([*fields, *keys.fields, *calls.kept])
        layout = Layout(self._kept, tuple(keys.names), Kind.MULTISET, leading=STRETCH)
        super().__init__(arrangements, over, keys, calls, [], layout)
        self._bits = stretch_bits(self._lower)

    def settle(self) -> None:
        """Write what rows have set that time has not passed yet."""
        step = self._known.step(None, None, None)
        if step is not None:
            self._known.write(step, [])

    def advance(self, due: Due | None, until: int) -> list[pa.Array]:
        """Return the results of due rows, and keep them; drop the rows that no frame can contain any more."""
        step = self._known.step(due, None, until)
        results: list[pa.Array] = []
        if step is not None:
            results = [] if due is None else self._results(due, step.before)
            self._known.write(step, [])
        self._drop((dropped_up_to(until, self._lower) >> self._bits) - 1)
        return results

    def _results(self, due: Due, before: Known) -> list[pa.Array]:
        lifted = self._calls.lift(due.rows)
        blocks, times, columns = self._with_recent(due, before, lifted)
        codes = blocks.codes
        starts = not_before(codes, times, self._lower)[blocks.mine]
        frames = Frames(starts, last_peers(codes, times)[blocks.mine])
        results = self._calls.over_frames(columns, codes, frames)
        keys = due.keys.take(pa.array(due.codes)).columns
        words = [due.times >> self._bits, due.times, due.orders]
        self._recent.put(
            pa.RecordBatch.from_arrays([*map(pa.array, words), *keys, *lifted], schema=self._kept)
        )
        return self._calls.together(results, [])

    def _with_recent(
        self, due: Due, before: Known, lifted: list[pa.Array]
    ) -> tuple[Blocks, Times, list[pa.Array]]:
        """Return due rows with the earlier ones of their keys that their frames reach, by key."""
        codes, rows = self._earlier(due, before)
        reached = numbers(rows.column(TIME)) >= due.times[due.begins][codes] - self._lower
        reached &= numbers(rows.column(ORDER)) >= before.born[codes]
        codes, rows = codes[reached], rows.filter(pa.array(reached))
        order = in_order(codes, numbers(rows.column(TIME)), numbers(rows.column(ORDER)))
        rows = rows.take(pa.array(order))
        blocks = blocks_of(np.bincount(codes, minlength=len(due.counts)), due.counts)
        earlier = [rows.column(TIME), *rows.columns[3 + len(self._names) :]]
        times, *columns = blocks.together(earlier, [pa.array(due.times), *lifted])
        return blocks, numbers(times), columns

    def _earlier(self, due: Due, before: Known) -> tuple[Positions, pa.RecordBatch]:
        """Return the rows that are kept of keys in the stretches that the frames of due rows reach."""
        first, last = due.times[due.begins] - self._lower, before.last[: len(due.counts)]
        known: Mask = (last != BEFORE_ALL) & (last >= first)
        keys = np.flatnonzero(known)
        low, high = first[keys] >> self._bits, last[keys] >> self._bits
        counts = high - low + 1
        owners = np.repeat(keys, counts)
        stretch = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - low, counts)
        wanted = due.keys.take(pa.array(owners))
        found = self._recent.of(
            pa.RecordBatch.from_arrays([pa.array(stretch), *wanted.columns], names=[STRETCH, *self._names])
        )
        return owners[found.keys], found.rows
