"""Values as text, in the three notations that Flink has.

| | NULL | within | TRUE | x'61' | TIMESTAMP(3) | ROW(1, NULL) |
|---|---|---|---|---|---|---|
| `CAST(x AS STRING)` | NULL | NULL | TRUE | a | 2020-01-01 12:00:00.000 | (1, NULL) |
| a cell of `TableResult.print` | `<NULL>` | NULL | TRUE | x'61' | 2020-01-01 12:00:00.000 | (1, NULL) |
| the `print` connector (Java's toString) | null | null | true | [97] | 2020-01-01T12:00 | +I[1, null] |

Contract: the functions take columns of the Arrow type of `data_type`. Texts of floating point are Java's, see
`firesteel.common.typeinfo.java_text`.
"""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.bitmaps import bitmap_text
from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.constructed import ArrayType, MapType, MultisetType, RowType
from firesteel.common.logical_types.intervals import YearMonthIntervalType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import IntType
from firesteel.common.logical_types.roots import LogicalTypeRoot
from firesteel.common.logical_types.special import DistinctType, RawType, StructuredType
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType, TimeType
from firesteel.common.logical_types.text_parts import (
    java_duration_text,
    java_instant_text,
    java_local_text,
    java_period_text,
    java_time_text,
    milliseconds_text,
    months_text,
    time_text,
)
from firesteel.common.typeinfo.java_text import double_text, float_text
from firesteel.common.zones import java_zone

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_ARROW_SECONDS: Final = 2_145_916_800
"""The seconds from 1970 to 2038."""

_R = LogicalTypeRoot
_Texts = list[str | None]
_Leaf = Callable[[pa.Array], _Texts]


@dataclass(frozen=True)
class _Notation:
    """How values are written: NULL within others, the brackets of a row, and each kind of single value.

    `by_type` makes the leaves whose text depends on the type's parameters or the zone; None for other types.
    """

    null: str
    row: tuple[str, str]
    leaves: Mapping[LogicalTypeRoot, _Leaf]
    by_type: Callable[[LogicalType, str], _Leaf | None]


def cast_to_string(column: pa.Array, data_type: LogicalType, zone: str = "UTC") -> pa.Array:
    """Return CAST(column AS STRING) as a column of text; `zone` is the session's time zone.

    Raises UnsupportedError for types without such a cast.

    >>> from firesteel.common.logical_types import parse_type
    >>> from firesteel.common.logical_types.columns import to_column
    >>> row = parse_type("ROW<a DOUBLE, b BOOLEAN, c ARRAY<TIMESTAMP(3)>>")
    >>> cast_to_string(to_column([(1e7, True, [None])], row, "r"), row).to_pylist()
    ['(1.0E7, TRUE, [NULL])']
    """
    return pa.array(_texts(column, data_type, zone, _SQL), pa.string())


def cells(column: pa.Array, data_type: LogicalType, zone: str = "UTC") -> list[str]:
    """Return the cells that `TableResult.print` shows for the values of a column."""
    return ["<NULL>" if text is None else text for text in _texts(column, data_type, zone, _CELL)]


def printed_rows(column: pa.Array, data_type: RowType, kinds: Sequence[str]) -> list[str]:
    """Return the lines that the `print` connector writes for a column of rows of the given kinds (`+I`).

    >>> from firesteel.common.logical_types import parse_type
    >>> from firesteel.common.logical_types.columns import to_column
    >>> row = parse_type("ROW<a INT, b STRING, c BYTES>")
    >>> printed_rows(to_column([(1, None, b"a"), (2, "x", None)], row, "r"), row, ["+I", "-D"])
    ['+I[1, null, [97]]', '-D[2, x, null]']
    """
    lines = _texts(column, data_type, "UTC", _JAVA)
    return [f"{kind}{(line or '').removeprefix('+I')}" for kind, line in zip(kinds, lines, strict=True)]


def _texts(column: pa.Array, data_type: LogicalType, zone: str, notation: _Notation) -> _Texts:
    while isinstance(data_type, DistinctType):
        data_type = data_type.source
    leaf = notation.by_type(data_type, zone) or notation.leaves.get(data_type.root)
    if leaf is not None:
        return leaf(column)
    if isinstance(data_type, RowType | StructuredType):
        parts = [
            _within(_texts(column.field(place), part, zone, notation), notation)
            for place, part in enumerate(data_type.children)
        ]
        if isinstance(data_type, StructuredType):
            parts = [
                [f"{field.name}={text}" for text in part]
                for field, part in zip(data_type.attributes, parts, strict=True)
            ]
        start, end = notation.row
        rows = zip(*parts, strict=True) if parts else iter([()] * len(column))
        return _where_valid(column, (f"{start}{', '.join(row)}{end}" for row in rows))
    if isinstance(data_type, ArrayType):
        elements = _within(_texts(column.values, data_type.element, zone, notation), notation)
        return _where_valid(column, (f"[{', '.join(part)}]" for part in _slices(column, elements)))
    if isinstance(data_type, MapType | MultisetType):
        key, value = data_type.children if isinstance(data_type, MapType) else (data_type.element, IntType())
        keys = _within(_texts(column.keys, key, zone, notation), notation)
        items = _within(_texts(column.items, value, zone, notation), notation)
        entries = [f"{left}={right}" for left, right in zip(keys, items, strict=True)]
        return _where_valid(column, (f"{{{', '.join(part)}}}" for part in _slices(column, entries)))
    if isinstance(data_type, RawType):
        return [None if data is None else str(pickle.loads(data)) for data in column.to_pylist()]
    raise UnsupportedError("has no text", who=f"type {data_type}")


def _within(texts: _Texts, notation: _Notation) -> list[str]:
    return [notation.null if text is None else text for text in texts]


def _where_valid(column: pa.Array, texts: Iterable[str]) -> _Texts:
    return [text if valid else None for valid, text in zip(column.is_valid().to_pylist(), texts, strict=True)]


def _slices(column: pa.Array, parts: list[str]) -> Iterable[list[str]]:
    offsets = column.offsets.to_pylist()
    return (parts[start:end] for start, end in pairwise(offsets))


def _each(text: Callable[[Any], str], stored: pa.DataType | None = None) -> _Leaf:
    """Return a leaf that makes a text of each value, as it is in Python or as the number that is stored."""

    def texts(column: pa.Array) -> _Texts:
        values = (column if stored is None else column.cast(stored)).to_pylist()
        return [None if value is None else text(value) for value in values]

    return texts


def _cast(column: pa.Array) -> _Texts:
    return list(column.cast(pa.string()).to_pylist())


def _dates(column: pa.Array) -> _Texts:
    """Return dates with four digits of the year, as Flink casts them to text."""
    length = len("2020-01-01")
    return [text if not text or text[0] == "-" else text[-length:] for text in _cast(column)]


def _sql_by_type(data_type: LogicalType, zone: str) -> _Leaf | None:
    if isinstance(data_type, TimeType):
        precision = data_type.precision
        return _each(lambda value: time_text(value, precision), pa.int32())
    if isinstance(data_type, TimestampType):
        return lambda column: _clocks(column, data_type.precision)
    if isinstance(data_type, LocalZonedTimestampType):
        return lambda column: _clocks(_local(column, zone), data_type.precision)
    return None


def _local(column: pa.Array, zone: str) -> pa.Array:
    """Return what the clock of a zone shows; Arrow does not know when clocks change after 2037."""
    shown = pc.local_timestamp(column.cast(pa.timestamp(column.type.unit, zone)))
    unit = _PER_SECOND[column.type.unit]
    numbers = column.cast(pa.int64())
    late = pc.fill_null(pc.greater_equal(numbers, _ARROW_SECONDS * unit), False)
    if not pc.any(late).as_py():
        return shown
    clock = java_zone(zone, "CAST")
    moved = [_moved(number, unit, clock) for number in numbers.filter(late).to_pylist()]
    return pc.replace_with_mask(shown, late, pa.array(moved, pa.int64()).cast(shown.type))


def _moved(number: int, unit: int, zone: dt.tzinfo) -> int:
    """Return what a clock shows at a number of units from 1970; beyond the years that Python has, that of UTC."""
    try:
        moment = (_EPOCH + dt.timedelta(seconds=number // unit)).astimezone(zone)
    except OverflowError:
        return number
    offset = moment.utcoffset()
    assert offset is not None
    return number + int(offset.total_seconds()) * unit


def _clocks(column: pa.Array, precision: int) -> _Texts:
    """Return date and clock with exactly `precision` digits after the point."""
    length = len("2020-01-01 00:00:00") + (1 + precision if precision else 0)
    return list(pc.utf8_slice_codeunits(column.cast(pa.string()), 0, length).to_pylist())


def _java_by_type(data_type: LogicalType, zone: str) -> _Leaf | None:  # noqa: ARG001 - one signature for both
    if isinstance(data_type, YearMonthIntervalType):
        start, end = data_type.start, data_type.end
        return _each(lambda months: java_period_text(months, start, end))
    return None


def _nanos(text: Callable[[int], str]) -> _Leaf:
    def texts(column: pa.Array) -> _Texts:
        factor = 1 if column.type.unit == "ns" else 1000
        return _each(lambda value: text(value * factor), pa.int64())(column)

    return texts


def _hex(data: bytes) -> str:
    return f"x'{data.hex()}'"


def _signed(data: bytes) -> str:
    return str([byte - 256 if byte > 127 else byte for byte in data])


_WHOLE: Final = (_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT)
_COMMON: Final[dict[LogicalTypeRoot, _Leaf]] = {
    **dict.fromkeys((*_WHOLE, _R.CHAR, _R.VARCHAR, _R.VARIANT, _R.DATE, _R.NULL), _cast),
    _R.BITMAP: _each(bitmap_text),
    _R.FLOAT: _each(float_text),
    _R.DOUBLE: _each(double_text),
}
_SQL: Final = _Notation(
    "NULL",
    ("(", ")"),
    {
        **_COMMON,
        _R.DATE: _dates,
        _R.BOOLEAN: _each(lambda value: "TRUE" if value else "FALSE"),
        _R.DECIMAL: _each(lambda value: f"{value:f}"),
        **dict.fromkeys(
            (_R.BINARY, _R.VARBINARY), _each(lambda data: bytes(data).decode("utf-8", "replace"))
        ),
        _R.INTERVAL_YEAR_MONTH: _each(months_text),
        _R.INTERVAL_DAY_TIME: _each(milliseconds_text, pa.int64()),
    },
    _sql_by_type,
)
_CELL: Final = replace(_SQL, leaves={**_SQL.leaves, **dict.fromkeys((_R.BINARY, _R.VARBINARY), _each(_hex))})
_JAVA: Final = _Notation(
    "null",
    ("+I[", "]"),
    {
        **_COMMON,
        _R.BOOLEAN: _each(lambda value: "true" if value else "false"),
        _R.DECIMAL: _each(str),
        **dict.fromkeys((_R.BINARY, _R.VARBINARY), _each(_signed)),
        _R.TIME_WITHOUT_TIME_ZONE: _each(java_time_text, pa.int32()),
        _R.TIMESTAMP_WITHOUT_TIME_ZONE: _nanos(java_local_text),
        _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: _nanos(java_instant_text),
        _R.INTERVAL_DAY_TIME: _each(java_duration_text, pa.int64()),
    },
    _java_by_type,
)
