"""Columns of tables in the types that Spark has."""

from __future__ import annotations

import pyarrow as pa


def readable(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the same columns in types that Spark can read: timestamps and durations in microseconds.

    Nanoseconds of timestamps are cut off. A time of day is text: Spark has no such type.

    >>> readable(pa.schema([("at", pa.timestamp("ns")), ("day", pa.list_(pa.time32("ms")))])).types
    [TimestampType(timestamp[us]), ListType(list<item: string>)]
    """
    return pa.schema([_readable(field) for field in schema])


def _readable(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _type(field.type), field.nullable)


def _type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_readable(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(_readable(kind.key_field), _readable(kind.item_field))
    if pa.types.is_struct(kind):
        return pa.struct([_readable(kind.field(place)) for place in range(kind.num_fields)])
    return kind
