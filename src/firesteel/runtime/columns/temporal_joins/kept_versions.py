"""The versions of right rows that a temporal join keeps: those that a left row could still meet."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.batch import DELETE, UPDATE_BEFORE, ColumnBatch
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.waiting import ORDER, TIME, by_time
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

_GONE: Final = "gone"


class Valid(NamedTuple):
    """For each left row the place in `rows` of the version that is valid at its time; below 0: none is."""

    rows: pa.RecordBatch
    places: Positions


class _Read(NamedTuple):
    """Versions by key and time, each time of a key once: that of key `codes[i]` from `times[i]` on is `rows[i]`.

    `outdated` are rows that another one of the same time replaces.
    """

    codes: Positions
    times: Times
    rows: pa.RecordBatch
    outdated: pa.RecordBatch

    def ranked(self, others: Times) -> tuple[Numbers, Numbers, int]:
        """Return the ranks of these and of other times among all of them, and how many ranks there are."""
        known, ranks = np.unique(np.concatenate((self.times, others)), return_inverse=True)
        return ranks[: len(self.times)], ranks[len(self.times) :], len(known)

    def last_up_to(self, codes: Positions, times: Times) -> Positions:
        """Return the place of the last version of each of some keys up to a time, or of another key before it."""
        mine, others, count = self.ranked(times)
        return np.searchsorted(self.codes * count + mine, codes * count + others, "right") - 1


class KeptVersions:
    """Versions in an arrangement by their key, and the times at which keys have versions that are over.

    Contract: `begin` each epoch; then `put` changes, `valid` and `forget` in any order.
    """

    def __init__(self, schema: pa.Schema, keys: tuple[int, ...]) -> None:
        self._kept = KeyedRows(schema, keys)
        self._names = self._kept.keys.names
        fields = [pa.field(TIME, pa.int64()), pa.field(ORDER, pa.int64()), *self._kept.keys.fields]
        self._schema = pa.schema([*fields, *self._kept.others, pa.field(_GONE, pa.bool_())])

    def declare(self, arrangements: LiveArrangements, groups: int) -> None:
        """Declare the arrangements."""
        layout = Layout(self._schema, tuple(self._names), Kind.MULTISET)
        self.rows = arrangements.declare("versions", layout)
        timed = pa.schema([self._schema.field(name) for name in (TIME, ORDER, *self._names)])
        self._over = arrangements.declare("over", by_time(timed, self._kept.keys, groups))

    def begin(self, epoch: Epoch, context: OperatorContext) -> None:
        """Start an epoch."""
        self._kept.begin(epoch, context)

    def put(self, batch: ColumnBatch, times: Times) -> None:
        """Take changes, each with its time; old rows of updates mean nothing, because their new ones follow."""
        if batch.kinds is not None and (batch.kinds == UPDATE_BEFORE).any():
            new = np.flatnonzero(batch.kinds != UPDATE_BEFORE)
            batch, times = batch.take(new), times[new]
        if not len(batch):
            return
        gone = batch.all_kinds() == DELETE
        orders = self._kept.orders(len(batch))
        columns = [pa.array(times), pa.array(orders), *self._kept.columns(batch), pa.array(gone)]
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        self.rows.put(rows)
        codes, firsts = codes_of([rows.column(name) for name in self._names])
        latest = np.full(len(firsts), times.min())
        np.maximum.at(latest, codes, times)
        keys = rows.take(pa.array(firsts))
        marks = [pa.array(latest), *(keys.column(name) for name in (ORDER, *self._names))]
        self._over.put(pa.RecordBatch.from_arrays(marks, schema=self._over.layout.rows))

    def valid(self, keys: pa.RecordBatch, times: Times, behind: Times) -> Valid:
        """Return the versions that are valid at the times of left rows with some keys.

        A row that was `behind` a watermark when it came meets none that another one up to that watermark replaces.
        """
        codes, firsts = codes_of(keys.columns)
        read = self._read(keys.take(pa.array(firsts)))
        if not len(read.codes):
            return Valid(self._kept.as_input(read.rows), np.full(len(codes), -1))
        places = read.last_up_to(codes, times)
        there = (places >= 0) & (read.codes[places] == codes) & ~np.asarray(read.rows.column(_GONE))[places]
        late = np.flatnonzero(behind >= times)
        if len(late):
            there[late] &= read.last_up_to(codes[late], behind[late]) == places[late]
        return Valid(self._kept.as_input(read.rows), np.where(there, places, -1))

    def forget(self, until: int) -> None:
        """Remove the versions that others replace up to a watermark; the last one stays, also if it is a delete."""
        due = self._over.up_to(until)
        if not due.num_rows:
            return
        self._over.drop_up_to(until)
        _, firsts = codes_of([due.column(name) for name in self._names])
        read = self._read(due.select(self._names).take(pa.array(firsts)))
        passed = read.times <= until
        replaced: Mask = np.zeros(len(passed), np.bool_)
        replaced[:-1] = (read.codes[1:] == read.codes[:-1]) & passed[1:]
        self.rows.delete(read.rows.filter(pa.array(replaced)))
        self.rows.delete(read.outdated)

    def _read(self, keys: pa.RecordBatch) -> _Read:
        """Return the versions of some keys, each of which occurs once."""
        named = pa.RecordBatch.from_arrays(keys.columns, names=self._names)
        found = self.rows.of(named)
        times = numbers(found.rows.column(TIME))
        order = np.lexsort((numbers(found.rows.column(ORDER)), times, found.keys))
        codes, times = found.keys[order], times[order]
        last = np.ones(len(order), np.bool_)
        last[:-1] = (codes[1:] != codes[:-1]) | (times[1:] != times[:-1])
        rows, outdated = found.rows.take(pa.array(order[last])), found.rows.take(pa.array(order[~last]))
        return _Read(codes[last], times[last], rows, outdated)
