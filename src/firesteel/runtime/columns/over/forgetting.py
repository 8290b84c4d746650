"""What is known of each key of a range of time, until its last timer forgets it.

A key has timers (see `timers`), which are pending in an arrangement by their time. Rows that begin to wait set them,
and time passes them: the last one forgets the key; after any other one rows of the key up to its time are late, as they
are after a row. Rows are counted in when time progresses or the epoch ends, many at once; where a key was forgotten
between two of them, it has begun anew with the second.

A key whose rows wait for long lives on without new ones, and rows may still come that are not much later than its last
one. So the rows of its last frame are needed for longer than those of other keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.runtime.columns.over.due import BEFORE_ALL, Due
from firesteel.runtime.columns.over.timers import NO_TIMER, life_of, setting
from firesteel.runtime.columns.over.waiting import ORDER, TIME
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

STRETCH: Final = "stretch"
_LAST: Final = "last"
_BORN: Final = "born"
_TIMER: Final = "timer"
_OVER: Final = "over"
_NEVER: Final = (1 << 63) - 1
_START: Final = MIN_WATERMARK + 1
"""Up to where time has progressed before the first watermark, exclusive."""

_PATIENCE: Final = 5_000
"""How long rows may at least wait (milliseconds) before the rows of their keys are looked at one by one."""

_STRETCHES: Final = 8
"""About as many stretches of time make a frame."""


class Known(NamedTuple):
    """What is known of keys: the last time that a row or a timer has had, BEFORE_ALL without any; the number of the
    first row since a key is known; and its last timer. `found` are the records, of the keys at `places`.
    """

    last: Times
    born: Numbers
    timers: Times
    places: Positions
    found: pa.RecordBatch


@dataclass(frozen=True)
class Step:
    """What happens as time progresses to `until` (None: it does not): `due` rows come out, rows have `arrived`, and
    timers have `fired`.

    `keys` has the keys of these once, those of due rows first, and `before` what was known of them. `codes` has the
    numbers of the keys of rows that arrived, then of timers that fired, then of the rows that were asked about.
    """

    keys: pa.RecordBatch
    before: Known
    codes: Positions
    due: Due | None
    arrived: pa.RecordBatch
    fired: Times
    until: int | None

    @property
    def others(self) -> Positions:
        """The numbers of the keys of the rows that were asked about."""
        return self.codes[self.arrived.num_rows + len(self.fired) :]


class _Lives(NamedTuple):
    """What rows make of what is known of keys: their last timers and first rows, the time before which what happened
    belongs to a life that is over, and the timers that are set, with the numbers of their keys.
    """

    timers: Times
    born: Numbers
    since: Times
    owners: Positions
    added: Times


class Forgetting:
    """Records of keys, with the columns `fields` besides.

    Contract: `arrive` with rows that begin to wait, in the order in which they come. As time progresses, and when an
    epoch ends, `step`; if it gives one, `write` the records of its keys.
    """

    def __init__(
        self, arrangements: LiveArrangements, keys: Keys, lower: int, fields: list[pa.Field]
    ) -> None:
        self._lower = lower
        self._names = keys.names
        names = tuple(keys.names)
        self._noted = _schema((TIME, ORDER, _OVER), keys.fields)
        self._pending = _schema((_TIMER,), keys.fields)
        self._schema = pa.schema([*keys.fields, *_schema((_LAST, _BORN, _TIMER), fields)])
        self._records = arrangements.declare("records", Layout(self._schema, names))
        self._timers = arrangements.declare("timers", Layout(self._pending, names, leading=_TIMER))
        self._distant = _schema((TIME,), keys.fields)
        self._ahead = arrangements.declare("ahead", Layout(self._distant, names, leading=TIME))
        self._arrived: list[pa.RecordBatch] = []
        self._over = MIN_WATERMARK

    def begin(self, until: int) -> None:
        """Begin an epoch at a time; forget what an epoch that was lost has noted."""
        self._arrived = []
        self._over = _after(until)

    def arrive(self, rows: pa.RecordBatch, over: Times) -> None:
        """Note rows that begin to wait, each with the time up to which time had progressed (exclusive) when it came."""
        columns = [rows.column(TIME), rows.column(ORDER), pa.array(over), *rows.select(self._names).columns]
        self._arrived.append(pa.RecordBatch.from_arrays(columns, schema=self._noted))

    def last_times(self, keys: pa.RecordBatch) -> Times:
        """Return the last time of each key that a row or a timer has had; BEFORE_ALL if there is none."""
        return self._known(keys).last

    def step(self, due: Due | None, others: pa.RecordBatch | None, until: int | None) -> Step | None:
        """Return what happens as time progresses; None if it is nothing. `others` are the keys of further rows."""
        taken, self._arrived = self._arrived, []
        arrived = pa.concat_batches(taken) if taken else pa.RecordBatch.from_pylist([], schema=self._noted)
        fired = (
            pa.RecordBatch.from_pylist([], schema=self._pending)
            if until is None
            else self._timers.up_to(until)
        )
        if until is not None and fired.num_rows:
            self._timers.drop_up_to(until)
        rows = [batch.select(self._names) for batch in (arrived, fired)]
        if others is not None:
            rows.append(others)
        if due is None and not any(batch.num_rows for batch in rows):
            return None
        keys, codes = _united(rows if due is None else [due.keys, *rows])
        mine = codes[0 if due is None else due.keys.num_rows :]
        return Step(keys, self._known(keys), mine, due, arrived, numbers(fired.column(_TIMER)), until)

    def needed(self, recent: Arrangement, until: int) -> pa.RecordBatch | None:
        """Return the rows of an arrangement, up to a leading value, that frames may still contain, if there may be any.

        These are rows of keys whose rows have waited for long, no earlier than a frame before their last time.
        """
        waiting = self._ahead.up_to(MAX_WATERMARK).select(self._names)
        if not waiting.num_rows:
            return None
        keys, _ = _united([waiting])
        rows = recent.up_to(until)
        _, codes = _united([keys, rows.select(self._names)])
        since = np.full(int(codes.max()) + 1, _NEVER)
        since[: keys.num_rows] = self._known(keys).last - self._lower
        return rows.filter(pa.array(numbers(rows.column(TIME)) >= since[codes[keys.num_rows :]]))

    def write(self, step: Step, columns: list[pa.Array]) -> None:
        """Write the records of the keys of a step, with the columns besides; or delete those that are forgotten."""
        lives = self._lives(step)
        if step.until is not None:
            self._over = _after(step.until)
        self._set(step, lives)
        self._look_ahead(step)
        some = lives.timers != NO_TIMER
        if step.until is not None:
            some &= lives.timers > step.until
        chosen = pa.array(np.flatnonzero(some))
        values = [*map(pa.array, (self._last(step, lives), lives.born, lives.timers)), *columns]
        rows = [*step.keys.take(chosen).columns, *(column.take(chosen) for column in values)]
        self._records.put(pa.RecordBatch.from_arrays(rows, schema=self._schema))
        self._records.delete(step.before.found.filter(pa.array(~some[step.before.places])))

    def _known(self, keys: pa.RecordBatch) -> Known:
        found, count = self._records.get(keys), keys.num_rows
        last, born, timers = (np.full(count, nothing) for nothing in (BEFORE_ALL, _NEVER, NO_TIMER))
        for column, name in ((last, _LAST), (born, _BORN), (timers, _TIMER)):
            column[found.keys] = numbers(found.rows.column(name))
        return Known(last, born, timers, found.keys, found.rows)

    def _lives(self, step: Step) -> _Lives:
        """Let the rows that arrived set timers; one goes off only as time progresses, however early it is."""
        before, arrived = step.before, step.arrived
        codes = step.codes[: arrived.num_rows]
        times, orders, overs = (numbers(arrived.column(name)) for name in (TIME, ORDER, _OVER))
        places = setting(codes, times, before.timers, self._lower)
        owners, overs = codes[places], overs[places]
        added = times[places] + life_of(self._lower)
        first = np.ones(len(places), np.bool_)
        first[1:] = owners[1:] != owners[:-1]
        earlier, set_at = np.roll(added, 1), np.roll(overs, 1)
        earlier[first], set_at[first] = before.timers[owners[first]], self._over
        new = earlier == NO_TIMER
        again = ~new & (earlier < overs) & (set_at < overs)
        timers, born, since = (
            before.timers.copy(),
            before.born.copy(),
            np.full(len(before.born), MIN_WATERMARK),
        )
        timers[owners] = added  # of the rows of one key the last one counts, here and below
        born[owners[new | again]] = orders[places[new | again]]
        since[owners[again]] = overs[again]
        return _Lives(timers, born, since, owners, added)

    def _set(self, step: Step, lives: _Lives) -> None:
        """Let the timers that rows have set be pending, but for those that have fired already."""
        later: Mask = np.ones(len(lives.added), np.bool_) if step.until is None else lives.added > step.until
        if later.any():
            keys = step.keys.take(pa.array(lives.owners[later])).columns
            rows = [pa.array(lives.added[later]), *keys]
            self._timers.put(pa.RecordBatch.from_arrays(rows, schema=self._pending))

    def _look_ahead(self, step: Step) -> None:
        """Note which keys have rows that came long before their time."""
        if step.until is not None and self._ahead.up_to(step.until).num_rows:
            self._ahead.drop_up_to(step.until)
        times, overs = (numbers(step.arrived.column(name)) for name in (TIME, _OVER))
        far = (times - max(self._lower, _PATIENCE) > overs) | (overs <= _START)
        if step.until is not None:
            far &= times > step.until
        if far.any():
            keys = step.keys.take(pa.array(step.codes[: len(times)][far])).columns
            rows = pa.RecordBatch.from_arrays([pa.array(times[far]), *keys], schema=self._distant)
            self._ahead.put(rows)

    def _last(self, step: Step, lives: _Lives) -> Times:
        """Return the last times of the keys after a step."""
        last = np.where(lives.since > MIN_WATERMARK, BEFORE_ALL, step.before.last)
        owners = step.codes[step.arrived.num_rows :][: len(step.fired)]
        passed = [(owners, step.fired)]
        if step.until is not None:
            at_once = lives.added <= step.until
            passed.append((lives.owners[at_once], lives.added[at_once]))
        if step.due is not None:
            passed.append((np.arange(len(step.due.counts)), step.due.times[step.due.ends - 1]))
        for codes, times in passed:
            mine = times >= lives.since[codes]
            np.maximum.at(last, codes[mine], times[mine])
        return last


def _after(time: int) -> int:
    return min(time, MAX_WATERMARK - 1) + 1


def _schema(words: tuple[str, ...], fields: list[pa.Field]) -> pa.Schema:
    return pa.schema([*(pa.field(name, pa.int64()) for name in words), *fields])


def _united(batches: list[pa.RecordBatch]) -> tuple[pa.RecordBatch, Positions]:
    """Return the keys of all batches once, in the order in which they come first, and the number of each row's key."""
    keys = pa.concat_batches(batches)
    codes, firsts = codes_of(keys.columns)
    order = np.argsort(firsts)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return keys.take(pa.array(firsts[order])), rank[codes]


def dropped_up_to(until: int, lower: int) -> int:
    """Return the time up to which rows are dropped once time has progressed so far.

    That is the frame before the last row of a key that is forgotten a frame and a half later, unless its next row has
    come up to a frame, or up to some seconds, before its time.
    """
    return until - 5 * lower // 2 - 2 - max(lower, _PATIENCE)


def stretch_bits(lower: int) -> int:
    """Return the bits of the milliseconds of a stretch.

    >>> stretch_bits(0), stretch_bits(60_000)
    (0, 12)
    """
    return max((lower // _STRETCHES).bit_length() - 1, 0)
