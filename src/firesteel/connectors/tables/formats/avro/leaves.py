"""Values of Avro that have no parts, to columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import DecimalType, LogicalType, LogicalTypeRoot
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.connectors.tables.formats.avro.lanes import Lanes, Longs, Malformed
from firesteel.connectors.tables.formats.avro.schema import AvroType

_R = LogicalTypeRoot
Read = Callable[[Lanes], pa.Array]

_WHOLE: Final = ("int", "long")
_PROMOTED: Final = {
    "int": ("int", "long", "float", "double"),
    "long": ("long", "float", "double"),
    "float": ("float", "double"),
    "double": ("double",),
    "string": ("string", "bytes"),
    "bytes": ("bytes", "string"),
}
"""By what was written, as what it can be read (Avro 1.12, "Schema Resolution")."""

_WORDS: Final = {"float": "<f4", "double": "<f8"}
_UNITS: Final = {"millis": 1_000_000, "micros": 1_000, "nanos": 1}
_NANOS: Final = {"us": 1_000, "ns": 1}
_WIDEST: Final = 16
_INT: Final = 1 << 31


def promotes(written: AvroType, read: AvroType) -> bool:
    """Return whether a value without parts can be read as another type."""
    if written.kind == "fixed":
        return read.kind == "fixed" and (written.short_name, written.size) == (read.short_name, read.size)
    if written.kind in ("null", "boolean", "enum"):
        return written.kind == read.kind
    return read.kind in _PROMOTED.get(written.kind, ())


def leaf(written: AvroType, read: AvroType, kind: LogicalType) -> Read:
    """Return what reads values that were written as one type, are read as another, and are of a column's type."""
    arrow = to_arrow(kind)
    if written.kind == "null":
        return lambda lanes: pa.nulls(len(lanes), arrow)
    if written.kind == "boolean":
        return lambda lanes: pa.array(lanes.bytes() != 0)
    if written.kind in _WHOLE:
        return _whole(written, read, kind, arrow)
    if written.kind in _WORDS:
        return lambda lanes: pa.array(lanes.words(_WORDS[written.kind])).cast(arrow)
    if isinstance(kind, DecimalType):
        return _decimals(written, kind, arrow)
    if written.kind == "enum":
        return _symbols(written, read)
    data: Read = Lanes.values if written.kind != "fixed" else lambda lanes: lanes.pieces(written.size)
    return data if pa.types.is_binary(arrow) else lambda lanes: texts(data(lanes))


def _whole(written: AvroType, read: AvroType, kind: LogicalType, arrow: pa.DataType) -> Read:
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        return _timestamps(written, read, arrow)
    if read.kind in _WORDS:
        return lambda lanes: pa.array(_ints(lanes, written).astype(_WORDS[read.kind])).cast(arrow)
    width = arrow.bit_width
    return lambda lanes: pa.array(_ints(lanes, written).astype(f"i{width // 8}")).view(arrow)


def _ints(lanes: Lanes, written: AvroType) -> Longs:
    found = lanes.longs()
    if written.kind == "int" and ((found >= _INT) | (found < -_INT)).any():
        raise Malformed("an int has more than 32 bits")
    return found


def _timestamps(written: AvroType, read: AvroType, arrow: pa.DataType) -> Read:
    """Return the reader of points in time, in the unit that the writer names, or else the reader."""
    logical = written.logical if written.kind == "long" else None
    unit = _unit(logical) or _unit(read.logical) or _UNITS["millis"]
    stored = _NANOS[arrow.unit]

    def values(lanes: Lanes) -> pa.Array:
        found = lanes.longs()
        if unit <= stored:
            return pa.array(found // (stored // unit)).view(arrow)
        scaled = found * (unit // stored)
        if (scaled // (unit // stored) != found).any():
            raise Malformed("a time is out of range")
        return pa.array(scaled).view(arrow)

    return values


def _unit(logical: str | None) -> int | None:
    """Return the nanoseconds of the unit of a logical type, None for another one.

    >>> _unit("local-timestamp-micros"), _unit("date")
    (1000, None)
    """
    return _UNITS.get((logical or "").rpartition("-")[2])


def nanoseconds_of(logical: str | None) -> int:
    """Return the nanoseconds of the unit of points in time; without a logical type these are milliseconds."""
    return _unit(logical) or _UNITS["millis"]


def in_units(value: int, logical: str | None, stored: str) -> int:
    """Return a time of a logical type's unit as a number of the unit of a column.

    >>> in_units(5, "timestamp-millis", "us")
    5000
    """
    return value * nanoseconds_of(logical) // _NANOS[stored]


def texts(data: pa.Array) -> pa.Array:
    """Return bytes as text; what is no UTF-8 becomes U+FFFD, as in Java."""
    try:
        return data.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(
            [None if value is None else value.decode("utf-8", "replace") for value in data.to_pylist()],
            pa.string(),
        )


def _symbols(written: AvroType, read: AvroType) -> Read:
    """Return the reader of enums. A symbol that the reader lacks becomes its default."""
    known = set(read.symbols) if read.kind == "enum" else set(written.symbols)
    named = [symbol if symbol in known else read.default for symbol in written.symbols]
    symbols = pa.array(named, pa.string())

    def values(lanes: Lanes) -> pa.Array:
        found = lanes.longs()
        if ((found < 0) | (found >= len(named))).any():
            raise Malformed("an enum has no such symbol")
        column = symbols.take(pa.array(found))
        if column.null_count:
            raise Malformed(f"a symbol is none of {', '.join(sorted(known))}")
        return column

    return values


def _decimals(written: AvroType, kind: DecimalType, arrow: pa.DataType) -> Read:
    """Return the reader of decimal numbers of the writer's scale, if it has one."""
    scale = written.scale if written.logical == "decimal" else kind.scale
    read_as = pa.decimal128(38, scale) if scale != kind.scale else arrow

    def values(lanes: Lanes) -> pa.Array:
        lengths = np.full(len(lanes), written.size) if written.kind == "fixed" else lanes.lengths()
        column = _big_endian(lanes, lengths, read_as)
        return column if read_as == arrow else _rescaled(column, kind, arrow)

    return values


def _rescaled(column: pa.Array, kind: DecimalType, arrow: pa.DataType) -> pa.Array:
    rounded = pc.round(column, kind.scale, "half_towards_infinity")
    return rounded.cast(arrow, safe=False)


def _big_endian(lanes: Lanes, lengths: Longs, arrow: pa.DataType) -> pa.Array:
    """Return unscaled numbers, whose bytes begin with the highest one."""
    if (lengths < 1).any() or (lengths > _WIDEST).any():
        raise Malformed(f"a decimal number has no bytes, or more than {_WIDEST}")
    if (lanes.pos + lengths > lanes.end).any():
        raise Malformed("it ends within a value")
    signs = np.where(lanes.data[lanes.pos] >= 0x80, 0xFF, 0).astype(np.uint8)
    places = (lanes.pos + lengths - 1)[:, None] - np.arange(_WIDEST)
    there = np.arange(_WIDEST) < lengths[:, None]
    found = np.where(there, lanes.data[np.where(there, places, 0)], signs[:, None])
    lanes.skip(lengths)
    data = pa.py_buffer(np.ascontiguousarray(found, np.uint8))
    return pa.Array.from_buffers(arrow, len(lanes), [None, data])
