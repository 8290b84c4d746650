"""The operator of MATCH_RECOGNIZE (Flink: CepOperator with generated conditions).

In event time, rows wait until the watermark has passed their time; a row whose time has passed when it comes is late.
Then all rows that are due are computed on together, and go through the pattern key by key, in the order of time, of
further columns, and of arrival. Rows that cannot begin a match of a key without one are passed over at once. In
processing time rows are taken as they come.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.columns.row_patterns import MatchRecognize
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import WindowAssignment, WindowShape
from firesteel.runtime.columns.arrivals import ARRIVAL
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.query import Times as Now
from firesteel.runtime.columns.matching.conditions import pattern_condition
from firesteel.runtime.columns.matching.definition import pattern_definition
from firesteel.runtime.columns.matching.kept import HeldKey, HeldMatches
from firesteel.runtime.columns.matching.noted import Noted
from firesteel.runtime.columns.matching.results import FoundMatch, MatchRows
from firesteel.runtime.columns.matching.values import Events
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.ordering import in_order
from firesteel.runtime.columns.over.waiting import ORDER, TIME, Waiting
from firesteel.runtime.columns.sort_order import require_sortable, sorted_places
from firesteel.runtime.columns.times import Times, times_of
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.columns.windows.operator import GatheringOperator
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.runtime.patterns.compiling import compiled
from firesteel.runtime.patterns.matcher import Matcher
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.sorting import Positions

_EVERY_MILLISECOND: Final = WindowShape("tumble", 1, 1)
_KEYS_AT_ONCE: Final = 1 << 14


class MatchOperator(GatheringOperator):
    """Emits the rows of matches; see the module."""

    def __init__(self, match: MatchRecognize) -> None:
        super().__init__(WindowAssignment(_EVERY_MILLISECOND, match.time, event_time=match.event_time))
        self._match = match
        self._schema = to_arrow_schema(match.input)
        self._kept_rows = KeyedRows(self._schema, match.keys)
        self._keys = self._kept_rows.keys

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.arrangements is not None
        match, groups = self._match, context.max_parallelism
        require_sortable(self._schema, match.order, context.who)
        self._waiting = Waiting(context.arrangements, self._keys, self._kept_rows.others, groups)
        self._events = Events(match, context.who)
        self._rows = MatchRows(match, context.who)
        conditions = {
            one.variable: pattern_condition(one, self._events, context.who) for one in match.conditions
        }
        automaton = compiled(pattern_definition(match.pattern, conditions))
        self._matcher = Matcher(
            automaton, context.who, shows_timeouts=match.pattern.timed_out, kept=self._events.kept_at
        )
        note = Noted.of(match, automaton.shape).encoded()
        self._held = HeldMatches(context.arrangements, self._keys, groups, note)
        self._timed = automaton.within is not None
        self._skips = self._matcher.first_condition is not None

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._waiting.begin()
        self._held.begin()
        self._kept_rows.begin(epoch, self.context)

    def end_epoch(self) -> OperatorReport:
        report = super().end_epoch()
        self._waiting.settle()
        self._held.settle()
        return report

    def close(self) -> None:
        self._events.close()
        self._rows.close()
        super().close()

    # What the gathering asks for

    def _receive(self, batch: ColumnBatch, over: Times) -> None:
        times = times_of(batch, self._window, self.processing_time, self.context.who)
        orders = self._kept_rows.orders(len(batch))
        columns = [pa.array(times), pa.array(orders), *self._kept_rows.columns(batch)]
        rows = pa.RecordBatch.from_arrays(columns, schema=self._waiting.schema)
        if not self._window.event_time:
            self._take(rows, None)
            return
        late = times < over
        if late.any():
            self._late.inc(int(late.sum()))
            rows = rows.filter(pa.array(~late))
        self._waiting.put(rows)

    def _fire(self, until: int) -> None:
        if until <= self._fired:
            return
        self._fired = until
        last = until if until == MAX_WATERMARK else until - 1
        due = self._waiting.due(last) if self._window.event_time else None
        late = self._held.due(last) if self._timed else None
        if due is not None:
            self._take(due, last)
        if late is not None:
            self._pass_time(late, last)

    def _next_end(self, after: int) -> int:
        return after + 1

    def _wakeup(self) -> int | None:
        """Return the processing time at which the next partial match is too late: a millisecond later, as in Flink."""
        timer = self._held.next_timer() if self._timed else None
        return None if timer is None else timer + 1

    # Rows

    def _take(self, rows: pa.RecordBatch, until: int | None) -> None:
        """Let rows go through the pattern, and time pass up to `until`."""
        codes, _ = codes_of([rows.column(name) for name in self._keys.names])
        order = self._order(rows, codes)
        rows, codes = rows.take(pa.array(order)), codes[order]
        begins = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        keys = rows.select(self._keys.names).take(pa.array(begins))
        batch = ColumnBatch(self._kept_rows.as_input(rows))
        watermark = None if self.watermark == MIN_WATERMARK else self.watermark
        self._events.take(batch, Now(self.processing_time, watermark))
        step = _Step(self, numbers(rows.column(TIME)).tolist(), until)
        bounds = [*begins.tolist(), len(codes)]
        for start in range(0, keys.num_rows, _KEYS_AT_ONCE):
            some = keys.slice(start, _KEYS_AT_ONCE)
            self._emit(step.run(some, bounds[start : start + some.num_rows + 1]), some)

    def _order(self, rows: pa.RecordBatch, codes: Positions) -> Positions:
        times, orders = numbers(rows.column(TIME)), numbers(rows.column(ORDER))
        if not self._match.order:
            return in_order(codes, times, orders)
        given = self._kept_rows.as_input(rows)
        columns = [pa.array(codes), pa.array(times), *(given.column(key.column) for key in self._match.order)]
        names = [*(f"c{place}" for place in range(len(columns))), ARRIVAL]
        keys = [SortColumn(0, True, True), SortColumn(1, True, True)]
        keys += [key._replace(column=place + 2) for place, key in enumerate(self._match.order)]
        table = pa.RecordBatch.from_arrays([*columns, rows.column(ORDER)], names=names)
        order: Positions = sorted_places(table, keys).to_numpy().astype(np.int64)
        return order

    def _pass_time(self, keys: pa.RecordBatch, until: int) -> None:
        """Let time pass for keys without rows."""
        step = _Step(self, [], until)
        for start in range(0, keys.num_rows, _KEYS_AT_ONCE):
            some = keys.slice(start, _KEYS_AT_ONCE)
            self._emit(step.run(some, [0] * (some.num_rows + 1)), some)

    def _emit(self, found: list[FoundMatch], keys: pa.RecordBatch) -> None:
        if found:
            batch = self._rows.of(found, keys, self.processing_time)
            for part in batch.parts():
                self.output.emit(part)
        if self._held.full:
            self._held.settle()


class _Step:
    """A step of work: rows in the order of their keys and of time, by their places in the batch that `events` has."""

    def __init__(self, operator: MatchOperator, times: list[int], until: int | None) -> None:
        self._matcher = operator._matcher
        self._held = operator._held
        self._timed = operator._timed
        self._event_time = operator._window.event_time
        self._now = operator.processing_time
        self._times = times
        self._until = until
        self._begins = self._answers() if operator._skips else None
        self._found: list[FoundMatch] = []

    def _answers(self) -> list[int]:
        """Return for each row the place of the next one with which a match may begin."""
        count = len(self._times)
        answers = np.fromiter(map(bool, self._matcher.answers(range(count))), np.bool_, count)
        places = np.where(answers, np.arange(count), count)
        following: list[int] = np.append(np.minimum.accumulate(places[::-1])[::-1], count).tolist()
        return following

    def run(self, keys: pa.RecordBatch, bounds: list[int]) -> list[FoundMatch]:
        """Return the matches of some keys; the rows of key i are those from `bounds[i]` to `bounds[i + 1]`."""
        self._found = []
        for number, held in enumerate(self._held.hold(keys)):
            start, stop = bounds[number], bounds[number + 1]
            if held is None:
                if start == stop or (self._begins is not None and self._begins[start] >= stop):
                    continue
                held = self._held.make(keys, number)
            runs = held.matches.runs
            self._rows(held, number, start, stop)
            self._time(held, number)
            if held.matches.runs is not runs:
                held.changed = True
        return self._found

    def _rows(self, held: HeldKey, number: int, start: int, stop: int) -> None:
        matches, matcher, begins, found = held.matches, self._matcher, self._begins, self._found
        place = start
        while place < stop:
            if begins is not None and not matches.runs:
                place = begins[place]
                if place >= stop:
                    break
            time = self._times[place]
            if self._timed:
                self._advance(held, number, time)
            begin = None if begins is None else begins[place] == place
            for match in matcher.advance(matches, place, time, self._now, begin):
                found.append(FoundMatch(number, time, match))
            place += 1

    def _time(self, held: HeldKey, number: int) -> None:
        """Let time pass after the rows of a key, and note when its first match is too late."""
        if not self._timed:
            return
        until = self._until
        if until is not None:
            self._advance(held, number, until)
            if held.timer is not None and held.timer <= until:
                held.timer = None
                held.changed = True
        self._held.note_timer(held, self._matcher.deadline(held.matches))

    def _advance(self, held: HeldKey, number: int, time: int) -> None:
        """Let time pass: each partial match that is too late goes at its time, in processing time at this one."""
        matcher, matches = self._matcher, held.matches
        while (deadline := matcher.deadline(matches)) is not None and deadline <= time:
            at = deadline if self._event_time else time
            complete, timed_out = matcher.advance_time(matches, at)
            self._found += [FoundMatch(number, at, match) for match in complete]
            self._found += [FoundMatch(number, at, match, timed_out=True) for match, _ in timed_out]
