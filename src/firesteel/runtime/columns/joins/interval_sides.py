"""What an interval join keeps of one input: rows by key and time, and those that have met no partner by time alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.joins import KEEPING, IntervalJoin, Side
from firesteel.runtime.columns.aggregates.stores import hashed_within
from firesteel.runtime.columns.batch import ColumnBatch, concatenated, empty
from firesteel.runtime.columns.joins.pairs import unmatchable
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.waiting import ORDER, TIME, by_time
from firesteel.runtime.columns.times import Times, milliseconds, present_times
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.hashing import hash_columns
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.sorting import Positions

STATE: Final = -1
"""The turn of rows that came before this step."""

_ROWS_AT_ONCE: Final = 1 << 18
_LEAD: Final = "lead"
_BUCKET: Final = "bucket"
_LEAST: Final = 10_000
"""The shortest time that is dropped at once: each costs look-ups something."""


class Arrived(NamedTuple):
    """Rows with their times, and for each the time that had been reached when it came, and its turn."""

    rows: pa.RecordBatch
    times: Times
    reached: Times
    turns: Numbers

    @property
    def late(self) -> bool:
        """Return whether the time of a row had been reached."""
        return bool((self.times <= self.reached).any())

    def where(self, mask: Mask) -> Arrived:
        """Return some of the rows."""
        return self if mask.all() else self.at(np.flatnonzero(mask))

    def at(self, places: Positions) -> Arrived:
        """Return the rows at some places."""
        return Arrived(
            self.rows.take(pa.array(places)), self.times[places], self.reached[places], self.turns[places]
        )


class Buckets:
    """Stretches of time as long as the interval: all partners of a row are in one of them or in two neighbours.

    Where they are short, several are led by one number, by which they are dropped together.
    """

    def __init__(self, interval: IntervalJoin) -> None:
        self._size = interval.upper - interval.lower + 1
        self._many = -(-_LEAST // self._size)
        fields = [pa.field(_LEAD, pa.int64()), pa.field(_BUCKET, pa.int64())]
        self.fields = fields if self._many > 1 else fields[:1]
        self.keys = [field.name for field in self.fields[1:]]

    def of(self, times: Times) -> Numbers:
        """Return the number of the bucket of each time."""
        return times // self._size

    def columns(self, buckets: Numbers) -> list[pa.Array]:
        """Return the columns of `fields` of some buckets."""
        return [pa.array(column) for column in (buckets // self._many, buckets)[: len(self.fields)]]

    def passed(self, time: int) -> int:
        """Return the last leading number of which all times are up to this one."""
        return (time + 1) // (self._size * self._many) - 1


class IntervalSide:
    """One input of an interval join.

    A row is kept for later partners until the time that has been reached is beyond all times that they can have. If
    rows without a partner are in the result, those that have met none are kept a second time, by their time alone.
    """

    def __init__(self, interval: IntervalJoin, side: Side) -> None:
        join = interval.join
        self.schema = to_arrow_schema(join.sides[side])
        self.reach = interval.reaches[side]
        self.shows_alone = KEEPING[join.kind][side]
        self._interval, self._side = interval, side
        self._buckets = Buckets(interval)
        self._kept = KeyedRows(self.schema, join.keys[side])
        self._keys = [*self._buckets.fields, *self._kept.keys.fields]
        self._added = [pa.field(TIME, pa.int64())] if interval.times is None else []
        if self.shows_alone:
            self._added.append(pa.field(ORDER, pa.int64()))
        self._stored = pa.schema(
            [*self._buckets.fields, *self._added, *self._kept.keys.fields, *self._kept.others]
        )
        self._alone_stored = pa.schema(
            [
                pa.field(TIME, pa.int64()),
                pa.field(ORDER, pa.int64()),
                *self._kept.keys.fields,
                *self._kept.others,
            ]
        )

    def open(self, context: OperatorContext, name: str) -> None:
        """Declare the arrangements of the rows."""
        assert context.arrangements is not None
        self._who = context.who
        self._context = context
        groups, keys = context.max_parallelism, self._kept.keys
        hashed = partial(hashed_within, keys=len(keys.names), groups=groups)
        layout = Layout(
            self._stored,
            (*keys.names, *self._buckets.keys),
            Kind.MULTISET,
            leading=_LEAD,
            hashed=hashed if self._buckets.keys else hash_columns,
        )
        self._rows = context.arrangements.declare(name, layout)
        if self.shows_alone:
            self._alone = context.arrangements.declare(
                f"{name} alone", by_time(self._alone_stored, keys, groups)
            )

    def begin(self, epoch: Epoch) -> None:
        """Number the rows of an epoch after all earlier ones."""
        self._kept.begin(epoch, self._context)

    def arrived(self, given: Sequence[tuple[ColumnBatch, int, int]]) -> Arrived:
        """Return batches, each with the time that had been reached when it came and its turn, together.

        Raises ProgramError for a time attribute that is NULL.
        """
        if not given:
            none = np.zeros(0, np.int64)
            return Arrived(empty(self.schema), none, none, none)
        batch, counts = concatenated([part for part, _, _ in given]), [len(part) for part, _, _ in given]
        reached, turns = (np.repeat([entry[place] for entry in given], counts) for place in (1, 2))
        times = self._interval.times
        known = reached if times is None else present_times(batch, times[self._side], self._who)
        return Arrived(
            pa.RecordBatch.from_arrays(batch.rows.columns, schema=self.schema), known, reached, turns
        )

    def partner_times(self, times: Times) -> tuple[Times, Times]:
        """Return the first and the last time that partners of rows with these times have."""
        lower, upper = self._interval.lower, self._interval.upper
        return (times - upper, times - lower) if self._side == 0 else (times + lower, times + upper)

    def expired(self, reached: int) -> int:
        """Return the last time whose rows find no partner any more when a time has been reached."""
        return MAX_WATERMARK if reached == MAX_WATERMARK else reached - self.reach - 1

    def keeps(self, given: Arrived) -> Mask:
        """Return which rows are kept when they come: those that may find partners later."""
        kept: Mask = given.reached < given.times + self.reach
        return kept

    def matchable(self, rows: pa.RecordBatch) -> Mask:
        """Return which rows can equal others in the keys."""
        return ~unmatchable(self._interval.join, self._side, rows)

    def keyed(self, rows: pa.RecordBatch, buckets: Numbers) -> pa.RecordBatch:
        """Return buckets and keys of rows of this side, as columns that have the same names on both sides."""
        columns = [*self._buckets.columns(buckets), *self._kept.keys.columns(ColumnBatch(rows))]
        return pa.RecordBatch.from_arrays(columns, names=[field.name for field in self._keys])

    def buckets(self, times: Times) -> Numbers:
        """Return the number of the bucket of each time."""
        return self._buckets.of(times)

    def parts_with_keys(self, keys: pa.RecordBatch) -> Iterator[tuple[Positions, pa.RecordBatch]]:
        """Yield rows as they are kept, with the places of their buckets and keys, of which each is given once.

        They come in parts, for one key may have more rows than there is memory for.
        """
        for found in self._rows.in_parts(keys, _ROWS_AT_ONCE):
            if (found.weights == 1).all():
                yield found.keys, found.rows
            else:
                every = np.repeat(np.arange(len(found.weights)), found.weights)
                yield found.keys[every], found.rows.take(pa.array(every))

    def as_arrived(self, kept: pa.RecordBatch) -> Arrived:
        """Return kept rows as they came."""
        rows, interval = self._kept.as_input(kept), self._interval
        if interval.times is None:
            times = numbers(kept.column(TIME))
        else:
            times = milliseconds(rows.column(interval.times[self._side]))
        return Arrived(rows, times, times, np.full(len(times), STATE))

    def meet(self, kept: pa.RecordBatch) -> None:
        """Note that kept rows have a partner now."""
        others = kept.select(self._alone_stored.names[1:]).columns
        columns = [pa.array(self.as_arrived(kept).times), *others]
        self._alone.delete(pa.RecordBatch.from_arrays(columns, schema=self._alone_stored))

    def store(self, given: Arrived, met: Mask) -> None:
        """Keep rows, of which some have met a partner."""
        if not given.rows.num_rows:
            return
        batch = ColumnBatch(given.rows)
        kept, orders = self._kept.columns(batch), []
        added = [pa.array(given.times)] if self._interval.times is None else []
        if self.shows_alone:
            orders = [pa.array(self._kept.orders(len(batch)))]
        matchable = self.matchable(given.rows)
        columns = [*self._buckets.columns(self.buckets(given.times)), *added, *orders, *kept]
        rows = pa.RecordBatch.from_arrays(columns, schema=self._stored)
        self._rows.put(rows if matchable.all() else rows.filter(pa.array(matchable)))
        if self.shows_alone and not met.all():
            alone = pa.RecordBatch.from_arrays(
                [pa.array(given.times), *orders, *kept], schema=self._alone_stored
            )
            self._alone.put(alone.filter(pa.array(~met)))

    def expire(self, reached: int) -> pa.RecordBatch | None:
        """Forget the rows that find no partner any more; return those that have met none, if they are in the result."""
        expired = self.expired(reached)
        self._rows.drop_up_to(self._buckets.passed(expired))
        if not self.shows_alone:
            return None
        alone = self._alone.up_to(expired)
        self._alone.drop_up_to(expired)
        return self._kept.as_input(alone) if alone.num_rows else None

    def next_expiry(self) -> int | None:
        """Return when the first row that is alone may expire; None if there is none."""
        first = self._alone.least() if self.shows_alone else None
        return None if first is None else first + self.reach + 1
