"""Columns to records of Avro, whole columns at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import ArrayType, DecimalType, LogicalType, MapType, MultisetType, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.connectors.tables.formats.avro.derived import value_of_map
from firesteel.connectors.tables.formats.avro.leaves import nanoseconds_of
from firesteel.connectors.tables.formats.avro.schema import AvroType
from firesteel.connectors.tables.formats.lists import regrouped

Write = Callable[[pa.Array], pa.Array]
"""Returns the bytes (binary) of each value of a column; NULL for what is NULL."""

_MOST: Final = 10
"""The bytes of the longest whole number."""

_DECIMAL: Final = 16
_END: Final = b"\x00"


class AvroWriter:
    """Writes rows of a type with a schema of the same structure. Not picklable.

    >>> from firesteel.common.logical_types import parse_type
    >>> from firesteel.connectors.tables.formats.avro.derived import schema_of_row
    >>> from firesteel.connectors.tables.formats.avro.schema import parse_schema
    >>> row = parse_type("ROW<n INT, s STRING NOT NULL> NOT NULL")
    >>> writer = AvroWriter(parse_schema(schema_of_row(row, True), "t"), row)
    >>> writer.write(pa.record_batch({"n": pa.array([1, None], pa.int32()), "s": ["a", ""]})).to_pylist()
    [b'\\x02\\x02\\x02a', b'\\x00\\x00']
    """

    def __init__(self, avro: AvroType, row: RowType) -> None:
        record = avro.without_null()
        self._fields = [
            (field.name, _writer(part.type, field.type))
            for field, part in zip(row.fields, record.fields, strict=True)
        ]
        # A record that may be null has the number of its branch before it.
        self._before = _tag(avro)

    def write(self, rows: pa.RecordBatch) -> pa.Array:
        """Return the record of each row. Raises TypeMismatchError for NULL where the schema has no null."""
        pieces = []
        for (name, write), column in zip(self._fields, rows.columns, strict=True):
            piece = write(column)
            if piece.null_count:
                raise TypeMismatchError(
                    "requires a value that is not NULL", who=f"column {name!r}", got="NULL"
                )
            pieces.append(piece)
        if not pieces:
            return pa.array([self._before] * rows.num_rows, pa.binary())
        return _joined(pa.scalar(self._before, pa.binary()), *pieces)


def _tag(avro: AvroType) -> bytes:
    """Return what is before a value that is not null: the number of its branch, if there are two."""
    if avro.kind != "union":
        return b""
    return bytes([2 * next(place for place, part in enumerate(avro.parts) if part.kind != "null")])


def _writer(avro: AvroType, kind: LogicalType) -> Write:
    value = avro.without_null()
    write = _of_value(value, kind)
    if avro.kind != "union":
        return write
    tag = pa.scalar(_tag(avro), pa.binary())
    null = pa.scalar(bytes([2 * next(at for at, part in enumerate(avro.parts) if part.kind == "null")]))

    def nullable(column: pa.Array) -> pa.Array:
        tagged = _joined(tag, write(column))
        return tagged.fill_null(null) if tagged.null_count else tagged

    return nullable


def _of_value(avro: AvroType, kind: LogicalType) -> Write:
    if isinstance(kind, RowType):
        return _record(avro, kind)
    if isinstance(kind, ArrayType):
        return _array(_writer(avro.parts[0], kind.element))
    if isinstance(kind, MapType | MultisetType):
        return _map(_writer(avro.parts[0], value_of_map(kind)))
    if isinstance(kind, DecimalType):
        return _fixed_decimals(avro.size) if avro.kind == "fixed" else _decimals
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        return _timestamps(avro, to_arrow(kind).unit)
    return _LEAVES[avro.kind] if avro.kind != "enum" else _symbols(avro)


def _joined(*pieces: Any) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.binary()))


def _record(avro: AvroType, row: RowType) -> Write:
    writers = [_writer(part.type, field.type) for part, field in zip(avro.fields, row.fields, strict=True)]

    def write(column: pa.Array) -> pa.Array:
        pieces = [write(part) for write, part in zip(writers, column.flatten(), strict=True)]
        there = column.is_valid()
        if not pieces:
            return pc.if_else(there, pa.scalar(b"", pa.binary()), None)
        joined = _joined(*pieces)
        if joined.null_count > column.null_count:
            raise TypeMismatchError("requires a value that is not NULL", who="a field of a row", got="NULL")
        return pc.if_else(there, joined, None) if column.null_count else joined

    return write


def _array(item: Write) -> Write:
    def write(column: pa.Array) -> pa.Array:
        return _blocks(column, item(column.flatten()))

    return write


def _map(item: Write) -> Write:
    def write(column: pa.Array) -> pa.Array:
        start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        keys, items = column.keys.slice(start, end - start), column.items.slice(start, end - start)
        if items.null_count and item(items).null_count:
            raise TypeMismatchError("requires a value that is not NULL", who="a map", got="NULL")
        return _blocks(column, _joined(_data(keys), item(items)))

    return write


def _blocks(column: pa.Array, items: pa.Array) -> pa.Array:
    """Return lists as one block of items and the end, or the end alone."""
    if items.null_count:
        raise TypeMismatchError("requires elements that are not NULL", who="an array", got="NULL")
    counts = pc.list_value_length(column) if not pa.types.is_map(column.type) else _sizes(column)
    together = pc.binary_join(regrouped(column, items), pa.scalar(b"", pa.binary()))
    filled = _joined(_whole(counts), together, pa.scalar(_END, pa.binary()))
    return pc.if_else(pc.equal(counts, 0), pa.scalar(_END, pa.binary()), filled)


def _sizes(column: pa.Array) -> pa.Array:
    offsets = column.offsets.to_numpy()
    return pa.array(np.diff(offsets), mask=column.is_null().to_numpy(zero_copy_only=False))


def _from_bytes(
    data: npt.NDArray[np.uint8], sizes: npt.NDArray[np.int64], nulls: npt.NDArray[np.bool_] | None
) -> pa.Array:
    """Return binary values: the first bytes of each line of `data`."""
    flat = data[np.arange(data.shape[1]) < sizes[:, None]]
    ends = np.append(0, np.cumsum(sizes)).astype(np.int32)
    found = pa.Array.from_buffers(
        pa.binary(), len(sizes), [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(flat))]
    )
    return found if nulls is None else pc.if_else(pa.array(nulls), None, found)


def _values(column: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_] | None]:
    """Return whole numbers, with 0 for NULL, and which are NULL; None if there is no NULL."""
    if not pa.types.is_integer(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    if not column.null_count:
        return column.to_numpy().astype(np.int64), None
    return column.fill_null(0).to_numpy().astype(np.int64), column.is_null().to_numpy(zero_copy_only=False)


def _whole(column: pa.Array) -> pa.Array:
    return _zigzag(*_values(column))


def _zigzag(values: npt.NDArray[np.int64], nulls: npt.NDArray[np.bool_] | None) -> pa.Array:
    left = ((values << 1) ^ (values >> 63)).view(np.uint64)
    sizes = np.ones(len(left), np.int64)
    columns = []
    for _ in range(_MOST):
        more = left >= np.uint64(0x80)
        columns.append((left & np.uint64(0x7F)).astype(np.uint8) | (more.astype(np.uint8) << 7))
        if not more.any():
            break
        sizes += more
        left >>= np.uint64(7)
    return _from_bytes(np.stack(columns, axis=1), sizes, nulls)


def _timestamps(avro: AvroType, stored: str) -> Write:
    """Return the writer of points in time, of which digits that the schema has no place for are cut off."""
    unit, has = nanoseconds_of(avro.logical), {"us": 1_000, "ns": 1}[stored]

    def write(column: pa.Array) -> pa.Array:
        values, nulls = _values(column)
        return _zigzag(values // (unit // has) if unit >= has else values * (has // unit), nulls)

    return write


def _data(column: pa.Array) -> pa.Array:
    data = column.cast(pa.binary())
    return _joined(_whole(pc.binary_length(data)), data)


def _floating(dtype: str) -> Write:
    def write(column: pa.Array) -> pa.Array:
        values = column.fill_null(0.0).to_numpy().astype(dtype)
        width = values.dtype.itemsize
        sizes = np.full(len(values), width)
        nulls = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        return _from_bytes(values.view(np.uint8).reshape(-1, width), sizes, nulls)

    return write


def _truths(column: pa.Array) -> pa.Array:
    one, zero = pa.scalar(b"\x01", pa.binary()), pa.scalar(b"\x00", pa.binary())
    return pc.if_else(column, one, zero)


def _symbols(avro: AvroType) -> Write:
    symbols = pa.array(avro.symbols, pa.string())

    def write(column: pa.Array) -> pa.Array:
        places = pc.index_in(column, symbols)
        unknown = column.filter(pc.and_(places.is_null(), column.is_valid()))
        if len(unknown):
            raise TypeMismatchError(
                f"requires one of {', '.join(avro.symbols)}",
                who="an enum of Avro",
                got=repr(unknown[0].as_py()),
            )
        return _whole(places)

    return write


def _unscaled(column: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_] | None]:
    """Return the sixteen bytes of decimal numbers, the highest first."""
    nulls = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if nulls is not None:
        column = column.fill_null(0)
    data = column.cast(pa.decimal128(38, column.type.scale)).buffers()[1]
    start = column.offset * _DECIMAL
    found = (
        np.frombuffer(data, np.uint8, len(column) * _DECIMAL, start) if len(column) else np.zeros(0, np.uint8)
    )
    return found.reshape(-1, _DECIMAL)[:, ::-1], nulls


def _decimals(column: pa.Array) -> pa.Array:
    """Return unscaled numbers in as few bytes as they need (Java: BigInteger.toByteArray), after their number."""
    data, nulls = _unscaled(column)
    sizes = _DECIMAL - _spare(data)
    places = (_DECIMAL - sizes)[:, None] + np.arange(_DECIMAL)
    moved = np.take_along_axis(data, np.minimum(places, _DECIMAL - 1), axis=1)
    return _joined(_zigzag(sizes, None), _from_bytes(moved, sizes, nulls))


def _spare(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return how many of the highest bytes repeat the sign."""
    signs = np.where(data[:, :1] >= 0x80, 0xFF, 0)
    repeats = (data[:, :-1] == signs) & ((data[:, 1:] >= 0x80) == (signs == 0xFF))
    return np.asarray(np.cumprod(repeats, axis=1).sum(axis=1))


def _fixed_decimals(size: int) -> Write:
    def write(column: pa.Array) -> pa.Array:
        data, nulls = _unscaled(column)
        if (_DECIMAL - _spare(data) > size).any():
            raise TypeMismatchError(
                f"requires numbers of at most {size} bytes", who="a decimal of Avro", got="more"
            )
        signs = np.where(data[:, :1] >= 0x80, 0xFF, 0).astype(np.uint8)
        wide = np.concatenate([np.repeat(signs, max(size - _DECIMAL, 0), axis=1), data], axis=1)[:, -size:]
        return _from_bytes(np.ascontiguousarray(wide), np.full(len(wide), size), nulls)

    return write


def _as_is(column: pa.Array) -> pa.Array:
    return column.cast(pa.binary())


def _nothing(column: pa.Array) -> pa.Array:
    return pa.array([b""] * len(column), pa.binary())


_LEAVES: Final[dict[str, Write]] = {
    "null": _nothing,
    "boolean": _truths,
    "int": _whole,
    "long": _whole,
    "float": _floating("<f4"),
    "double": _floating("<f8"),
    "bytes": _data,
    "string": _data,
    "fixed": _as_is,
}
"""By the word of Avro, what writes values that have no parts."""
