"""DataTypes: the types of columns, as a program writes them.

A `DataType` wraps a type of `firesteel.common.logical_types`; nothing else of the table layer needs it.
"""

# ruff: noqa: N802 - the factories have PyFlink's names

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
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
    NullType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
    parse_type,
)
from firesteel.common.types import Row, RowKind

__all__ = ["DataType", "DataTypes", "Row", "RowField", "RowKind"]

_LONGEST = 2**31 - 1


@dataclass(frozen=True)
class DataType:
    """The type of a column.

    >>> str(DataTypes.ARRAY(DataTypes.INT()).not_null())
    'ARRAY<INT> NOT NULL'
    """

    logical_type: LogicalType

    def not_null(self) -> DataType:
        """Return the type without NULL."""
        return DataType(self.logical_type.copy(nullable=False))

    def nullable(self) -> DataType:
        """Return the type with NULL."""
        return DataType(self.logical_type.copy(nullable=True))

    def bridged_to(self, conversion_cls: str) -> DataType:
        """Return the type itself: a class of Java makes no difference to values in Python."""
        del conversion_cls
        return self

    def __str__(self) -> str:
        return str(self.logical_type)


@dataclass(frozen=True)
class RowField:
    """A field of a row."""

    name: str
    data_type: DataType
    description: str | None = None


@dataclass(frozen=True)
class Resolution:
    """A unit of an interval, and how many digits it may have."""

    unit: IntervalField
    precision: int | None = None


def logical_type(data_type: DataType | str, who: str) -> LogicalType:
    """Return the type that a program means, by a DataType or its text. Raises ProgramError for anything else."""
    if isinstance(data_type, DataType):
        return data_type.logical_type
    if isinstance(data_type, str):
        return parse_type(data_type)
    raise ProgramError(
        "requires a data type", who=who, got=repr(data_type), hint="e.g. DataTypes.INT() or 'INT'"
    )


class DataTypes:
    """Makes the types of columns; each can hold NULL unless `nullable` is False."""

    @staticmethod
    def NULL() -> DataType:
        """Return the type of NULL."""
        return DataType(NullType())

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> DataType:
        """Return the type of texts of exactly `length` characters."""
        return DataType(CharType(length, nullable=nullable))

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> DataType:
        """Return the type of texts of at most `length` characters."""
        return DataType(VarCharType(length, nullable=nullable))

    @staticmethod
    def STRING(nullable: bool = True) -> DataType:
        """Return the type of texts of any length."""
        return DataType(VarCharType(_LONGEST, nullable=nullable))

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> DataType:
        """Return the type of TRUE and FALSE."""
        return DataType(BooleanType(nullable=nullable))

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> DataType:
        """Return the type of exactly `length` bytes."""
        return DataType(BinaryType(length, nullable=nullable))

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> DataType:
        """Return the type of at most `length` bytes."""
        return DataType(VarBinaryType(length, nullable=nullable))

    @staticmethod
    def BYTES(nullable: bool = True) -> DataType:
        """Return the type of any number of bytes."""
        return DataType(VarBinaryType(_LONGEST, nullable=nullable))

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DataType:
        """Return the type of decimal numbers of `precision` digits, `scale` of them behind the point."""
        return DataType(DecimalType(precision, scale, nullable=nullable))

    @staticmethod
    def TINYINT(nullable: bool = True) -> DataType:
        """Return the type of whole numbers of 8 bits."""
        return DataType(TinyIntType(nullable=nullable))

    @staticmethod
    def SMALLINT(nullable: bool = True) -> DataType:
        """Return the type of whole numbers of 16 bits."""
        return DataType(SmallIntType(nullable=nullable))

    @staticmethod
    def INT(nullable: bool = True) -> DataType:
        """Return the type of whole numbers of 32 bits."""
        return DataType(IntType(nullable=nullable))

    @staticmethod
    def BIGINT(nullable: bool = True) -> DataType:
        """Return the type of whole numbers of 64 bits."""
        return DataType(BigIntType(nullable=nullable))

    @staticmethod
    def FLOAT(nullable: bool = True) -> DataType:
        """Return the type of floating-point numbers of 32 bits."""
        return DataType(FloatType(nullable=nullable))

    @staticmethod
    def DOUBLE(nullable: bool = True) -> DataType:
        """Return the type of floating-point numbers of 64 bits."""
        return DataType(DoubleType(nullable=nullable))

    @staticmethod
    def DATE(nullable: bool = True) -> DataType:
        """Return the type of dates."""
        return DataType(DateType(nullable=nullable))

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> DataType:
        """Return the type of times of day, with `precision` digits of a second's fraction."""
        return DataType(TimeType(precision, nullable=nullable))

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> DataType:
        """Return the type of a date with a time of day, without a zone."""
        return DataType(TimestampType(precision, nullable=nullable))

    @staticmethod
    def TIMESTAMP_WITH_LOCAL_TIME_ZONE(precision: int = 6, nullable: bool = True) -> DataType:
        """Return the type of points on the time line, shown in the session's time zone."""
        return DataType(LocalZonedTimestampType(precision, nullable=nullable))

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> DataType:
        """Return the type of points on the time line, shown in the session's time zone."""
        return DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(precision, nullable)

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> DataType:
        """Return the type of lists."""
        return DataType(ArrayType(logical_type(element_type, "DataTypes.ARRAY"), nullable=nullable))

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> DataType:
        """Return the type of multisets."""
        return DataType(MultisetType(logical_type(element_type, "DataTypes.MULTISET"), nullable=nullable))

    @staticmethod
    def LIST_VIEW(element_type: DataType) -> DataType:
        """Return the type of a ListView in an accumulator."""
        return DataTypes.ARRAY(element_type)

    @staticmethod
    def MAP_VIEW(key_type: DataType, value_type: DataType) -> DataType:
        """Return the type of a MapView in an accumulator."""
        return DataTypes.MAP(key_type, value_type)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> DataType:
        """Return the type of maps."""
        who = "DataTypes.MAP"
        return DataType(
            MapType(logical_type(key_type, who), logical_type(value_type, who), nullable=nullable)
        )

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField:
        """Return a field of a row."""
        return RowField(name, data_type, description)

    @staticmethod
    def ROW(row_fields: Sequence[RowField | DataType] = (), nullable: bool = True) -> DataType:
        """Return the type of rows; fields without a name are called f0, f1, ..."""
        named = [
            field if isinstance(field, RowField) else RowField(f"f{place}", field)
            for place, field in enumerate(row_fields)
        ]
        parts = (
            Field(part.name, logical_type(part.data_type, "DataTypes.ROW"), part.description)
            for part in named
        )
        return DataType(RowType(tuple(parts), nullable=nullable))

    @staticmethod
    def YEAR(precision: int = 2) -> Resolution:
        """Return the resolution of years."""
        return Resolution(IntervalField.YEAR, precision)

    @staticmethod
    def MONTH() -> Resolution:
        """Return the resolution of months."""
        return Resolution(IntervalField.MONTH)

    @staticmethod
    def DAY(precision: int = 2) -> Resolution:
        """Return the resolution of days."""
        return Resolution(IntervalField.DAY, precision)

    @staticmethod
    def HOUR() -> Resolution:
        """Return the resolution of hours."""
        return Resolution(IntervalField.HOUR)

    @staticmethod
    def MINUTE() -> Resolution:
        """Return the resolution of minutes."""
        return Resolution(IntervalField.MINUTE)

    @staticmethod
    def SECOND(precision: int = 6) -> Resolution:
        """Return the resolution of seconds, with digits of a fraction."""
        return Resolution(IntervalField.SECOND, precision)

    @staticmethod
    def INTERVAL(upper_resolution: Resolution, lower_resolution: Resolution | None = None) -> DataType:
        """Return the type of intervals from one unit down to another.

        >>> str(DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)))
        'INTERVAL DAY(2) TO SECOND(3)'
        """
        lower = lower_resolution or upper_resolution
        precisions: dict[str, Any] = {}
        for resolution in (upper_resolution, lower):
            name = _PRECISIONS.get(resolution.unit)
            if name is not None and resolution.precision is not None:
                precisions[name] = resolution.precision
        kind = YearMonthIntervalType if upper_resolution.unit in _YEARS else DayTimeIntervalType
        return DataType(kind(upper_resolution.unit, lower.unit, **precisions))


_YEARS = (IntervalField.YEAR, IntervalField.MONTH)
_PRECISIONS = {
    IntervalField.YEAR: "year_precision",
    IntervalField.DAY: "day_precision",
    IntervalField.SECOND: "fractional_precision",
}
