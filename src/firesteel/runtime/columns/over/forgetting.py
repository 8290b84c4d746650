"""The last time of each key, and what is kept of it until then; keys that are silent for long are forgotten.

A key is forgotten when half a frame has passed since its last row left all frames, as in Flink. Until then a row may
still come that is later than the watermark, but not than the key's last row.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.time import MIN_WATERMARK
from firesteel.runtime.columns.over.due import BEFORE_ALL, Due
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.columns import Numbers, numbers
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

STRETCH: Final = "stretch"
_LAST: Final = "last"
_BORN: Final = "born"
_NEVER: Final = (1 << 63) - 1

_STRETCHES: Final = 8
"""About as many stretches of time make a frame."""


class Known(NamedTuple):
    """What is known of keys: the time of the last row, BEFORE_ALL for keys that are not known, and the number of the
    first row since a key is known. `found` are the records, of the keys at `places`.
    """

    last: Times
    born: Numbers
    places: Positions
    found: pa.RecordBatch


class Forgetting:
    """Records of keys with the time of their last row, which are deleted some time after it.

    `fields` are the columns of a record besides.
    """

    def __init__(
        self, arrangements: LiveArrangements, keys: Keys, lower: int, fields: list[pa.Field]
    ) -> None:
        self._life = lower + lower // 2 + 1
        self._bits = stretch_bits(lower)
        self._names = keys.names
        self._now = MIN_WATERMARK
        names = tuple(keys.names)
        words = [pa.field(_LAST, pa.int64()), pa.field(_BORN, pa.int64())]
        records = pa.schema([*keys.fields, *words, *fields])
        self._records = arrangements.declare("records", Layout(records, names))
        self._ending = pa.schema([pa.field(STRETCH, pa.int64()), *keys.fields])
        self._ends = arrangements.declare("ends", Layout(self._ending, names, leading=STRETCH))

    def begin(self, until: int) -> None:
        """Begin an epoch at a time."""
        self._now = until

    def known(self, keys: pa.RecordBatch) -> Known:
        """Return what is known of keys now."""
        found = self._records.get(keys)
        alive = numbers(found.rows.column(_LAST)) + self._life > self._now
        rows, places = found.rows.filter(pa.array(alive)), found.keys[alive]
        last, born = np.full(keys.num_rows, BEFORE_ALL), np.full(keys.num_rows, _NEVER)
        last[places], born[places] = numbers(rows.column(_LAST)), numbers(rows.column(_BORN))
        return Known(last, born, places, rows)

    def write(self, keys: pa.RecordBatch, before: Known, due: Due | None, columns: list[pa.Array]) -> None:
        """Write the records of keys, the first of which have the due rows; `before` is what was known."""
        last, born = before.last.copy(), before.born.copy()
        if due is not None:
            mine = slice(0, len(due.counts))
            last[mine] = due.times[due.ends - 1]
            born[mine] = np.minimum(born[mine], np.minimum.reduceat(due.orders, due.begins))
        some = np.flatnonzero(last != BEFORE_ALL)
        chosen = pa.array(some)
        values = [pa.array(last), pa.array(born), *columns]
        rows = [*keys.take(chosen).columns, *(column.take(chosen) for column in values)]
        self._records.put(pa.RecordBatch.from_arrays(rows, schema=self._records.layout.rows))
        ends, ended = (times + self._life >> self._bits for times in (last[some], before.last[some]))
        moved = some[(ends != ended) | (before.last[some] == BEFORE_ALL)]
        if len(moved):
            ends = last[moved] + self._life >> self._bits
            rows = [pa.array(ends), *keys.take(pa.array(moved)).columns]
            self._ends.put(pa.RecordBatch.from_arrays(rows, schema=self._ending))

    def pass_to(self, until: int) -> None:
        """Delete the records whose time has come."""
        self._now = until
        stretch = (until >> self._bits) - 1
        ended = self._ends.up_to(stretch)
        if not ended.num_rows:
            return
        self._ends.drop_up_to(stretch)
        keys = pa.Table.from_batches([ended.select(self._names)]).group_by(self._names, use_threads=False)
        (distinct,) = keys.aggregate([]).combine_chunks().to_batches()
        found = self._records.get(distinct).rows
        over = numbers(found.column(_LAST)) + self._life <= until
        self._records.delete(found.filter(pa.array(over)))


def kept_from(until: int, lower: int) -> int:
    """Return the time from which rows are kept once time has progressed so far."""
    return until - 5 * lower // 2 - 2


def stretch_bits(lower: int) -> int:
    """Return the bits of the milliseconds of a stretch.

    >>> stretch_bits(0), stretch_bits(60_000)
    (0, 12)
    """
    return max((lower // _STRETCHES).bit_length() - 1, 0)
