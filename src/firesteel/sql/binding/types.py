"""Types as they are written to logical types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ProgramError, SqlError
from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    BooleanType,
    CharType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    Field,
    FloatType,
    IntervalField,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    MapType,
    MultisetType,
    RawType,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
)
from firesteel.sql.binding.places import Text
from firesteel.sql.nodes import TypeName

_SIMPLE: Final[dict[str, LogicalType]] = {
    "BOOLEAN": BooleanType(),
    "TINYINT": TinyIntType(),
    "SMALLINT": SmallIntType(),
    "INT": IntType(),
    "INTEGER": IntType(),
    "BIGINT": BigIntType(),
    "FLOAT": FloatType(),
    "REAL": FloatType(),
    "DOUBLE": DoubleType(),
    "DATE": DateType(),
    "STRING": STRING,
    "BYTES": BYTES,
    "VARIANT": VariantType(),
    "BITMAP": BitmapType(),
    "VARCHAR": STRING,
    "VARBINARY": BYTES,
}
_SIZED: Final[dict[str, Callable[..., LogicalType]]] = {
    "CHAR": CharType,
    "CHARACTER": CharType,
    "VARCHAR": VarCharType,
    "BINARY": BinaryType,
    "VARBINARY": VarBinaryType,
    "DECIMAL": DecimalType,
    "DEC": DecimalType,
    "NUMERIC": DecimalType,
    "TIME": TimeType,
    "TIMESTAMP": TimestampType,
    "TIMESTAMP_LTZ": LocalZonedTimestampType,
}
_LENGTHS: Final = ("CHAR", "CHARACTER", "VARCHAR", "BINARY", "VARBINARY")
_COLLECTIONS: Final[dict[str, Callable[..., LogicalType]]] = {
    "ARRAY": ArrayType,
    "MAP": MapType,
    "MULTISET": MultisetType,
}


MONTHS: Final = YearMonthIntervalType(IntervalField.MONTH, IntervalField.MONTH)
"""The type of all intervals of years and months, as in Flink's plans."""
MILLISECONDS: Final = DayTimeIntervalType(IntervalField.SECOND, IntervalField.SECOND, fractional_precision=3)
"""The type of all intervals of days and smaller units, as in Flink's plans."""


def type_of(name: exp.Expr, text: Text) -> LogicalType:
    """Return the type that is written; it is nullable unless NOT NULL is.

    Raises SqlValidationError where a length, a precision or a field's name is not allowed.
    """
    if isinstance(name, exp.Var):
        return _interval(name.name)
    assert isinstance(name, TypeName)
    try:
        found = _type(name, text)
    except ProgramError as error:
        if isinstance(error, SqlError):
            raise
        raise text.located(name, error) from None
    return found.copy(nullable=name.args.get("nullable") is not False)


def _type(name: TypeName, text: Text) -> LogicalType:
    kind = name.name
    parameters = [int(number.name) for number in name.args.get("parameters") or ()]
    if kind in _LENGTHS and parameters == [0]:
        raise text.wrong(name, f"requires a length of at least 1 in {kind}", got="0")
    if kind in _SIZED and parameters:
        return _SIZED[kind](*parameters)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind in _SIZED:
        return _SIZED[kind]()
    if kind in _COLLECTIONS:
        return _COLLECTIONS[kind](*(type_of(element, text) for element in name.args["elements"]))
    if kind == "RAW":
        return RawType(*(argument.name for argument in name.args["arguments"]))
    fields = tuple(
        Field(field.this.name, type_of(field.args["kind"], text), field.args.get("comment"))
        for field in name.args.get("fields") or ()
    )
    return RowType(fields) if kind == "ROW" else StructuredType(fields, name.args["arguments"][0].name)


def _interval(name: str) -> LogicalType:
    months = any(unit in name for unit in ("YEAR", "QUARTER", "MONTH"))
    return MONTHS if months else MILLISECONDS


def interval_type(
    start: IntervalField, end: IntervalField, precision: int | None = None, fraction: int | None = None
) -> YearMonthIntervalType | DayTimeIntervalType:
    """Return the type of intervals from one unit to another.

    `precision` is the number of digits of years or days.
    """
    if start.value <= IntervalField.MONTH.value:
        years = precision if start is IntervalField.YEAR and precision is not None else 2
        return YearMonthIntervalType(start, end, years)
    days = precision if start is IntervalField.DAY and precision is not None else 2
    digits = fraction if end is IntervalField.SECOND and fraction is not None else 6
    return DayTimeIntervalType(start, end, days, digits)
