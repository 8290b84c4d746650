"""The parameters of signatures: which types of operands they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BitmapType,
    BooleanType,
    CharType,
    DateType,
    DayTimeIntervalType,
    DoubleType,
    IntegerNumberType,
    IntervalField,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeFamily,
    MapType,
    MultisetType,
    RowType,
    SymbolType,
    TimestampKind,
    TimestampType,
    TimeType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
)
from firesteel.relational.functions.function import Parameter

_F = LogicalTypeFamily
MONTHS: Final = YearMonthIntervalType(IntervalField.MONTH, IntervalField.MONTH)
MILLISECONDS: Final = DayTimeIntervalType(IntervalField.SECOND, IntervalField.SECOND, fractional_precision=3)


def _of_classes(shown: str, nothing: LogicalType, *classes: type[LogicalType]) -> Parameter:
    return Parameter(shown, lambda given: given if isinstance(given, classes) else None, nothing)


def _of_family(shown: str, nothing: LogicalType, family: LogicalTypeFamily) -> Parameter:
    return Parameter(shown, lambda given: given if given.has_family(family) else None, nothing)


def _as(shown: str, wanted: LogicalType, fits: Callable[[LogicalType], bool]) -> Parameter:
    return Parameter(shown, lambda given: wanted if fits(given) else None, wanted)


def _is_whole(given: LogicalType) -> bool:
    return isinstance(given, IntegerNumberType)


ANY: Final = Parameter("<ANY>", lambda given: None if isinstance(given, SymbolType) else given, STRING)
BOOLEAN: Final = _of_classes("<BOOLEAN>", BooleanType(), BooleanType)
TEXT: Final = _of_classes("<CHARACTER_STRING>", STRING, CharType, VarCharType)
AS_STRING: Final = _as("<CHARACTER_STRING>", STRING, lambda given: given.has_family(_F.CHARACTER_STRING))
AS_BYTES: Final = _as("<BINARY_STRING>", BYTES, lambda given: given.has_family(_F.BINARY_STRING))
BINARY: Final = _of_family("<BINARY_STRING>", BYTES, _F.BINARY_STRING)
NUMBER: Final = _of_family("<NUMERIC>", IntType(), _F.NUMERIC)
WHOLE: Final = _of_family("<INTEGER>", IntType(), _F.INTEGER_NUMERIC)
EXACT: Final = _of_family("<EXACT_NUMERIC>", IntType(), _F.EXACT_NUMERIC)
AS_INT: Final = _as(
    "<INT>", IntType(), lambda given: isinstance(given, IntegerNumberType) and given.bits <= IntType.bits
)
AS_BIGINT: Final = _as("<BIGINT>", BigIntType(), _is_whole)
AS_DOUBLE: Final = _as("<NUMERIC>", DoubleType(), lambda given: given.has_family(_F.NUMERIC))
DATE: Final = _of_classes("<DATE>", DateType(), DateType)
TIME: Final = _of_classes("<TIME>", TimeType(), TimeType)
TIMESTAMP: Final = _of_classes("<TIMESTAMP>", TimestampType(3), TimestampType, LocalZonedTimestampType)
ROWTIME: Final = Parameter(
    "<ROWTIME>",
    lambda given: (
        given
        if isinstance(given, TimestampType | LocalZonedTimestampType) and given.kind is TimestampKind.ROWTIME
        else None
    ),
    TimestampType(3),
)
DATED: Final = _of_classes(
    "<DATE or TIMESTAMP>", TimestampType(3), DateType, TimestampType, LocalZonedTimestampType
)
DATETIME: Final = _of_family("<DATETIME>", TimestampType(3), _F.DATETIME)
INTERVAL: Final = _of_family("<INTERVAL>", MILLISECONDS, _F.INTERVAL)
TEMPORAL: Final = Parameter(
    "<TEMPORAL>",
    lambda given: given if given.has_family(_F.DATETIME) or given.has_family(_F.INTERVAL) else None,
    TimestampType(3),
)
MONTH_INTERVAL: Final = _of_classes("<INTERVAL YEAR TO MONTH>", MONTHS, YearMonthIntervalType)
TIME_INTERVAL: Final = _of_classes("<INTERVAL DAY TO SECOND>", MILLISECONDS, DayTimeIntervalType)
ARRAY: Final = _of_classes("<ARRAY>", ArrayType(STRING), ArrayType)
MAP: Final = _of_classes("<MAP>", MapType(STRING, STRING), MapType)
COLLECTION: Final = _of_classes("<ARRAY or MAP>", ArrayType(STRING), ArrayType, MapType, MultisetType)
ROW: Final = _of_classes("<ROW>", RowType(()), RowType)
VARIANT: Final = _of_classes("<VARIANT>", VariantType(), VariantType)
BITMAP: Final = _of_classes("<BITMAP>", BitmapType(), BitmapType)
SYMBOL: Final = _of_classes("<SYMBOL>", SymbolType(), SymbolType)
