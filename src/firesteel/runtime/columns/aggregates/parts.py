"""Parts of accumulators: columns of numbers, values or texts that are added up by key.

Contract of a part: `lift` gives its columns for each row of a batch, as if the row were a group of its own; `combine`
adds up the rows of each group; `merge` adds a later accumulator to an earlier one, row by row. Rows that do not count
(their filter is not TRUE, their value is NULL) give the part's neutral element. Where all of a part's columns are
numbers to be added, a retracted row gives what it gave with the opposite sign.

`arrow` has the name of Arrow's aggregate function that does what `combine` does, for each column; None: there is none.
`kernel` is an aggregate of the kernel's SQL over rows that are added, and `of_kernel` makes the columns of its values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.state.arrangements.columns import Mask, Numbers, numbers

Columns = Sequence[pa.Array]

Named = Callable[[int], str]
"""Gives a column of the input its name in the kernel's SQL."""

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

    def kernel(self, named: Named) -> str | None:
        """Return the aggregate of the kernel that gives the same; None if there is none."""
        return None

    def of_kernel(self, values: pa.Array) -> list[pa.Array]:
        """Return the columns for each group of what the kernel has computed."""
        raise AssertionError(f"the kernel does not compute {self.label}")

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

    def settled(self, columns: Columns) -> list[pa.Array]:
        """Return the columns as they are kept: with nothing that waits to be added."""
        return list(columns)


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

    def _conditions(self, named: Named) -> list[str]:
        return [] if self.condition is None else [named(self.condition)]

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

    def kernel(self, named: Named) -> str:
        """Count."""
        conditions = self._conditions(named)
        if self.argument is None:
            return where("count(*)", conditions)
        there = [f"{named(place)} IS NOT NULL" for place in self.others]
        return where(f"count({named(self.argument)})", [*conditions, *there])

    def of_kernel(self, values: pa.Array) -> list[pa.Array]:
        """Return the numbers."""
        return [values.cast(pa.int64())]

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

    def kernel(self, named: Named) -> str | None:
        """Add; floating point numbers are not, for the kernel knows another order of them."""
        assert self.argument is not None
        if self.floating:
            return None
        return f"CAST({where(f'sum({named(self.argument)})', self._conditions(named))} AS DECIMAL(38, 0))"

    def of_kernel(self, values: pa.Array) -> list[pa.Array]:
        """Return the low words of the sums."""
        return [pa.array(_words(pc.fill_null(values, 0))[0])]

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

    def kernel(self, named: Named) -> str:
        """Add."""
        assert self.argument is not None
        return where(f"sum({named(self.argument)})", self._conditions(named))

    def of_kernel(self, values: pa.Array) -> list[pa.Array]:
        """Return the limbs of the sums, which have more digits than the values."""
        low, high = _words(pc.fill_null(values, 0))
        above = (low >> _LIMB) & _LOW
        rest = [high << _LIMB | above] if self.limbs <= 2 else [above, high & _LOW, high >> _LIMB]
        return list(map(pa.array, [low & _LOW, *rest]))

    def lift(self, given: Given) -> list[pa.Array]:
        """Return the limbs of the values, negated for retracted rows, and 0 for rows that do not count."""
        assert self.argument is not None
        low, high = _words(given.rows.column(self.argument))
        halves = [low] if self.limbs <= 2 else [low, high]
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


def where(aggregate: str, conditions: Iterable[str]) -> str:
    """Return an aggregate of the rows for which all conditions are TRUE."""
    all_of = " AND ".join(conditions)
    return f"{aggregate} FILTER (WHERE {all_of})" if all_of else aggregate


def _words(decimals: pa.Array) -> tuple[Numbers, Numbers]:
    """Return the low and the high words of decimals; of NULL they are arbitrary."""
    words = np.frombuffer(decimals.buffers()[1], np.int64).reshape(-1, 2)
    words = words[decimals.offset : decimals.offset + len(decimals)]
    return words[:, 0], words[:, 1]


def zeros(kinds: Sequence[pa.DataType], count: int) -> list[pa.Array]:
    """Return columns of 64-bit zeros."""
    return [pa.array(np.zeros(count, kind.to_pandas_dtype())) for kind in kinds]


def _values(column: pa.Array) -> Numbers | Floats:
    """Return numbers as they are; where the column is NULL they are arbitrary."""
    if pa.types.is_floating(column.type):
        return np.frombuffer(column.buffers()[1], np.float64)[column.offset : column.offset + len(column)]
    return numbers(column)
