"""The plain values that the engine of patterns has of columns, and the columns of such values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa


def plain(column: pa.Array) -> list[Any]:
    """Return the values of a column; times and dates are the numbers that Arrow stores.

    >>> plain(pa.array([1_000, None], pa.timestamp("ms")))
    [1000, None]
    """
    number = _number(column.type)
    values: list[Any] = (column if number is None else column.view(number)).to_pylist()
    return values


def column_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the column of values of which `plain` made a list."""
    number = _number(kind)
    return pa.array(values, kind) if number is None else pa.array(values, number).view(kind)


def _number(kind: pa.DataType) -> pa.DataType | None:
    types = pa.types
    if not (types.is_temporal(kind) and not types.is_interval(kind)):
        return None
    return pa.int32() if kind.bit_width == 32 else pa.int64()
