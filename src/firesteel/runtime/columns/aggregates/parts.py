"""Parts of accumulators: columns of numbers, values or texts that are added up by key.

Contract of a part: `lift` gives its columns for each row of a batch, as if the row were a group of its own; `combine`
adds up the rows of each group; `merge` adds a later accumulator to an earlier one, row by row. Rows that do not count
(their filter is not TRUE, their value is NULL) give the part's neutral element. Where all of a part's columns are
numbers to be added, a retracted row gives what it gave with the opposite sign.

`arrow` has the name of Arrow's aggregate function that does what `combine` does, for each column; None: there is none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.state.arrangements.columns import Mask, Numbers, numbers

Columns = Sequence[pa.Array]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Given:
    """The rows of a batch; `signs` has 1 for a row that is added and -1 for a retracted one (None: all are added)."""

    rows: pa.RecordBatch
    signs: Numbers | None = None
    _masks: dict[tuple[int | None, tuple[int, ...]], Mask | None] = field(default_factory=dict)

    def counted(self, condition: int | None, arguments: tuple[int, ...]) -> Mask | None:
        """Return the rows whose column `condition` is TRUE and whose arguments are not NULL (None: all rows)."""
        key = condition, arguments
        if key not in self._masks:
            self._masks[key] = self._mask(condition, arguments)
        return self._masks[key]

    def _mask(self, condition: int | None, arguments: tuple[int, ...]) -> Mask | None:
        mask: Mask | None = None
        if condition is not None:
            mask = np.asarray(pc.fill_null(self.rows.column(condition), False))
        for argument in arguments:
            column = self.rows.column(argument)
            if column.null_count:
                valid = np.asarray(column.is_valid())
                mask = valid if mask is None else mask & valid
        return mask

    def weights(self, condition: int | None, arguments: tuple[int, ...]) -> Numbers:
        """Return for each row its sign, or 0 if it does not count."""
        mask = self.counted(condition, arguments)
        if mask is None:
            return np.ones(self.rows.num_rows, np.int64) if self.signs is None else self.signs
        return mask.astype(np.int64) if self.signs is None else np.where(mask, self.signs, 0)


@dataclass(frozen=True)
class Part(ABC):
    """A part of an accumulator; see the module. `condition` is the place of the filter's column.

    `values_of`: it is made of the values of this store (see `stores`), and not of the input's rows.
    """

    argument: int | None
    condition: int | None
    values_of: Hashable = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def label(self) -> str:
        """Return the first word of the columns' names."""

    @property
    @abstractmethod
    def types(self) -> tuple[pa.DataType, ...]:
        """Return the types of the columns."""

    @property
    def arrow(self) -> tuple[str, ...] | None:
        """Return the names of Arrow's functions that combine the columns."""
        return None

    @property
    def ordered(self) -> bool:
        """Return whether the order of rows matters."""
        return False

    @abstractmethod
    def lift(self, given: Given) -> list[pa.Array]:
        """Return the columns for each row."""

    def neutral(self, count: int) -> list[pa.Array]:
        """Return the columns of rows that do not count."""
        return [pa.nulls(count, kind) for kind in self.types]

    @abstractmethod
    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Return the columns for each group of rows."""

    @abstractmethod
    def merge(self, earlier: Columns, later: Columns) -> list[pa.Array]:
        """Return the columns of both together."""


@dataclass(frozen=True)
class Additive(Part):
    """Columns of numbers that are added."""

    @property
    def arrow(self) -> tuple[str, ...]:
        """Return Arrow's sum for each column."""
        return ("sum",) * len(self.types)

    def neutral(self, count: int) -> list[pa.Array]:
        """Return zeros."""
        return zeros(self.types, count)

    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Add up the numbers of each group."""
        return [pa.array(groups.sums(_values(column))) for column in columns]

    def merge(self, earlier: Columns, later: Columns) -> list[pa.Array]:
        """Add."""
        return [pa.array(_values(one) + _values(two)) for one, two in zip(earlier, later, strict=True)]


@dataclass(frozen=True)
class Count(Additive):
    """The number of rows in which no argument is NULL."""

    others: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Return what it is."""
        return "count"

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """Return one of integers."""
        return (pa.int64(),)

    def lift(self, given: Given) -> list[pa.Array]:
        """Return the rows' signs."""
        arguments = self.others if self.argument is None else (self.argument, *self.others)
        return [pa.array(given.weights(self.condition, arguments))]


@dataclass(frozen=True)
class Sum(Additive):
    """The sum of integers, which wraps, or of floating point numbers."""

    floating: bool = False

    @property
    def label(self) -> str:
        """Return what it is."""
        return "sum"

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """Return 64-bit numbers."""
        return (pa.float64() if self.floating else pa.int64(),)

    def lift(self, given: Given) -> list[pa.Array]:
        """Return the values, negated for retracted rows, and 0 for rows that do not count."""
        assert self.argument is not None
        column = pc.cast(given.rows.column(self.argument), self.types[0])
        mask = given.counted(self.condition, (self.argument,))
        if mask is None and given.signs is None:
            return [column]
        values = _values(column)
        if mask is not None:
            values = np.where(mask, values, 0)
        return [pa.array(values if given.signs is None else values * given.signs)]


_LIMB: Final = 32
_LOW: Final = np.int64((1 << _LIMB) - 1)


@dataclass(frozen=True)
class DecimalSum(Additive):
    """The sum of decimals: their digits as an integer, in limbs of 32 bits; the last limb holds the rest and the sign.

    So decimals are added as fast as integers, and nothing is lost: two limbs are enough for numbers of up to 18 digits,
    four for longer ones.
    """

    limbs: int = 2

    @property
    def label(self) -> str:
        """Return what it is."""
        return "sum"

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """Return integers."""
        return (pa.int64(),) * self.limbs

    def lift(self, given: Given) -> list[pa.Array]:
        """Return the limbs of the values, negated for retracted rows, and 0 for rows that do not count."""
        assert self.argument is not None
        column = given.rows.column(self.argument)
        words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
        words = words[column.offset : column.offset + len(column)]
        halves = [words[:, 0]] if self.limbs <= 2 else [words[:, 0], words[:, 1]]
        limbs = [limb for half in halves for limb in (half & _LOW, half >> _LIMB)]
        limbs[1:-1] = [limb & _LOW for limb in limbs[1:-1]]
        weights = given.weights(self.condition, (self.argument,))
        return [pa.array(limb * weights) for limb in limbs]

    def merge(self, earlier: Columns, later: Columns) -> list[pa.Array]:
        """Add, and carry."""
        return list(map(pa.array, carried([numbers(column) for column in super().merge(earlier, later)])))


def carried(limbs: Sequence[Numbers]) -> list[Numbers]:
    """Return the same number with limbs of 0 to 2 ** 32 - 1 but for the last one.

    >>> carried([np.array([-1]), np.array([5])])
    [array([4294967295]), array([4])]
    """
    done = []
    carry: Numbers = np.zeros(len(limbs[0]), np.int64)
    for limb in limbs[:-1]:
        total = limb + carry
        done.append(total & _LOW)
        carry = total >> _LIMB
    return [*done, limbs[-1] + carry]


def zeros(kinds: Sequence[pa.DataType], count: int) -> list[pa.Array]:
    """Return columns of 64-bit zeros."""
    return [pa.array(np.zeros(count, kind.to_pandas_dtype())) for kind in kinds]


def _values(column: pa.Array) -> Numbers | Floats:
    """Return numbers as they are; where the column is NULL they are arbitrary."""
    if pa.types.is_floating(column.type):
        return np.frombuffer(column.buffers()[1], np.float64)[column.offset : column.offset + len(column)]
    return numbers(column)


@dataclass(frozen=True)
class Chosen(Part):
    """One value of each group, NULL if there is none: the smallest, largest, first or last (`which`: Arrow's name)."""

    which: str
    type: pa.DataType

    @property
    def label(self) -> str:
        """Return the function's name."""
        return self.which

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """Return the values' type."""
        return (coded_type(self.type) if self.which in ("min", "max") else self.type,)

    @property
    def arrow(self) -> tuple[str, ...] | None:
        """Return the function's name, if Arrow has it for the type."""
        return (self.which,) if self._in_arrow else None

    @property
    def ordered(self) -> bool:
        """Return whether it is the first or the last."""
        return self.which in ("first", "last")

    @property
    def _in_arrow(self) -> bool:
        types = pa.types
        if self.which in ("min", "max"):
            return True
        return not (types.is_nested(self.type) or types.is_decimal(self.type) or types.is_null(self.type))

    def lift(self, given: Given) -> list[pa.Array]:
        """Return the values, NULL for rows that do not count."""
        assert self.argument is not None
        column = given.rows.column(self.argument)
        if self.which in ("min", "max"):
            column = coded(column)
        mask = given.counted(self.condition, ())
        return [column if mask is None else pc.if_else(pa.array(mask), column, None)]

    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Choose one of each group."""
        if not self._in_arrow:
            return [self._at_the_edge(columns[0], groups)]
        ordered = columns[0].take(pa.array(groups.order))
        table = pa.table({"group": groups.groups, "value": ordered})
        chosen = table.group_by("group", use_threads=False).aggregate([("value", self.which)])
        return [chosen.column(f"value_{self.which}").combine_chunks()]

    def _at_the_edge(self, column: pa.Array, groups: Segments) -> pa.Array:
        """Return the first or the last value of each group."""
        valid = np.asarray(column.is_valid())[groups.order]
        rows = np.arange(len(valid))
        nowhere = len(valid) if self.which == "first" else -1
        best = np.minimum if self.which == "first" else np.maximum
        places = best.reduceat(np.where(valid, rows, nowhere), groups.starts)
        none = places == nowhere
        return column.take(pa.array(groups.order[np.where(none, 0, places)], mask=none))

    def merge(self, earlier: Columns, later: Columns) -> list[pa.Array]:
        """Choose one of two."""
        one, two = earlier[0], later[0]
        if self.which == "first":
            return [pc.coalesce(one, two)]
        if self.which == "last":
            return [pc.coalesce(two, one)]
        choose = pc.min_element_wise if self.which == "min" else pc.max_element_wise
        if pa.types.is_boolean(one.type):  # Arrow compares numbers only
            return [choose(one.cast(pa.uint8()), two.cast(pa.uint8())).cast(pa.bool_())]
        return [choose(one, two)]


def coded_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of `coded`."""
    if pa.types.is_floating(kind):
        return pa.int64()
    return pa.int8() if pa.types.is_boolean(kind) else kind


_ALL_BUT_SIGN: Final = np.int64((1 << 63) - 1)


def coded(column: pa.Array) -> pa.Array:
    """Return values as others that Arrow orders as Flink does: booleans and floating point numbers as integers.

    NaN is the largest number, and -0.0 is below 0.0.

    >>> coded(pa.array([float("nan"), 0.0, -0.0, -1.5])).to_numpy().argsort().tolist()
    [3, 2, 1, 0]
    """
    if not pa.types.is_floating(column.type):
        return column.cast(coded_type(column.type))
    values = np.asarray(pc.fill_null(column, 0.0)).astype(np.float64)
    values[np.isnan(values)] = np.nan
    bits = values.view(np.int64)
    return pa.array(_turned(bits), mask=np.asarray(column.is_null()))


def decoded(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the values of which `coded` made a column; `kind` is their type."""
    if not pa.types.is_floating(kind):
        return column.cast(kind)
    bits = _turned(np.asarray(pc.fill_null(column, 0)))
    return pc.cast(pa.array(bits.view(np.float64), mask=np.asarray(column.is_null())), kind)


def _turned(bits: Numbers) -> Numbers:
    """Return the bits of floating point numbers as integers in the same order, and the other way round."""
    return np.where(bits < 0, bits ^ _ALL_BUT_SIGN, bits)
