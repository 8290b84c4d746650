"""The sessions of keys: windows that end when no row of their key has come for a while.

There are two arrangements: which sessions a key has, and the sessions by their end, from which those that are over
follow as a range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.aggregates.values import by_owner
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.folding import Folding
from firesteel.runtime.columns.windows.intervals import unions
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.state.arrangements.arrangement import Found
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

START: Final = "start"
END: Final = "end"


class Rows(NamedTuple):
    """Rows that are merged into sessions: the number of the key of each, the start and the end of the session that it
    is by itself, and the keys by number.
    """

    codes: Positions
    starts: Times
    ends: Times
    keys: pa.RecordBatch


def rows_of(keys: Keys, batch: ColumnBatch, starts: Times, ends: Times) -> Rows:
    """Return the rows of a batch, which are by themselves sessions with these bounds."""
    found = keys.rows(batch)
    codes, firsts = codes_of(found.columns)
    return Rows(codes, starts, ends, found.take(pa.array(firsts)))


Kept = Callable[[Segments], pa.RecordBatch]
"""Returns what is kept of the rows of each group: partial results."""


class Sessions:
    """The open sessions of a subtask; all times are local, in milliseconds.

    Sessions that touch are one. `folding` has the form of what is kept of the rows of a session.
    """

    def __init__(self, arrangements: LiveArrangements, keys: Keys, folding: Folding) -> None:
        self._keys = keys
        self._folding = folding
        self._whole = whole_schema(keys, folding)
        self._known = pa.schema([*self._whole][: 2 + len(keys.fields)])
        names = tuple(keys.names)
        self._of_keys = arrangements.declare("sessions", Layout(self._known, names, Kind.MULTISET))
        self._by_end = arrangements.declare("ends", Layout(self._whole, names, leading=END))

    def touching(self, rows: Rows) -> Times:
        """Return for each row the end of the session that it would belong to, if all these rows came together."""
        found = self._of_keys.of(rows.keys)
        ends = np.concatenate((rows.ends, numbers(found.rows.column(END))))
        starts = np.concatenate((rows.starts, numbers(found.rows.column(START))))
        groups = unions(np.concatenate((rows.codes, found.keys)), starts, ends)
        return groups.greatest(ends)[groups.numbers[: len(rows.ends)]]

    def merge(self, rows: Rows, kept: Kept) -> None:
        """Merge rows into the sessions of their keys."""
        fresh, codes = united(rows, kept, self._whole)
        found = self._of_keys.of(rows.keys)
        if found.rows.num_rows:
            fresh = self._with_known(fresh, codes, found)
        self._of_keys.put(fresh.select(self._known.names))
        self._by_end.put(fresh)

    def take(self, until: int) -> pa.RecordBatch:
        """Return the sessions that end up to a time, with what is kept of their rows, and forget them."""
        over = self._by_end.up_to(until)
        self._by_end.drop_up_to(until)
        self._of_keys.delete(over.select(self._known.names))
        return over

    def first_end(self) -> int | None:
        """Return the end of the session that ends first."""
        rows = next(self._by_end.rows(), None)
        return None if rows is None or not rows.num_rows else int(numbers(rows.column(END))[0])

    def _with_known(self, fresh: pa.RecordBatch, codes: Positions, found: Found) -> pa.RecordBatch:
        """Return sessions merged with those of the state that they touch, which are taken out of it."""
        count = fresh.num_rows
        starts, ends = (
            np.concatenate((numbers(fresh.column(name)), numbers(found.rows.column(name))))
            for name in (START, END)
        )
        union = unions(np.concatenate((codes, found.keys)), starts, ends).numbers
        touched = np.isin(union[count:], union[:count])
        if not touched.any():
            return fresh
        known = found.rows.filter(pa.array(touched))
        old = self._by_end.get(known)
        self._of_keys.delete(known)
        self._by_end.delete(old.rows)
        union = np.concatenate((union[count:][touched][old.keys], union[:count]))
        return self._united(pa.concat_batches([old.rows, fresh]), by_owner(union))

    def _united(self, rows: pa.RecordBatch, groups: Segments) -> pa.RecordBatch:
        starts, ends = groups.least(numbers(rows.column(START))), groups.greatest(numbers(rows.column(END)))
        keys = rows.select(self._keys.names).take(pa.array(groups.firsts))
        values = self._folding.merged_by(
            groups, self._folding.led_by(np.zeros(rows.num_rows, np.int64), rows)
        )
        return _session_rows(starts, ends, keys, values, self._whole)


def whole_schema(keys: Keys, folding: Folding) -> pa.Schema:
    """Return the columns of sessions: start, end, the keys, and what is kept of their rows."""
    bounds = (pa.field(START, pa.int64()), pa.field(END, pa.int64()))
    return pa.schema([*bounds, *keys.fields, *folding.accumulators])


def united(rows: Rows, kept: Kept, schema: pa.Schema) -> tuple[pa.RecordBatch, Positions]:
    """Return rows as sessions of `schema`, and the number of the key of each."""
    groups = unions(rows.codes, rows.starts, rows.ends)
    codes = rows.codes[groups.firsts]
    keys = rows.keys.take(pa.array(codes))
    starts, ends = groups.least(rows.starts), groups.greatest(rows.ends)
    return _session_rows(starts, ends, keys, kept(groups), schema), codes


def _session_rows(
    starts: Times, ends: Times, keys: pa.RecordBatch, values: pa.RecordBatch, schema: pa.Schema
) -> pa.RecordBatch:
    columns = [pa.array(starts), pa.array(ends), *keys.columns, *values.columns[1:]]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
