"""The part of an accumulator that is one value of the group: the smallest, the largest, the first or the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.parts import Columns, Given, Named, Part, where
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.state.arrangements.columns import Numbers


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

    def kernel(self, named: Named) -> str | None:
        """Choose, where the kernel has the same order."""
        assert self.argument is not None
        types = pa.types
        ordered = types.is_signed_integer(self.type) or types.is_date32(self.type)
        ordered = ordered or types.is_decimal128(self.type) or types.is_string(self.type)
        if self.which not in ("min", "max") or not ordered:
            return None
        conditions = [] if self.condition is None else [named(self.condition)]
        return where(f"{self.which}({named(self.argument)})", conditions)

    def of_kernel(self, values: pa.Array) -> list[pa.Array]:
        """Return the values."""
        return [values.cast(self.type)]

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
