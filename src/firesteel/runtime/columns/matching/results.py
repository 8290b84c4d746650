"""The rows of matches: all matches of a step of work together, as columns.

The rows that a value looks at are a stretch of those of its variables, from the match's first one to the last one (or
up to the row that is shown, in ALL ROWS PER MATCH), so aggregates are those of OVER windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.functions.columns.row_patterns import (
    InputOf,
    KeyOf,
    MatchRecognize,
    MatchValue,
    RowsOf,
    TimeOf,
    TotalOf,
    ValueAt,
    WhetherTimedOut,
)
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.query import Times
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.matching.plain_values import column_of
from firesteel.runtime.columns.matching.values import Row
from firesteel.runtime.columns.over.calls import Calls
from firesteel.runtime.columns.over.frames import Frames
from firesteel.runtime.columns.times import timestamps
from firesteel.runtime.patterns.matcher import Match
from firesteel.state.arrangements.sorting import Positions


class FoundMatch(NamedTuple):
    """A match, or one that has `timed_out`: the number of its key, its time (milliseconds), its rows by variable."""

    key: int
    time: int
    rows: Match
    timed_out: bool = False


class MatchRows:
    """Makes rows of matches."""

    def __init__(self, match: MatchRecognize, who: str) -> None:
        self._match = match
        self._given = RowType(match.events.output.fields[: match.kept], nullable=False)
        self._schema = to_arrow_schema(match.results.input)
        self._statement = Statement(match.results, who)
        self._calls = {
            value: Calls(self._given, [value.aggregation])
            for value in match.values
            if isinstance(value, TotalOf)
        }

    def of(self, found: Sequence[FoundMatch], keys: pa.RecordBatch, now: int) -> ColumnBatch:
        """Return the rows of matches, in their order; `keys` are those that their numbers mean."""
        rows = _Rows(self._match, self._given, found)
        columns = [
            self._column(value, rows, keys, kind, now)
            for value, kind in zip(self._match.values, self._schema.types, strict=True)
        ]
        batch = ColumnBatch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        return self._statement.run(batch, Times(now))

    def close(self) -> None:
        """Release what was prepared."""
        self._statement.close()

    def _column(
        self, value: MatchValue, rows: _Rows, keys: pa.RecordBatch, kind: pa.DataType, now: int
    ) -> pa.Array:
        match value:
            case KeyOf(key):
                return keys.column(key).take(pa.array(rows.keys[rows.matches]))
            case TimeOf(event_time):
                times = rows.times[rows.matches]
                return timestamps(times if event_time else np.full(len(times), now), kind)
            case WhetherTimedOut():
                return pa.array(rows.timed_out[rows.matches])
            case InputOf(column):
                return rows.values.column(column).take(pa.array(rows.shown))
            case ValueAt():
                return rows.at(value)
            case TotalOf(of, aggregation):
                members, frames = rows.frames(of)
                calls = self._calls[value]
                mine = calls.lift(rows.values.take(pa.array(members)))
                (column,) = calls.together(calls.over_frames(mine, rows.match_of[members], frames), [])
                return column.cast(to_arrow(aggregation.type))


class _Rows:
    """The rows of some matches, one after another.

    `shown` are the places of those that the result has a row for, `matches` the numbers of their matches.
    """

    def __init__(self, match: MatchRecognize, given: RowType, found: Sequence[FoundMatch]) -> None:
        self._steps = {step.variable: number for number, step in enumerate(match.pattern.steps)}
        taken: list[Row] = []
        steps: list[int] = []
        counts: list[int] = []
        for one in found:
            before = len(taken)
            for variable, rows in one.rows.items():
                taken += rows
                steps += [self._steps[variable]] * len(rows)
            counts.append(len(taken) - before)
        self.keys = np.array([one.key for one in found], np.int64)
        self.times = np.array([one.time for one in found], np.int64)
        self.timed_out = np.array([one.timed_out for one in found], np.bool_)
        self._step_of = np.array(steps, np.int64)
        self._ends = np.cumsum(counts)
        self.match_of = np.repeat(np.arange(len(found)), counts)
        self.values = _columns(taken, given)
        if match.pattern.all_rows:
            hidden = [self._steps[step.variable] for step in match.pattern.steps if step.excluded]
            self.shown: Positions = np.flatnonzero(~np.isin(self._step_of, hidden))
        else:
            self.shown = self._ends - 1
        self.matches = self.match_of[self.shown]
        self._known: dict[RowsOf, tuple[Positions, Frames]] = {}

    @cached_property
    def _begins(self) -> Positions:
        begins: Positions = np.append(0, self._ends[:-1])
        return begins

    def frames(self, of: RowsOf) -> tuple[Positions, Frames]:
        """Return the places of the rows of some variables, and the stretch of them for each row that is shown."""
        found = self._known.get(of)
        if found is None:
            found = self._known[of] = self._frames(of)
        return found

    def _frames(self, of: RowsOf) -> tuple[Positions, Frames]:
        wanted = [self._steps[variable] for variable in of.variables]
        members = np.arange(len(self._step_of))
        if of.variables:
            members = np.flatnonzero(np.isin(self._step_of, wanted))
        starts = np.searchsorted(members, self._begins)[self.matches]
        last = self._ends[self.matches] - 1 if of.final else self.shown
        return members, Frames(starts, np.searchsorted(members, last, "right") - 1)

    def at(self, value: ValueAt) -> pa.Array:
        """Return a value for each row that is shown."""
        members, frames = self.frames(value.rows)
        places = frames.starts + value.offset if value.first else frames.ends - value.offset
        missing = (places < frames.starts) | (places > frames.ends)
        if not len(members):
            return pa.nulls(len(places), self.values.schema.types[value.column])
        taken = members[np.where(missing, 0, places)]
        return self.values.column(value.column).take(pa.array(taken, mask=missing))


def _columns(rows: Sequence[Row], given: RowType) -> pa.RecordBatch:
    """Return rows as columns, with one more, so that they are rows if nothing is kept of them."""
    kinds = [to_arrow(field.type) for field in given.fields]
    columns = [column_of([row[place] for row in rows], kind) for place, kind in enumerate(kinds)]
    columns.append(pa.nulls(len(rows), pa.bool_()))
    return pa.RecordBatch.from_arrays(columns, names=[f"c{place}" for place in range(len(columns))])
