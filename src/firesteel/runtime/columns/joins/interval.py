"""The interval join: each row meets the rows of the other input whose times are near its own.

Rows and watermarks are gathered, and worked on together. A pair belongs together whichever of its rows comes first.
What had been reached matters for late rows only: a row is kept for later partners until the watermark is beyond all
times that these can have, and a row for which this is so when it comes meets only those that are still kept. No row is
dropped for being late. Source: Flink's TimeIntervalJoin, RowTimeIntervalJoin and ProcTimeIntervalJoin. There, a row may
be kept a while longer, until the timer of another row of its key.

A row without a partner, where it is in the result, comes out when it is no longer kept. So the watermark of the result
is as much lower as rows may have been kept (Flink: KeyedCoProcessOperatorWithWatermarkDelay).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.joins import KEEPING, IntervalJoin, Side
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.joins.interval_sides import STATE, Arrived, IntervalSide
from firesteel.runtime.columns.joins.pairs import Condition, alone, equal_pairs, grouped, paired
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.columns.times import Times
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import Mask
from firesteel.state.arrangements.sorting import Positions

_MOST_WAITING: Final = 1 << 18
_SIDES: Final[tuple[Side, Side]] = (0, 1)


class _Needles(NamedTuple):
    """New rows of a side that look for partners, from the `first` to the `last` time of each.

    `groups` are those of equal buckets and keys, of which the row at `places[i]` has number `i`, and another one if its
    partners are in two buckets. If `timely`, a pair is one only if the row that came first was still kept.
    """

    side: Side
    rows: Arrived
    first: Times
    last: Times
    places: Positions
    groups: Segments
    timely: bool


class IntervalJoinOperator(SettlingOperator):
    """Sends pairs when both rows have come, and rows without a partner when they cannot find one any more."""

    def __init__(self, interval: IntervalJoin) -> None:
        self._interval = interval
        self._schema = to_arrow_schema(interval.join.output)
        self._sides = (IntervalSide(interval, 0), IntervalSide(interval, 1))
        self._event_time = interval.times is not None
        self._delay = max(interval.reaches) if self._event_time else 0

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of both sides."""
        super().open(context)
        for side, name in zip(self._sides, ("left", "right"), strict=True):
            side.open(context, name)
        self._condition = Condition(self._interval.join, context.who)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        for side in self._sides:
            side.begin(epoch)
        self._waiting: tuple[list[tuple[ColumnBatch, int, int]], list[tuple[ColumnBatch, int, int]]] = (
            [],
            [],
        )
        self._count = self._turn = 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let rows of a side wait."""
        self._waiting[port].append((batch, self._reached, self._turn))
        self._turn += 1
        self._count += len(batch)
        if self._count >= _MOST_WAITING:
            self._work()

    def end_epoch(self) -> OperatorReport:
        """Send all that waits; ask for an epoch when a row without a partner is due."""
        super().end_epoch()
        if self._event_time:
            return OperatorReport()
        due = [at for side in self._sides if (at := side.next_expiry()) is not None]
        return OperatorReport(next_wakeup=min(due, default=None))

    def close(self) -> None:
        """Release what was prepared."""
        self._condition.close()
        super().close()

    def emit_watermark(self, watermark: int | None) -> None:
        """Send a watermark that no row to come is behind."""
        moves = watermark is not None and watermark != MAX_WATERMARK
        super().emit_watermark(watermark - self._delay if moves and watermark is not None else watermark)

    @property
    def _reached(self) -> int:
        """The time that has been reached; as in Flink, it begins with 1970."""
        return max(self.watermark, 0) if self._event_time else self.processing_time

    def _work(self) -> None:
        waiting, self._waiting, self._count = self._waiting, ([], []), 0
        if waiting[0] or waiting[1]:
            new = [side.arrived(given) for side, given in zip(self._sides, waiting, strict=True)]
            met = [np.zeros(len(arrived.times), np.bool_) for arrived in new]
            self._meet(0, new, met)
            self._meet(1, new, met)
            for side in _SIDES:
                self._keep(side, new[side], met[side])
        for side in _SIDES:
            expired = self._sides[side].expire(self._reached)
            if expired is not None:
                self._alone(side, expired)

    def _meet(self, side: Side, new: list[Arrived], met: list[Mask]) -> None:
        """Let new rows of a side meet the kept rows of the other one, and those of the left side the new ones, too."""
        mine, own, other = new[side], self._sides[side], self._sides[1 - side]
        places = np.flatnonzero(own.matchable(mine.rows))
        if not len(places):
            return
        first, last = own.partner_times(mine.times)
        low, high = own.buckets(first[places]), own.buckets(last[places])
        more = np.flatnonzero(low != high)
        needles = np.concatenate((places, places[more]))
        keys = own.keyed(mine.rows.take(pa.array(needles)), np.concatenate((low, high[more])))
        theirs = new[1 - side] if side == 0 else new[1 - side].at(np.zeros(0, np.int64))
        groups, numbers = grouped(keys, other.keyed(theirs.rows, other.buckets(theirs.times)))
        there = np.flatnonzero(groups.lengths)
        given = _Needles(side, mine, first, last, needles, groups, self._must_be_in_time(mine, theirs))
        for found, kept in other.parts_with_keys(keys.take(pa.array(groups.order[groups.starts[there]]))):
            seen = self._pair(given, there[found], other.as_arrived(kept), met[side])
            if other.shows_alone and seen.any():
                other.meet(kept.filter(pa.array(seen)))
        if theirs.rows.num_rows:
            met[1 - side] |= self._pair(given, numbers, theirs, met[side])

    def _pair(self, given: _Needles, keys: Positions, others: Arrived, met: Mask) -> Mask:
        """Send the pairs of rows with others, whose keys have these numbers; return which others have met one."""
        side, mine = given.side, given.rows
        seen = np.zeros(len(keys), np.bool_)
        for needle, there in equal_pairs(given.groups, keys):
            here = given.places[needle]
            times = others.times[there]
            near = (given.first[here] <= times) & (times <= given.last[here])
            if given.timely:
                near &= self._in_time(side, mine.at(here), others.at(there))
            here, there = here[near], there[near]
            here, there = self._condition.of(side, mine.rows, others.rows, (here, there))
            if len(here):
                met[here] = seen[there] = True
                self._send(paired(side, mine.rows, others.rows, (here, there)))
        return seen

    def _must_be_in_time(self, mine: Arrived, theirs: Arrived) -> bool:
        """Return whether it matters when rows came: in event time it does for late ones only."""
        return not self._event_time or mine.late or theirs.late

    def _in_time(self, side: Side, mine: Arrived, theirs: Arrived) -> Mask:
        """Return which pairs met: the row that came first was kept, and still is when the other one comes."""
        own, other = self._sides[side], self._sides[1 - side]
        after = theirs.turns < mine.turns
        kept = (theirs.turns == STATE) | other.keeps(theirs)
        found: Mask = np.where(
            after,
            kept & (theirs.times >= mine.reached - other.reach),
            own.keeps(mine) & (mine.times >= theirs.reached - own.reach),
        )
        return found

    def _keep(self, side: Side, given: Arrived, met: Mask) -> None:
        """Keep rows for later partners; send those by themselves that will have none."""
        own = self._sides[side]
        kept = own.keeps(given) & (given.times > own.expired(self._reached))
        own.store(given.where(kept), met[kept])
        if own.shows_alone:
            left = ~kept & ~met
            if left.any():
                self._alone(side, given.rows.filter(pa.array(left)))

    def _alone(self, side: Side, rows: pa.RecordBatch) -> None:
        self._send(alone(side, rows, self._sides[1 - side].schema))

    def _send(self, rows: pa.RecordBatch) -> None:
        batch = ColumnBatch(pa.RecordBatch.from_arrays(rows.columns, schema=self._schema))
        for part in batch.parts():
            self.output.emit(part)


class SeparateOperator(Operator[ColumnBatch]):
    """The join of rows of which no two belong together: those without a partner are sent as they come."""

    def __init__(self, interval: IntervalJoin) -> None:
        self._join = interval.join
        self._schemas = [to_arrow_schema(side) for side in self._join.sides]
        self._schema = to_arrow_schema(self._join.output)

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Send rows by themselves, if they are in the result."""
        side = _SIDES[port]
        if KEEPING[self._join.kind][side]:
            rows = alone(side, batch.rows, self._schemas[1 - side])
            self.output.emit(ColumnBatch(pa.RecordBatch.from_arrays(rows.columns, schema=self._schema)))


def interval_join_operator(interval: IntervalJoin) -> Operator[ColumnBatch]:
    """Return the operator of an interval join; as in Flink, an empty interval needs no state."""
    return (SeparateOperator if interval.upper < interval.lower else IntervalJoinOperator)(interval)
