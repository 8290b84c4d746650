"""How the kernel holds values of types that DuckDB has no fitting type for.

TIME and both kinds of INTERVAL are numbers (milliseconds, months), and a TIMESTAMP_LTZ is a timestamp of UTC. Arrow
reads the same bytes under another type, so that such columns are not copied.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa


@lru_cache(1024)
def kernel_form(arrow: pa.DataType) -> pa.DataType:
    """Return the Arrow type in which the kernel computes on a column.

    >>> kernel_form(pa.time32("ms")), kernel_form(pa.timestamp("us", "UTC")), kernel_form(pa.string())
    (DataType(int32), TimestampType(timestamp[us]), DataType(string))
    """
    if pa.types.is_time32(arrow):
        return pa.int32()
    if pa.types.is_duration(arrow):
        return pa.int64()
    if pa.types.is_timestamp(arrow):
        return pa.timestamp(arrow.unit)
    if pa.types.is_list(arrow):
        return pa.list_(kernel_form(arrow.value_type))
    if pa.types.is_map(arrow):
        return pa.map_(kernel_form(arrow.key_type), kernel_form(arrow.item_type))
    if pa.types.is_struct(arrow):
        return pa.struct([(field.name, kernel_form(field.type)) for field in arrow])
    return arrow


def converted(column: pa.Array, form: pa.DataType) -> pa.Array:
    """Return a column under another type of the same values."""
    given = column.type
    if given == form:
        return column
    if _same_bytes(given, form):
        return column.view(form)
    if column.offset and pa.types.is_nested(given):
        column = pa.concat_arrays([column, pa.nulls(0, given)])
    if pa.types.is_list(form) and pa.types.is_list(given):
        values = converted(column.values, form.value_type)
        return pa.ListArray.from_arrays(column.offsets, values, type=form, mask=_nulls(column))
    if pa.types.is_struct(form) and pa.types.is_struct(given) and len(form):
        parts = [converted(column.field(place), field.type) for place, field in enumerate(form)]
        return pa.StructArray.from_arrays(parts, fields=list(form), mask=_nulls(column))
    if pa.types.is_map(form) and pa.types.is_map(given):
        keys, items = converted(column.keys, form.key_type), converted(column.items, form.item_type)
        return pa.MapArray.from_arrays(column.offsets, keys, items, type=form, mask=_nulls(column))
    return column.cast(form)


def _same_bytes(given: pa.DataType, form: pa.DataType) -> bool:
    """Return whether the two are one number of the same width, and neither is another's unit."""
    if pa.types.is_timestamp(given) and pa.types.is_timestamp(form):
        return bool(given.unit == form.unit)
    pair = {given, form}
    return pair in ({pa.time32("ms"), pa.int32()}, {pa.duration("ms"), pa.int64()})


def _nulls(column: pa.Array) -> pa.Array | None:
    return column.is_null() if column.null_count else None
