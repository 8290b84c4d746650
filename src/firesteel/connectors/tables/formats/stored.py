"""Columns from the values that Flink stores: days, milliseconds, and times as numbers of the column's unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from firesteel.common.logical_types import ArrayType, LogicalType, MapType, MultisetType, RowType
from firesteel.common.logical_types.arrow import to_arrow

_NUMBERS: Final = {32: pa.int32(), 64: pa.int64()}


def stored_column(values: Sequence[Any], data_type: LogicalType) -> pa.Array:
    """Return a column of stored values; None is NULL, a row is a tuple, an array a list, a map a list of pairs.

    Raises pyarrow's errors and OverflowError for values that the column cannot hold.

    >>> from firesteel.common.logical_types import parse_type
    >>> stored_column([(1, [0, None]), None], parse_type("ROW<n INT, days ARRAY<DATE>>")).to_pylist()
    [{'n': 1, 'days': [datetime.date(1970, 1, 1), None]}, None]
    """
    arrow = to_arrow(data_type)
    if isinstance(data_type, RowType):
        fields = [
            stored_column([None if row is None else row[place] for row in values], field.type)
            for place, field in enumerate(data_type.fields)
        ]
        absent = pa.array([row is None for row in values], pa.bool_())
        if not fields:
            return pa.array([None if row is None else {} for row in values], arrow)
        return pa.StructArray.from_arrays(fields, fields=list(arrow), mask=absent)
    if isinstance(data_type, ArrayType):
        elements = stored_column([item for part in values if part for item in part], data_type.element)
        return pa.ListArray.from_arrays(list_offsets(values), elements, type=arrow)
    if isinstance(data_type, MapType | MultisetType):
        key, value = data_type.children if isinstance(data_type, MapType) else (data_type.element, None)
        pairs = [pair for part in values if part for pair in part]
        keys = stored_column([pair[0] for pair in pairs], key)
        counts = [pair[1] for pair in pairs]
        items = pa.array(counts, pa.int32()) if value is None else stored_column(counts, value)
        return pa.MapArray.from_arrays(list_offsets(values), keys, items, type=arrow)
    return leaf_column(values, arrow)


def leaf_column(values: Sequence[Any], arrow: pa.DataType) -> pa.Array:
    """Return a column of single values; those of times are numbers."""
    if pa.types.is_temporal(arrow):
        return pa.array(values, _NUMBERS[arrow.bit_width]).view(arrow)
    return pa.array(values, arrow)


def list_offsets(values: Sequence[Any]) -> pa.Array:
    """Return where each list begins; NULL for one that is NULL."""
    offsets: list[int | None] = []
    end = 0
    for part in values:
        offsets.append(None if part is None else end)
        end += len(part) if part else 0
    return pa.array([*offsets, end], pa.int32())
