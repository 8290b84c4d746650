"""Columns of a type from Python values (Flink: the conversions of DataStructureConverters).

Contract: a column is built as a whole, level by level: values of a row become a column for each field, elements of
arrays one flat column. Only values that are not plainly of the expected class are looked at one by one. A value that
does not fit raises TypeMismatchError with column, place and value. Text and bytes longer than the type allows do not
fit. As in Flink, a DECIMAL is rounded half up to its scale, and one with too many digits becomes NULL.
"""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import FiresteelError, TypeMismatchError
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.constructed import ArrayType, MapType, MultisetType, RowType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import DecimalType, IntType
from firesteel.common.logical_types.roots import LogicalTypeRoot
from firesteel.common.logical_types.special import DistinctType, RawType, StructuredType
from firesteel.common.logical_types.strings import BinaryType, CharType, LengthType
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.common.time import Instant
from firesteel.common.typeinfo.information import mismatch
from firesteel.common.types import Row, field_names

_R = LogicalTypeRoot
_Convert = Callable[[Any], object]
_DIGITS: Final = Context(prec=200, rounding=ROUND_HALF_UP)
_EPOCH: Final = dt.datetime(1970, 1, 1)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_NULL: Final = type(None)


def to_column(
    values: Sequence[object], data_type: LogicalType, name: str, zone: dt.tzinfo = dt.UTC
) -> pa.Array:
    """Return an Arrow array of the type `to_arrow(data_type)` with the given values; None is NULL.

    `name` is the column's, for errors. A datetime without a zone is a TIMESTAMP_LTZ in `zone`. Raises
    TypeMismatchError for values that do not fit, UnsupportedError for types that no column can have.

    >>> from firesteel.common.logical_types import parse_type
    >>> to_column([Decimal("1.005"), None], parse_type("DECIMAL(5, 2)"), "price").to_pylist()
    [Decimal('1.01'), None]
    """
    return _Builder(zone).column(values, data_type, name)


class _Builder:
    """Builds one column and those below it."""

    def __init__(self, zone: dt.tzinfo) -> None:
        self._zone = zone

    def column(self, values: Sequence[object], data_type: LogicalType, name: str) -> pa.Array:
        while isinstance(data_type, DistinctType):
            data_type = data_type.source.copy(nullable=data_type.nullable)
        if isinstance(data_type, RowType | StructuredType):
            column = self._rows(values, data_type, name)
        elif isinstance(data_type, ArrayType):
            column = self._arrays(values, data_type, name)
        elif isinstance(data_type, MapType | MultisetType):
            column = self._maps(values, data_type, name)
        else:
            column = self._leaves(values, data_type, name)
        if not data_type.nullable and column.null_count:
            place = column.is_null().index(True).as_py()
            _fail(mismatch("a value", values[place]), data_type, name, place)
        return column

    def _rows(self, values: Sequence[object], data_type: RowType | StructuredType, name: str) -> pa.Array:
        fields = data_type.fields if isinstance(data_type, RowType) else data_type.attributes
        names = [field.name for field in fields]
        nothing = (None,) * len(names)
        rows = _each(values, lambda value: _fields_of(value, names), data_type, name)
        filled = [nothing if row is None else row for row in rows]
        nulls = [row is None for row in rows]
        columns = []
        for place, field in enumerate(fields):
            # The fields of a row that is NULL are NULL themselves, whatever their types say.
            part = field.type.copy(nullable=True) if any(nulls) else field.type
            columns.append(self.column([row[place] for row in filled], part, f"{name}.{field.name}"))
            if part is not field.type and not field.type.nullable:
                self._require_values(columns[-1], nulls, field.type, f"{name}.{field.name}")
        if not fields:
            return pa.array([None if row is None else {} for row in rows], to_arrow(data_type))
        return pa.StructArray.from_arrays(
            columns, fields=list(to_arrow(data_type)), mask=pa.array(nulls, pa.bool_())
        )

    @staticmethod
    def _require_values(column: pa.Array, absent: list[bool], data_type: LogicalType, name: str) -> None:
        for place, (missing, outer) in enumerate(zip(column.is_null().to_pylist(), absent, strict=True)):
            if missing and not outer:
                _fail(mismatch("a value", None), data_type, name, place)

    def _arrays(self, values: Sequence[object], data_type: ArrayType, name: str) -> pa.Array:
        lists = _each(values, _list_of, data_type, name)
        elements = self.column(
            [item for part in lists if part for item in part], data_type.element, f"{name}[]"
        )
        offsets, nulls = _offsets(lists)
        return pa.ListArray.from_arrays(offsets, elements, type=to_arrow(data_type), mask=nulls)

    def _maps(self, values: Sequence[object], data_type: MapType | MultisetType, name: str) -> pa.Array:
        key, value = (
            data_type.children
            if isinstance(data_type, MapType)
            else (data_type.element, IntType(nullable=False))
        )
        dicts = _each(values, _dict_of, data_type, name)
        # Arrow has no NULL among the keys of a map.
        keys = self.column(
            [item for part in dicts if part for item in part], key.copy(nullable=False), f"{name} key"
        )
        items = self.column(
            [item for part in dicts if part for item in part.values()], value, f"{name} value"
        )
        offsets, nulls = _offsets(dicts)
        return pa.MapArray.from_arrays(offsets, keys, items, type=to_arrow(data_type), mask=nulls)

    def _leaves(self, values: Sequence[object], data_type: LogicalType, name: str) -> pa.Array:
        column = _at_once(values, data_type)
        if column is not None:
            return column
        accepted, convert = self._leaf(data_type)
        if not set(map(type, values)) <= accepted:
            values = _each(values, convert, data_type, name)
        try:
            column = self._array(values, data_type)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError, ValueError, TypeError) as error:
            _search(lambda value: self._array([value], data_type), values, data_type, name, error)
        if isinstance(data_type, LengthType):
            _check_lengths(column, data_type, name)
        return column

    def _leaf(self, data_type: LogicalType) -> tuple[set[type], _Convert]:
        """Return the classes of which Arrow takes every value as it is, and what to do with others."""
        root = data_type.root
        if isinstance(data_type, RawType):
            return {_NULL}, lambda value: pickle.dumps(value, 5)
        if isinstance(data_type, DecimalType):
            return {_NULL}, lambda value: _decimal(value, data_type)
        if isinstance(data_type, TimestampType):
            return {_NULL}, _local_nanos
        if isinstance(data_type, LocalZonedTimestampType):
            return {_NULL}, lambda value: _instant_nanos(value, self._zone)
        return _LEAVES[root]

    @staticmethod
    def _array(values: Sequence[object], data_type: LogicalType) -> pa.Array:
        arrow = to_arrow(data_type)
        if isinstance(data_type, TimestampType | LocalZonedTimestampType):
            return _timestamps(values, data_type.precision, arrow)
        if data_type.root in (_R.TIME_WITHOUT_TIME_ZONE, _R.INTERVAL_DAY_TIME):
            return pa.array(values, pa.int32() if pa.types.is_time(arrow) else pa.int64()).cast(arrow)
        return pa.array(values, arrow)


def _at_once(values: Sequence[object], data_type: LogicalType) -> pa.Array | None:
    """Return the column if Arrow can make it of the values as they are; None if each has to be looked at."""
    try:
        if isinstance(data_type, DecimalType) and set(map(type, values)) <= {Decimal, _NULL}:
            return pa.array(values, to_arrow(data_type))
        if isinstance(data_type, TimestampType) and _are_plain_clocks(values):
            column = pa.array(values, pa.timestamp("us")).cast(to_arrow(data_type))
            return pc.floor_temporal(column, unit="millisecond") if data_type.precision <= 3 else column
    except pa.ArrowInvalid:  # a value has to be rounded, or does not fit
        return None
    return None


def _are_plain_clocks(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return set(map(type, known)) <= {dt.datetime} and not any(value.tzinfo for value in known)


def _each(values: Iterable[object], convert: _Convert, data_type: LogicalType, name: str) -> list[Any]:
    converted: list[object] = []
    for place, value in enumerate(values):
        try:
            converted.append(None if value is None else convert(value))
        except TypeMismatchError as error:
            _fail(error, data_type, name, place)
        except OverflowError:  # a datetime that is beyond the year 1 or 9999 in another zone
            _fail(mismatch(f"a value of {data_type}", value), data_type, name, place)
    return converted


def _search(
    check: _Convert, values: Sequence[object], data_type: LogicalType, name: str, error: Exception
) -> NoReturn:
    """Raise the error for the first value that cannot be stored alone."""
    for place, value in enumerate(values):
        try:
            check(value)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError, ValueError, TypeError):
            _fail(mismatch(f"a value of {data_type}", value), data_type, name, place)
    raise FiresteelError(f"column {name!r} cannot be stored as {data_type}", got=str(error)) from error


def _fail(error: TypeMismatchError, data_type: LogicalType, name: str, place: int) -> NoReturn:
    raise TypeMismatchError(
        f"requires {error.requirement}",
        who=f"column {name!r} of type {data_type}",
        got=f"{error.got} (value {place})",
        hint=error.hint,
    ) from None


def _offsets(parts: Sequence[Any]) -> tuple[pa.Array, pa.Array]:
    lengths = [0 if part is None else len(part) for part in parts]
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int32))).astype(np.int32)
    return pa.array(offsets), pa.array([part is None for part in parts], pa.bool_())


def _fields_of(value: Any, names: list[str]) -> Sequence[object]:
    if isinstance(value, Row):
        if field_names(value) is not None and set(names) <= set(field_names(value) or ()):
            return [value[name] for name in names]
        value = list(value)
    if isinstance(value, list | tuple):
        if len(value) == len(names):
            return value
    else:
        fields = value if isinstance(value, dict) else getattr(value, "__dict__", {})
        if not names or any(name in fields for name in names):
            return [fields.get(name) for name in names]
    raise mismatch(f"a row of {len(names)} fields", value)


def _list_of(value: Any) -> Any:
    if isinstance(value, list | tuple | np.ndarray):
        return value if isinstance(value, list) else list(value)
    raise mismatch("a list", value)


def _dict_of(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    raise mismatch("a dict", value)


def _check_lengths(column: pa.Array, data_type: LengthType, name: str) -> None:
    text = pa.types.is_string(column.type)
    lengths = pc.utf8_length(column) if text else pc.binary_length(column)
    unit = "characters" if text else "bytes"
    if isinstance(data_type, CharType | BinaryType):
        wrong, limit = pc.not_equal(lengths, data_type.length), f"exactly {data_type.length} {unit}"
    else:
        wrong, limit = pc.greater(lengths, data_type.length), f"at most {data_type.length} {unit}"
    place = pc.index(wrong, True).as_py()
    if place >= 0:
        _fail(mismatch(limit, column[place].as_py()), data_type, name, place)


def _of(requirement: str, *classes: type) -> _Convert:
    def convert(value: object) -> object:
        if isinstance(value, classes):
            return value
        raise mismatch(requirement, value)

    return convert


def _integer(value: Any) -> object:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    raise mismatch("a whole number", value)


def _float(value: Any) -> object:
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return float(value)
    raise mismatch("a number", value)


def _boolean(value: Any) -> object:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise mismatch("True or False", value)


def _date(value: Any) -> object:
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    raise mismatch("a datetime.date", value)


def _time(value: Any) -> object:
    """Return the milliseconds since midnight; finer parts are cut off, as Flink cannot store them."""
    if not isinstance(value, dt.time):
        raise mismatch("a datetime.time", value)
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def _duration(value: Any) -> object:
    if not isinstance(value, dt.timedelta):
        raise mismatch("a datetime.timedelta", value)
    return value // _MILLISECOND


def _decimal(value: Any, data_type: DecimalType) -> object:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        value = Decimal(int(value))
    if not isinstance(value, Decimal) or not value.is_finite():
        raise mismatch("a finite decimal.Decimal", value)
    if value and value.adjusted() >= data_type.precision - data_type.scale + 1:
        return None
    rounded = value.quantize(Decimal(1).scaleb(-data_type.scale), context=_DIGITS)
    return rounded if not rounded or rounded.adjusted() < data_type.precision - data_type.scale else None


def _local_nanos(value: Any) -> object:
    """Return the nanoseconds from 1970 of a wall clock; a datetime with a zone is that of the process's zone."""
    if not isinstance(value, dt.datetime):
        raise mismatch("a datetime.datetime", value)
    if value.tzinfo is not None:
        value = value.astimezone().replace(tzinfo=None)
    return (value - _EPOCH) // _MICROSECOND * 1000


def _instant_nanos(value: Any, zone: dt.tzinfo) -> object:
    if isinstance(value, Instant):
        return value.seconds * 1_000_000_000 + value.nanos
    if not isinstance(value, dt.datetime):
        raise mismatch("a firesteel.common.Instant or a datetime.datetime", value)
    local = value if value.tzinfo is not None else value.replace(tzinfo=zone)
    return (local.astimezone(dt.UTC).replace(tzinfo=None) - _EPOCH) // _MICROSECOND * 1000


def _timestamps(nanos: Sequence[Any], precision: int, arrow: pa.DataType) -> pa.Array:
    """Return timestamps, cut to milliseconds up to precision 3, as Flink stores them."""
    if arrow.unit == "ns":
        return pa.array(nanos, pa.int64()).cast(arrow)
    unit = 1_000_000 if precision <= 3 else 1000
    micros = [None if value is None else value // unit * (unit // 1000) for value in nanos]
    return pa.array(micros, pa.int64()).cast(arrow)


_WHOLE: Final[tuple[set[type], _Convert]] = ({int, _NULL}, _integer)
_FLOATING: Final[tuple[set[type], _Convert]] = ({float, _NULL}, _float)
_TEXT: Final[tuple[set[type], _Convert]] = ({str, _NULL}, _of("a str", str))
_BYTES: Final[tuple[set[type], _Convert]] = (
    {bytes, _NULL},
    lambda value: bytes(_of("bytes", bytes, bytearray, memoryview)(value)),  # type: ignore[call-overload]
)
_LEAVES: Final[dict[LogicalTypeRoot, tuple[set[type], _Convert]]] = {
    **dict.fromkeys((_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT, _R.INTERVAL_YEAR_MONTH), _WHOLE),
    **dict.fromkeys((_R.FLOAT, _R.DOUBLE), _FLOATING),
    **dict.fromkeys((_R.CHAR, _R.VARCHAR, _R.VARIANT), _TEXT),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY, _R.BITMAP), _BYTES),
    _R.BOOLEAN: ({bool, _NULL}, _boolean),
    _R.DATE: ({dt.date, _NULL}, _date),
    _R.TIME_WITHOUT_TIME_ZONE: ({_NULL}, _time),
    _R.INTERVAL_DAY_TIME: ({_NULL}, _duration),
    _R.NULL: ({_NULL}, _of("None", _NULL)),
}
