"""The sessions of keys: windows that end when no row of their key has come for a while.

There are two arrangements: which sessions a key has, and the sessions by their end, from which those that are over
follow as a range.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.folding import Folding
from firesteel.runtime.columns.windows.intervals import unions
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.arrangement import Found
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

START: Final = "start"
END: Final = "end"


class Rows(NamedTuple):
    """Rows that are merged into sessions: the number of the key and the time of each, and the keys by number."""

    codes: Positions
    times: Times
    keys: pa.RecordBatch


class Sessions:
    """The open sessions of a subtask; all times are local, in milliseconds.

    Sessions that touch are one. `folding` says what is kept of the rows of a session.
    """

    def __init__(self, arrangements: LiveArrangements, keys: Keys, folding: Folding, gap: int) -> None:
        self._gap = gap
        self._keys = keys
        self._folding = folding
        start, end = pa.field(START, pa.int64()), pa.field(END, pa.int64())
        self._known = pa.schema([start, end, *keys.fields])
        self._whole = pa.schema([start, end, *keys.fields, *folding.accumulators])
        names = tuple(keys.names)
        self._of_keys = arrangements.declare("sessions", Layout(self._known, names, Kind.MULTISET))
        self._by_end = arrangements.declare("ends", Layout(self._whole, names, leading=END))

    def touching(self, rows: Rows) -> Times:
        """Return for each row the end of the session that it would belong to, if all these rows came together."""
        found = self._of_keys.of(rows.keys)
        ends = rows.times + self._gap
        every = np.concatenate((ends, numbers(found.rows.column(END))))
        starts = np.concatenate((rows.times, numbers(found.rows.column(START))))
        union = unions(np.concatenate((rows.codes, found.keys)), starts, every)
        return _greatest(union, every)[union[: len(ends)]]

    def merge(self, rows: Rows, batch: ColumnBatch) -> None:
        """Merge the rows of a batch into the sessions of their keys."""
        union = unions(rows.codes, rows.times, rows.times + self._gap)
        starts, ends = _smallest(union, rows.times), _greatest(union, rows.times) + self._gap
        codes = np.empty(len(starts), np.int64)
        codes[union] = rows.codes
        keys = rows.keys.take(pa.array(codes))
        fresh = self._whole_rows(starts, ends, keys, self._folding.partial(union, batch))
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
        every_start = np.concatenate((numbers(fresh.column(START)), numbers(found.rows.column(START))))
        every_end = np.concatenate((numbers(fresh.column(END)), numbers(found.rows.column(END))))
        union = unions(np.concatenate((codes, found.keys)), every_start, every_end)
        touched = np.isin(union[count:], union[:count])
        if not touched.any():
            return fresh
        known = found.rows.filter(pa.array(touched))
        old = self._by_end.get(known)
        self._of_keys.delete(known)
        self._by_end.delete(old.rows)
        union = np.concatenate((union[:count], union[count:][touched][old.keys]))
        return self._united(pa.concat_batches([fresh, old.rows]), np.unique(union, return_inverse=True)[1])

    def _united(self, rows: pa.RecordBatch, union: Positions) -> pa.RecordBatch:
        starts, ends = (
            _smallest(union, numbers(rows.column(START))),
            _greatest(union, numbers(rows.column(END))),
        )
        firsts = np.empty(len(starts), np.int64)
        firsts[union] = np.arange(len(union))
        keys = rows.select(self._keys.names).take(pa.array(firsts))
        values = self._folding.led_by(union, rows)
        return self._whole_rows(starts, ends, keys, self._folding.merged(values))

    def _whole_rows(
        self, starts: Times, ends: Times, keys: pa.RecordBatch, values: pa.RecordBatch
    ) -> pa.RecordBatch:
        kept = [values.column(field.name) for field in self._folding.accumulators]
        columns = [pa.array(starts), pa.array(ends), *keys.columns, *kept]
        return pa.RecordBatch.from_arrays(columns, schema=self._whole)


def _greatest(groups: Positions, values: Times) -> Times:
    """Return the greatest value of each group; every number of a group up to the last one occurs."""
    result = np.full(int(groups.max()) + 1, MIN_WATERMARK)
    np.maximum.at(result, groups, values)
    return result


def _smallest(groups: Positions, values: Times) -> Times:
    """Return the smallest value of each group."""
    result = np.full(int(groups.max()) + 1, MAX_WATERMARK)
    np.minimum.at(result, groups, values)
    return result
