"""The type that several types have in common: of a CASE, a UNION, an array (Flink: LogicalTypeMerging).

Contract: all given types can be cast to the common type. The order of the types matters, as in Flink: the first type
decides how variable-length text meets text of a fixed length, and what the fields of a row are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.logical_types.constructed import ArrayType, MapType, MultisetType, RowType
from firesteel.common.logical_types.intervals import DayTimeIntervalType, YearMonthIntervalType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import MAX_PRECISION, DecimalType, DoubleType, IntegerNumberType
from firesteel.common.logical_types.roots import LogicalTypeFamily, LogicalTypeRoot
from firesteel.common.logical_types.special import NullType, RawType
from firesteel.common.logical_types.strings import (
    BinaryType,
    CharType,
    LengthType,
    VarBinaryType,
    VarCharType,
)
from firesteel.common.logical_types.temporal import (
    AnyTimestampType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    ZonedTimestampType,
)

_F = LogicalTypeFamily
_R = LogicalTypeRoot
_SIMILAR = (_F.CHARACTER_STRING, _F.BINARY_STRING, _F.NUMERIC, _F.TIME, _F.TIMESTAMP)
_CONSTRUCTED = (_R.ARRAY, _R.MULTISET, _R.MAP, _R.ROW)
_Interval = TypeVar("_Interval", YearMonthIntervalType, DayTimeIntervalType)


def find_common_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the most special type to which all given types (at least one) can be cast; None if there is none.

    It is nullable if one of the types is.

    >>> from firesteel.common.logical_types import BigIntType, IntType
    >>> str(find_common_type([IntType(), BigIntType(), DecimalType(2, 2)]))
    'DECIMAL(21, 2)'
    """
    normalized = [data_type.copy(nullable=True) for data_type in types]
    found = _merged(normalized) or _castable(normalized)
    if found is None or isinstance(found, NullType):
        return None
    return found.copy(nullable=any(data_type.nullable for data_type in types))


def _castable(types: Sequence[LogicalType]) -> LogicalType | None:
    result = types[0]
    for data_type in types:
        if isinstance(data_type, NullType):
            continue
        if supports_implicit_cast(result, data_type):
            result = data_type
        elif not supports_implicit_cast(data_type, result):
            return None
    return result


def _merged(types: Sequence[LogicalType]) -> LogicalType | None:
    if any(isinstance(data_type, RawType) for data_type in types):
        return types[0] if len(set(types)) == 1 else None
    known = [data_type for data_type in types if not isinstance(data_type, NullType)]
    if not known:
        return types[0]
    result = known[0]
    for data_type in known:
        with_time = _of_time_and_amount(result, data_type)
        if with_time is not None:
            result = with_time
            continue
        if data_type.root in _CONSTRUCTED:
            return _constructed(types)
        merged = _pair(result, data_type) if _similar(result, data_type) else None
        if merged is None:
            return None
        result = merged
    return result


def _of_time_and_amount(result: LogicalType, data_type: LogicalType) -> LogicalType | None:
    """Return the type of time if the other is an interval, or a number that stands for days."""
    for time, amount in ((result, data_type), (data_type, result)):
        if time.has_family(_F.DATETIME) and amount.has_family(_F.INTERVAL):
            return time
        dated = time.has_family(_F.TIMESTAMP) or time.root is _R.DATE
        if dated and amount.has_family(_F.EXACT_NUMERIC):
            return time
    return None


def _similar(left: LogicalType, right: LogicalType) -> bool:
    return left.root is right.root or any(
        left.has_family(family) and right.has_family(family) for family in _SIMILAR
    )


def _pair(result: LogicalType, data_type: LogicalType) -> LogicalType | None:
    """Return the common type of two similar types; None for those that only a cast can join."""
    if isinstance(result, LengthType) and isinstance(data_type, LengthType):
        return _of_lengths(result, data_type)
    if result.has_family(_F.NUMERIC):
        return _number(result, data_type)
    if isinstance(result, AnyTimestampType) and isinstance(data_type, AnyTimestampType):
        return _timestamp(result, data_type)
    if isinstance(result, TimeType) and isinstance(data_type, TimeType):
        return TimeType(max(result.precision, data_type.precision))
    if isinstance(result, YearMonthIntervalType) and isinstance(data_type, YearMonthIntervalType):
        precision = max(result.year_precision, data_type.year_precision)
        return replace(_units(result, data_type), year_precision=precision)
    if isinstance(result, DayTimeIntervalType) and isinstance(data_type, DayTimeIntervalType):
        return replace(
            _units(result, data_type),
            day_precision=max(result.day_precision, data_type.day_precision),
            fractional_precision=max(result.fractional_precision, data_type.fractional_precision),
        )
    return result if result.root is _R.DATE else None


def _of_lengths(result: LengthType, data_type: LengthType) -> LengthType:
    length = max(result.length, data_type.length)
    if isinstance(result, VarCharType | VarBinaryType):
        return type(result)(length)
    if result.length != data_type.length:  # never padded: Flink differs from the standard here
        return VarCharType(length) if isinstance(result, CharType) else VarBinaryType(length)
    kinds: dict[LogicalTypeRoot, type[LengthType]] = {
        kind.root: kind for kind in (CharType, VarCharType, BinaryType, VarBinaryType)
    }
    return kinds[data_type.root](length)


def _number(result: LogicalType, data_type: LogicalType) -> LogicalType:
    if result.has_family(_F.EXACT_NUMERIC) and data_type.has_family(_F.EXACT_NUMERIC):
        return _exact(result, data_type)
    if data_type.root is _R.DECIMAL or _R.DOUBLE in (result.root, data_type.root):
        return DoubleType()
    return data_type if result.has_family(_F.EXACT_NUMERIC) else result


def _exact(left: LogicalType, right: LogicalType) -> LogicalType:
    if left == right:
        return left
    if isinstance(left, IntegerNumberType) and isinstance(right, IntegerNumberType):
        return right if right.precision > left.precision else left
    (left_precision, left_scale), (right_precision, right_scale) = map(precision_and_scale, (left, right))
    whole = min(max(left_precision - left_scale, right_precision - right_scale), MAX_PRECISION)
    scale = min(max(left_scale, right_scale), MAX_PRECISION - whole)
    return DecimalType(whole + scale, scale)


def precision_and_scale(data_type: LogicalType) -> tuple[int, int]:
    """Return the digits of an exact number, and those of them after the point.

    >>> from firesteel.common.logical_types import IntType
    >>> precision_and_scale(IntType()), precision_and_scale(DecimalType(5, 2))
    ((10, 0), (5, 2))
    """
    if isinstance(data_type, DecimalType | IntegerNumberType):
        return data_type.precision, data_type.scale
    raise TypeError(f"{data_type} is no exact number")


def _timestamp(left: AnyTimestampType, right: AnyTimestampType) -> AnyTimestampType:
    if left == right:
        return left
    precision = max(left.precision, right.precision)
    for kind in (ZonedTimestampType, LocalZonedTimestampType):
        if isinstance(left, kind) or isinstance(right, kind):
            return kind(precision)
    return TimestampType(precision)


def _units(left: _Interval, right: _Interval) -> _Interval:
    start = min(left.start, right.start, key=lambda unit: unit.value)
    end = max(left.end, right.end, key=lambda unit: unit.value)
    return replace(left, start=start, end=end)


def _constructed(types: Sequence[LogicalType]) -> LogicalType | None:
    first = types[0]
    if any(data_type.root is not first.root for data_type in types):
        return None
    if any(len(data_type.children) != len(first.children) for data_type in types):
        return None
    parts: list[LogicalType] = []
    for column in zip(*(data_type.children for data_type in types), strict=True):
        part = find_common_type(column)
        if part is None:
            return None
        parts.append(part)
    if isinstance(first, RowType):
        return RowType(
            tuple(field._replace(type=part) for field, part in zip(first.fields, parts, strict=True))
        )
    if isinstance(first, MapType):
        return MapType(*parts)
    return ArrayType(*parts) if isinstance(first, ArrayType) else MultisetType(*parts)
