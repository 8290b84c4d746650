"""Values of databases as columns of a type: those that a driver gives, and the texts that PostgreSQL writes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal, DecimalException
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import (
    STRING,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeRoot,
    RowType,
    TimestampType,
)
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.connectors.tables.formats.plain_texts import (
    Doubtful,
    plain_dates,
    plain_decimals,
    plain_timestamps,
)

_R = LogicalTypeRoot
_MOST_DIGITS: Final = 9
_TRUTHS: Final = {"t": True, "true": True, "f": False, "false": False}
_ZONED: Final = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$"


def batch_of(columns: Sequence[Any], row: RowType) -> pa.RecordBatch:
    """Return the columns of a table, each a sequence of a driver's values or an array of texts, as a batch.

    Raises TypeMismatchError for a value that is none of its column's type.

    >>> from firesteel.common.logical_types import parse_type
    >>> batch_of([("2026-01-02",), pa.array(["t"])], parse_type("ROW<d DATE, b BOOLEAN>")).to_pylist()
    [{'d': datetime.date(2026, 1, 2), 'b': True}]
    """
    arrays = [
        (_of_texts if isinstance(values, pa.Array) else _of_values)(values, field.type, field.name)
        for values, field in zip(columns, row.fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(row))


def _of_values(values: Sequence[Any], kind: LogicalType, name: str) -> pa.Array:
    classes = set(map(type, values)) - {type(None)}
    if classes == {str} and kind.root in _QUICK:
        return _of_texts(pa.array(values, pa.string()), kind, name)
    if classes != _PLAIN.get(kind.root, {int}):
        values = _read(values, _READ.get(kind.root, _whole), kind, name)
    return to_column(values, kind, name)


def _of_texts(texts: pa.Array, kind: LogicalType, name: str) -> pa.Array:
    quick = _QUICK.get(kind.root)
    if quick is not None and (kind.nullable or not texts.null_count):
        try:
            return quick(texts, kind)
        except (Doubtful, pa.ArrowInvalid):
            pass  # the exact way decides what the texts mean
    return to_column(_read(texts.to_pylist(), _READ_TEXTS.get(kind.root, _whole), kind, name), kind, name)


def _read(values: Sequence[Any], read: Callable[[Any], Any], kind: LogicalType, name: str) -> list[Any]:
    found = []
    for value in values:
        try:
            found.append(None if value is None else read(value))
        except (ValueError, TypeError, OverflowError, DecimalException):
            raise TypeMismatchError(
                "requires values of its type in the database",
                who=f"column {name!r} of type {kind}",
                got=repr(value),
                hint="declare the column as STRING to see what is there",
            ) from None
    return found


def _moment(value: Any) -> dt.datetime:
    if isinstance(value, str):
        return dt.datetime.fromisoformat(value)
    if not isinstance(value, dt.datetime):
        raise TypeError
    return value


def _time(value: Any) -> dt.time:
    if isinstance(value, str):
        return dt.time.fromisoformat(value)
    if isinstance(value, dt.timedelta):  # as MySQL has them, from -838 to 838 hours
        if not dt.timedelta() <= value < dt.timedelta(days=1):
            raise ValueError(value)
        return (dt.datetime.min + value).time()
    if not isinstance(value, dt.time):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    number = Decimal(value)
    if number != number.to_integral_value():
        raise ValueError(value)
    return int(number)


def _truth(value: Any) -> bool:
    if isinstance(value, bytes):  # BIT of MySQL
        return any(value)
    return _TRUTHS[value] if value in _TRUTHS else bool(_whole(value))


def _bytes(text: str) -> bytes:
    if not text.startswith("\\x"):
        raise ValueError(text)
    return bytes.fromhex(text[2:])


_READ: Final[dict[LogicalTypeRoot, Callable[[Any], Any]]] = {
    _R.BOOLEAN: _truth,
    _R.DATE: lambda value: dt.date.fromisoformat(value) if isinstance(value, str) else value,
    _R.TIME_WITHOUT_TIME_ZONE: _time,
    _R.TIMESTAMP_WITHOUT_TIME_ZONE: lambda value: _moment(value).replace(tzinfo=None),
    _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: _moment,
    _R.DECIMAL: lambda value: value if isinstance(value, Decimal) else Decimal(str(value)),
    _R.FLOAT: float,
    _R.DOUBLE: float,
    _R.BINARY: bytes,
    _R.VARBINARY: bytes,
    _R.CHAR: str,
    _R.VARCHAR: str,
}
"""How values of drivers become those of a type; whole numbers are ones everywhere. SQLite has texts for most types."""

_READ_TEXTS: Final[dict[LogicalTypeRoot, Callable[[Any], Any]]] = {
    **_READ,
    _R.BINARY: _bytes,
    _R.VARBINARY: _bytes,
}
"""The same for the texts of PostgreSQL."""

_PLAIN: Final[dict[LogicalTypeRoot, set[type]]] = {
    _R.BOOLEAN: {bool},
    _R.DATE: {dt.date},
    _R.DECIMAL: {Decimal},
    _R.FLOAT: {float},
    _R.DOUBLE: {float},
    _R.BINARY: {bytes},
    _R.VARBINARY: {bytes},
    _R.CHAR: {str},
    _R.VARCHAR: {str},
    _R.TIME_WITHOUT_TIME_ZONE: set(),
    _R.TIMESTAMP_WITHOUT_TIME_ZONE: set(),
    _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: set(),
}
"""The class of a driver's values that need not be read one by one."""


def _texts(texts: pa.Array, kind: LogicalType) -> pa.Array:
    if kind.copy(nullable=True) != STRING:
        raise Doubtful  # its length must be looked at
    return texts


def _truths(texts: pa.Array, _kind: LogicalType) -> pa.Array:
    true = pc.equal(texts, "t")
    if not pc.all(pc.or_(true, pc.equal(texts, "f")), min_count=0).as_py():
        raise Doubtful
    return true


def _clocks(texts: pa.Array, kind: TimestampType) -> pa.Array:
    column = plain_timestamps(texts, _MOST_DIGITS, to_arrow(kind), " ", zulu=False)
    return pc.floor_temporal(column, unit="millisecond") if kind.precision <= 3 else column


def _instants(texts: pa.Array, kind: LocalZonedTimestampType) -> pa.Array:
    if not pc.all(pc.match_substring_regex(texts, _ZONED), min_count=0).as_py():
        raise Doubtful
    column = texts.cast(pa.timestamp("us", "UTC")).cast(to_arrow(kind))
    return pc.floor_temporal(column, unit="millisecond") if kind.precision <= 3 else column


def _numbers(texts: pa.Array, kind: LogicalType) -> pa.Array:
    return texts.cast(to_arrow(kind))


_QUICK: Final[dict[LogicalTypeRoot, Callable[[pa.Array, Any], pa.Array]]] = {
    **dict.fromkeys((_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT, _R.FLOAT, _R.DOUBLE), _numbers),
    _R.BOOLEAN: _truths,
    _R.DECIMAL: lambda texts, kind: plain_decimals(texts, to_arrow(kind)),
    _R.DATE: lambda texts, _kind: plain_dates(texts),
    _R.TIMESTAMP_WITHOUT_TIME_ZONE: _clocks,
    _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: _instants,
    _R.VARCHAR: _texts,
}
"""How columns of plain texts are read at once; Doubtful or ArrowInvalid: some are not plain."""
