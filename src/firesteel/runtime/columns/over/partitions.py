"""Whole partitions in the order of a window: their frames, and the functions that need rows after the current one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import Distance, PartitionFrame
from firesteel.runtime.columns.aggregates.chosen import coded
from firesteel.runtime.columns.aggregates.parts import Floats
from firesteel.runtime.columns.over.calls import offset
from firesteel.runtime.columns.over.frames import Frames
from firesteel.state.arrangements.columns import Mask, Numbers, same_rows
from firesteel.state.arrangements.sorting import Positions

_UNITS: Final = {"s": 1_000, "ms": 1, "us": 1_000, "ns": 1_000_000}
"""How many units of a timestamp a millisecond has."""

_DAY: Final = 86_400_000

_LONGEST_WORD: Final = 18
"""The most digits of a decimal number that a word of 64 bits has room for."""

_WIDE: Final = Context(prec=40)


class Partitions:
    """Rows sorted by partition and order; `codes` are the numbers of their partitions, which ascend."""

    def __init__(self, codes: Positions, rows: pa.RecordBatch, order: Sequence[SortColumn]) -> None:
        self.codes = codes
        self.rows = rows
        self._order = order

    @cached_property
    def first(self) -> Positions:
        """The place of the first row of each row's partition."""
        return np.searchsorted(self.codes, self.codes, "left")

    @cached_property
    def last(self) -> Positions:
        """The place of the last row of each row's partition."""
        return np.searchsorted(self.codes, self.codes, "right") - 1

    @cached_property
    def _groups(self) -> Positions:
        """The number of each row's peers, which ascends: the rows that are equal in what they are ordered by."""
        keys = self.rows.select(list(dict.fromkeys(key.column for key in self._order)))
        names = keys.schema.names
        new = np.append(True, self.codes[1:] != self.codes[:-1])
        if names and len(new):
            count = len(new) - 1
            new[1:] |= ~same_rows(keys.slice(0, count), keys.slice(1, count), names)
        return np.cumsum(new)

    def frames(self, frame: PartitionFrame) -> Frames:
        """Return the frame of each row."""
        places = np.arange(len(self.codes))
        lower, upper = frame.lower, frame.upper
        if frame.rows:
            starts = self.first if lower is None else np.maximum(places + int(lower), self.first)
            ends = self.last if upper is None else np.minimum(places + int(upper), self.last)
        else:
            starts = self.first if lower is None else self._bound(lower, "left")
            ends = self.last if upper is None else self._bound(upper, "right") - 1
        starts = np.minimum(starts, self.last + 1)
        return Frames(starts, np.maximum(ends, np.maximum(starts - 1, self.first - 1)))

    def special(self, call: Aggregation) -> pa.Array | None:
        """Return the results of a function that is no aggregate; None for others."""
        make = RANKS.get(call.function)
        if make is not None:
            return make(self)
        if call.function == "NTILE":
            return self._tiles(call)
        if call.function in ("LAG", "LEAD"):
            steps = _distances(call, self.rows)
            wanted = np.arange(len(self.codes)) + (steps if call.function == "LEAD" else -steps)
            missing: Mask = (wanted < self.first) | (wanted > self.last)
            return offset(call, self.rows, self.rows.column(call.arguments[0]), wanted, missing)
        return None

    def row_number(self) -> pa.Array:
        """Return the number of each row in its partition."""
        return pa.array(np.arange(len(self.codes)) - self.first + 1)

    def rank(self) -> pa.Array:
        """Return the number of the first of each row's peers."""
        return pa.array(self._peers("left") - self.first + 1)

    def dense_rank(self) -> pa.Array:
        """Return the number of each row's peers among those of the partition."""
        return pa.array(self._groups - self._groups[self.first] + 1)

    def percent_rank(self) -> pa.Array:
        """Return the share of the other rows that are before each row's peers."""
        others = self.last - self.first
        return pa.array((self._peers("left") - self.first) / np.maximum(others, 1))

    def cume_dist(self) -> pa.Array:
        """Return the share of the rows up to the last of each row's peers."""
        return pa.array((self._peers("right") - self.first) / (self.last - self.first + 1))

    def _peers(self, side: str) -> Positions:
        found: Positions = np.searchsorted(self._groups, self._groups, "left" if side == "left" else "right")
        return found

    def _tiles(self, call: Aggregation) -> pa.Array:
        """Return the number of each row's tile; if not all tiles have one size, the first ones are larger."""
        tiles = np.asarray(pc.fill_null(self.rows.column(call.arguments[0]).cast(pa.int64()), 1))
        size = self.last - self.first + 1
        place = np.arange(len(size)) - self.first
        small, larger = size // tiles, size % tiles
        edge = larger * (small + 1)
        after = larger + (place - edge) // np.maximum(small, 1)
        return pa.array(np.where(place < edge, place // (small + 1), after) + 1)

    def _bound(self, distance: Distance, side: str) -> Positions:
        """Return the first place whose value is not before (side "right": is after) the row's, moved by a distance."""
        if not distance:
            return self._peers(side)
        key = self._order[0]
        column = self.rows.column(key.column)
        values, step = measured(column, distance)
        if not key.ascending:
            values = -values
        nulls = np.asarray(column.is_null())
        known = np.unique(values)
        side_of: Callable[..., Positions] = np.searchsorted
        target = side_of(known, values + step, "left" if side == "left" else "right")
        part = (
            2 * self.codes + np.where(nulls, 0 if key.nulls_first else 1, 1 if key.nulls_first else 0)
        ) * (len(known) + 1)
        words = part + np.where(nulls, 0, np.searchsorted(known, values))
        wanted = part + np.where(nulls, 0 if side == "left" else 1, target)
        return np.searchsorted(words, wanted, "left")


def sorting(
    codes: Positions, rows: pa.RecordBatch, order: Sequence[SortColumn], arrivals: Numbers
) -> Positions:
    """Return the places of rows sorted by partition, then by the columns of an order, then by arrival."""
    columns: dict[str, pa.Array] = {"0": pa.array(codes)}
    directions = [("0", "ascending")]
    for place, ascending, nulls_first in order:
        column = coded(rows.column(place))
        if column.null_count:
            name = str(len(columns))
            columns[name] = column.is_null()
            directions.append((name, "descending" if nulls_first else "ascending"))
        name = str(len(columns))
        columns[name] = column
        directions.append((name, "ascending" if ascending else "descending"))
    name = str(len(columns))
    columns[name] = pa.array(arrivals)
    directions.append((name, "ascending"))
    found: Positions = pc.sort_indices(pa.table(columns), directions).to_numpy().astype(np.int64)
    return found


def measured(column: pa.Array, distance: Distance) -> tuple[Numbers | Floats, int | float]:
    """Return the values of a column, which are arbitrary where it is NULL, and a distance in their unit.

    >>> measured(pa.array([Decimal("1.50")]), Decimal("0.5"))
    (array([150]), 50)
    >>> measured(pa.array([Decimal("100000000000000000000.5")]), Decimal("0.5"))
    (array([1000000000000000000005], dtype=object), 5)
    """
    kind = column.type
    if pa.types.is_decimal(kind):
        if kind.precision > _LONGEST_WORD:
            whole = [
                0 if value is None else int(value.scaleb(kind.scale, _WIDE)) for value in column.to_pylist()
            ]
            return np.array(whole, object), int(Decimal(distance).scaleb(kind.scale))
        words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
        values: npt.NDArray[np.int64] = words[column.offset : column.offset + len(column), 0]
        return np.where(np.asarray(column.is_valid()), values, 0), int(Decimal(distance).scaleb(kind.scale))
    if pa.types.is_floating(kind):
        return np.asarray(pc.fill_null(column.cast(pa.float64()), 0.0)), float(distance)
    if pa.types.is_timestamp(kind):
        return np.asarray(pc.fill_null(column.cast(pa.int64()), 0)), int(distance * _UNITS[kind.unit])
    if pa.types.is_date(kind):
        return np.asarray(pc.fill_null(column.cast(pa.int32()), 0)).astype(np.int64), int(distance // _DAY)
    return np.asarray(pc.fill_null(column.cast(pa.int64()), 0)), int(distance)


def _distances(call: Aggregation, rows: pa.RecordBatch) -> Positions:
    """Return for each row the distance of LAG or LEAD, 0 if it is NULL."""
    if len(call.arguments) == 1:
        return np.ones(rows.num_rows, np.int64)
    column = pc.fill_null(rows.column(call.arguments[1]).cast(pa.int64()), 0)
    found: Positions = column.to_numpy()
    return found


RANKS: Final[dict[str, Callable[[Partitions], pa.Array]]] = {
    "ROW_NUMBER": Partitions.row_number,
    "RANK": Partitions.rank,
    "DENSE_RANK": Partitions.dense_rank,
    "PERCENT_RANK": Partitions.percent_rank,
    "CUME_DIST": Partitions.cume_dist,
}
