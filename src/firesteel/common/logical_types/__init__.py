"""The types of SQL: what a column of a table can hold (Flink: org.apache.flink.table.types.logical).

`parse_type` reads a type from text. `firesteel.common.logical_types.casts`, `merging` and `decimals` have the rules by
which types are compared, joined and computed with.
"""

from __future__ import annotations

from firesteel.common.logical_types.constructed import ArrayType, Field, MapType, MultisetType, RowType
from firesteel.common.logical_types.intervals import DayTimeIntervalType, IntervalField, YearMonthIntervalType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import (
    BigIntType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerNumberType,
    IntType,
    SmallIntType,
    TinyIntType,
)
from firesteel.common.logical_types.parsing import parse_type
from firesteel.common.logical_types.roots import LogicalTypeFamily, LogicalTypeRoot
from firesteel.common.logical_types.special import (
    BitmapType,
    DescriptorType,
    DistinctType,
    NullType,
    ObjectIdentifier,
    RawType,
    StructuredType,
    SymbolType,
    UnresolvedType,
    VariantType,
)
from firesteel.common.logical_types.strings import (
    BYTES,
    STRING,
    BinaryType,
    BooleanType,
    CharType,
    VarBinaryType,
    VarCharType,
)
from firesteel.common.logical_types.temporal import (
    DateType,
    LocalZonedTimestampType,
    TimestampKind,
    TimestampType,
    TimeType,
    ZonedTimestampType,
)

__all__ = [
    "BYTES",
    "STRING",
    "ArrayType",
    "BigIntType",
    "BinaryType",
    "BitmapType",
    "BooleanType",
    "CharType",
    "DateType",
    "DayTimeIntervalType",
    "DecimalType",
    "DescriptorType",
    "DistinctType",
    "DoubleType",
    "Field",
    "FloatType",
    "IntType",
    "IntegerNumberType",
    "IntervalField",
    "LocalZonedTimestampType",
    "LogicalType",
    "LogicalTypeFamily",
    "LogicalTypeRoot",
    "MapType",
    "MultisetType",
    "NullType",
    "ObjectIdentifier",
    "RawType",
    "RowType",
    "SmallIntType",
    "StructuredType",
    "SymbolType",
    "TimeType",
    "TimestampKind",
    "TimestampType",
    "TinyIntType",
    "UnresolvedType",
    "VarBinaryType",
    "VarCharType",
    "VariantType",
    "YearMonthIntervalType",
    "ZonedTimestampType",
    "parse_type",
]
