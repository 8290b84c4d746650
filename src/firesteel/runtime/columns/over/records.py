"""One record for each key: what a frame without a bound, or of the last rows, needs of the rows that have come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.windows import OverAggregate
from firesteel.runtime.columns.aggregates.parts import Columns, Part
from firesteel.runtime.columns.over.calls import Calls, accumulators
from firesteel.runtime.columns.over.due import BEFORE_ALL, Due
from firesteel.runtime.columns.over.frames import Frames
from firesteel.runtime.columns.over.lags import lag
from firesteel.runtime.columns.over.placing import Blocks, blocks_of, stretches
from firesteel.runtime.columns.over.running import replaced, running
from firesteel.runtime.columns.over.seen import Seen
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.arrangement import Found
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_LAST: Final = "last"
"""The time of the last row of the key."""


class KeyRecords:
    """The records of keys, which live for a time after the last change.

    Without a bound a record has the accumulators of all rows (`totals`); and the values of the last rows as lists, for
    LAG and for functions that need all values, with how many of them each LAG still looks at. For a frame of the last
    rows the lists have these rows.
    """

    def __init__(
        self, arrangements: LiveArrangements, over: OverAggregate, keys: Keys, calls: Calls, groups: int
    ) -> None:
        self._calls = calls
        self._lower = over.frame.lower
        self._peers = not over.frame.rows and over.event_time
        self._event_time = over.event_time
        self._totals = accumulators(calls.parts) if self._lower is None else []
        self._listed = calls.recalled if self._lower is None else calls.kept
        lists = [pa.field(f"l{place}", pa.list_(field.type)) for place, field in enumerate(self._listed)]
        self._buffers = [f"b{place}" for place, _ in enumerate(calls.offsets)]
        words = [pa.field(name, pa.int64()) for name in (_LAST, *self._buffers)]
        schema = pa.schema([*keys.fields, *words, *self._totals, *lists])
        layout = Layout(schema, tuple(keys.names), time_to_live=over.time_to_live)
        self._records = arrangements.declare("records", layout)
        self._seen = Seen(arrangements, keys, calls, groups) if self._lower is None else None

    def begin(self, until: int) -> None:
        """Nothing is kept from epoch to epoch."""

    def last_times(self, keys: pa.RecordBatch) -> Times:
        """Return the time of the last row of each key that has come out."""
        found = self._records.get(keys)
        last = np.full(keys.num_rows, BEFORE_ALL)
        last[found.keys] = numbers(found.rows.column(_LAST))
        return last

    def arrive(self, rows: pa.RecordBatch, over: Times) -> None:
        """Rows count when they come out."""

    def settle(self) -> None:
        """Nothing is only noted."""

    def renew(self, keys: pa.RecordBatch) -> None:
        """Write the records of keys again."""
        if self._records.layout.time_to_live is not None:
            self._records.put(self._records.get(keys).rows)

    def advance(self, due: Due | None, until: int) -> list[pa.Array]:
        """Return the results of due rows, and write the records of their keys."""
        if due is None:
            return []
        found = self._records.get(due.keys)
        if self._lower is None:
            return self._of_all(due, found)
        lifted = self._calls.lift(due.rows)
        blocks, columns = self._with_lists(due, found, lifted)
        begins = blocks.begins[due.codes]
        frames = Frames(np.maximum(blocks.mine - self._lower, begins), blocks.mine)
        results = self._calls.over_frames(columns, blocks.codes, frames)
        self._write(due, [], self._lists(blocks, columns, self._lower))
        return self._calls.together(results, [])

    def _of_all(self, due: Due, found: Found) -> list[pa.Array]:
        values, totals = self._running(due, found)
        raw = [due.rows.column(place) for place in self._calls.recalled_places]
        frames, lists = None, []
        offsets: list[pa.Array] = []
        buffers: list[Positions] = []
        columns: list[pa.Array] = raw
        by_place = dict(zip(self._calls.recalled_places, columns, strict=True))
        if raw:
            blocks, columns = self._with_lists(due, found, raw)
            by_place = dict(zip(self._calls.recalled_places, columns, strict=True))
            offsets, buffers = self._lags(due, found, blocks, by_place)
            ends = blocks.mine[due.peers] if self._peers else blocks.mine
            frames = Frames(blocks.begins[due.codes], ends)
            reach = None if self._calls.contents else np.max(buffers, axis=0)
            lists = self._lists(blocks, columns, reach)
        results = self._calls.results(values, by_place, frames)
        self._write(due, [*map(pa.array, buffers), *totals], lists)
        return self._calls.together(results, offsets)

    def _lags(
        self, due: Due, found: Found, blocks: Blocks, columns: Mapping[int, pa.Array]
    ) -> tuple[list[pa.Array], list[Positions]]:
        """Return the results of LAG, and how many rows are in the buffers of the keys; `columns` are by place."""
        results, buffers = [], []
        for call, name in zip(self._calls.offsets, self._buffers, strict=True):
            before = np.zeros(len(due.counts), np.int64)
            before[found.keys] = numbers(found.rows.column(name))
            result, held = lag(call, due, blocks, columns[call.arguments[0]], before)
            results.append(result.take(pa.array(due.peers)) if self._peers else result)
            buffers.append(held[due.ends - 1])
        return results, buffers

    def _running(self, due: Due, found: Found) -> tuple[dict[Part, Columns], list[pa.Array]]:
        """Return the accumulators of all rows of the key up to each row, and those up to the last one of each key."""
        assert self._seen is not None
        lifted = self._seen.lifted(due)
        first, lasts = due.begins[due.codes], pa.array(due.ends - 1)
        known, heads = found.rows.columns[-len(self._listed) - len(self._totals) :], due.begins[found.keys]
        values: dict[Part, Columns] = {}
        totals: list[pa.Array] = []
        peers = pa.array(due.peers) if self._peers else None
        for part in self._calls.parts:
            columns: Columns = lifted[part]
            if len(heads):
                mine = known[len(totals) : len(totals) + len(part.types)]
                head = [column.take(pa.array(heads)) for column in columns]
                columns = replaced(columns, heads, part.merge(mine, head))
            sums = running(part, columns, first)
            totals += [column.take(lasts) for column in sums]
            values[part] = sums if peers is None else [column.take(peers) for column in sums]
        return values, totals

    def _with_lists(
        self, due: Due, found: Found, columns: Sequence[pa.Array]
    ) -> tuple[Blocks, list[pa.Array]]:
        """Return the rows in the lists of records with due ones, by key."""
        counts = np.zeros(len(due.counts), np.int64)
        order = np.argsort(found.keys)
        lists = found.rows.take(pa.array(order)).columns[len(found.rows.columns) - len(self._listed) :]
        if not lists:
            return blocks_of(counts, due.counts), list(columns)
        counts[found.keys[order]] = lists[0].value_lengths().to_numpy()
        blocks = blocks_of(counts, due.counts)
        return blocks, blocks.together([column.flatten() for column in lists], columns)

    def _lists(
        self, blocks: Blocks, columns: Sequence[pa.Array], reach: Positions | int | None
    ) -> list[pa.Array]:
        """Return the last `reach` rows of each key as lists (None: all)."""
        begins = blocks.begins if reach is None else np.maximum(blocks.ends - reach, blocks.begins)
        taken = pa.array(stretches(begins, blocks.ends))
        offsets = pa.array(np.append(0, np.cumsum(blocks.ends - begins)), pa.int32())
        return [pa.ListArray.from_arrays(offsets, column.take(taken)) for column in columns]

    def _write(self, due: Due, others: Sequence[pa.Array], lists: Sequence[pa.Array]) -> None:
        last = pa.array(due.times[due.ends - 1])
        columns = [*due.keys.columns, last, *others, *lists]
        self._records.put(pa.RecordBatch.from_arrays(columns, schema=self._records.layout.rows))
