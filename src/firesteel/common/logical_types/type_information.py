"""Types of streams as types of tables, and the other way (Flink: TypeInfoDataTypeConverter, TypeConversions).

`from_data_stream` takes the type of a table from that of the stream, `to_data_stream` does the reverse. The reverse
loses what a stream's type does not know: lengths, precisions, nullability.
"""

from __future__ import annotations

from typing import Any, Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.constructed import ArrayType, Field, MapType, RowType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import (
    BigIntType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    SmallIntType,
    TinyIntType,
)
from firesteel.common.logical_types.roots import LogicalTypeRoot
from firesteel.common.logical_types.special import DistinctType, RawType, StructuredType
from firesteel.common.logical_types.strings import BYTES, STRING, BooleanType
from firesteel.common.logical_types.temporal import (
    DateType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
)
from firesteel.common.typeinfo import LocalTimeTypeInfo, TypeInformation, Types
from firesteel.common.typeinfo.composite import row_names

_R = LogicalTypeRoot
_PICKLED: Final = "pickle"
_OF_STREAM: Final[dict[str, LogicalType]] = {
    "STRING": STRING,
    "BYTE": TinyIntType(nullable=False),
    "BOOLEAN": BooleanType(nullable=False),
    "SHORT": SmallIntType(nullable=False),
    "INT": IntType(nullable=False),
    "LONG": BigIntType(nullable=False),
    "FLOAT": FloatType(nullable=False),
    "DOUBLE": DoubleType(nullable=False),
    "BIG_DEC": DecimalType(38, 18),
    "INSTANT": LocalZonedTimestampType(9),
    "SQL_DATE": DateType(),
    "SQL_TIME": TimeType(0),
    "SQL_TIMESTAMP": TimestampType(9),
    "LOCAL_DATE": DateType(),
    "LOCAL_TIME": TimeType(9),
    "LOCAL_DATE_TIME": TimestampType(9),
    "CHAR": RawType("java.lang.Character", _PICKLED),
    "BIG_INT": RawType("java.math.BigInteger", _PICKLED),
    "PICKLED_BYTE_ARRAY": RawType("[B", _PICKLED),
}
_TIMES: Final = LocalTimeTypeInfo.TimeType
_BYTE_ARRAY: Final = Types.PRIMITIVE_ARRAY(Types.BYTE())
_OF_TABLE: Final[dict[LogicalTypeRoot, TypeInformation]] = {
    **dict.fromkeys((_R.CHAR, _R.VARCHAR), Types.STRING()),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY), _BYTE_ARRAY),
    _R.BOOLEAN: Types.BOOLEAN(),
    _R.DECIMAL: Types.BIG_DEC(),
    _R.TINYINT: Types.BYTE(),
    _R.SMALLINT: Types.SHORT(),
    _R.INTEGER: Types.INT(),
    _R.BIGINT: Types.LONG(),
    _R.FLOAT: Types.FLOAT(),
    _R.DOUBLE: Types.DOUBLE(),
    _R.DATE: LocalTimeTypeInfo(_TIMES.LOCAL_DATE),
    _R.TIME_WITHOUT_TIME_ZONE: LocalTimeTypeInfo(_TIMES.LOCAL_TIME),
    _R.TIMESTAMP_WITHOUT_TIME_ZONE: LocalTimeTypeInfo(_TIMES.LOCAL_DATE_TIME),
    _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: Types.INSTANT(),
    _R.RAW: Types.PICKLED_BYTE_ARRAY(),
}


def to_logical_type(info: TypeInformation) -> LogicalType:
    """Return the type that a table has for values of a stream.

    What cannot be NULL in a stream is NOT NULL; fields of rows and elements of arrays are nullable. A type without
    counterpart is RAW.

    >>> str(to_logical_type(Types.ROW_NAMED(["n", "tags"], [Types.LONG(), Types.LIST(Types.STRING())])))
    'ROW<`n` BIGINT, `tags` ARRAY<STRING>> NOT NULL'
    """
    return _of_schema(info.schema())


def _of_schema(schema: dict[str, Any]) -> LogicalType:
    kind = schema["type"]
    if kind in _OF_STREAM:
        return _OF_STREAM[kind]
    if kind == "EXTERNAL":
        return _of_schema(schema["element"])
    if kind == "MAP":
        return MapType(
            _of_schema(schema["key"]), _of_schema(schema["value"]).copy(nullable=True), nullable=False
        )
    if kind in ("ROW", "TUPLE"):
        return _of_fields(schema)
    return _of_elements(kind, schema["element"])


def _of_fields(schema: dict[str, Any]) -> LogicalType:
    types = [_of_schema(field) for field in schema["fields"]]
    if schema["type"] == "ROW":
        named = zip(row_names(schema), types, strict=True)
        return RowType.of({name: part.copy(nullable=True) for name, part in named}, nullable=False)
    fields = tuple(Field(f"f{place}", part) for place, part in enumerate(types))
    return StructuredType(fields, f"org.apache.flink.api.java.tuple.Tuple{len(types)}", nullable=False)


def _of_elements(kind: str, schema: dict[str, Any]) -> LogicalType:
    element = _of_schema(schema)
    if kind in ("BASIC_ARRAY", "OBJECT_ARRAY"):
        return ArrayType(element.copy(nullable=True), nullable=False)
    if kind == "PRIMITIVE_ARRAY" and schema["type"] == "BYTE":
        return BYTES.copy(nullable=False)
    if kind == "PRIMITIVE_ARRAY" and schema["type"] == "CHAR":
        return RawType("[C", _PICKLED)
    # Flink leaves out NOT NULL for an array of primitive doubles only.
    return ArrayType(element, nullable=kind == "PRIMITIVE_ARRAY" and schema["type"] == "DOUBLE")


def to_type_information(data_type: LogicalType) -> TypeInformation:
    """Return the type of a stream for values of a table's type.

    Raises UnsupportedError for types that no stream can have: intervals, MULTISET, NULL, and types without values.

    >>> from firesteel.common.logical_types import parse_type
    >>> to_type_information(parse_type("ROW<n BIGINT, at TIMESTAMP(3)>"))
    RowTypeInfo(n: Long, at: LocalTimeTypeInfo<LOCAL_DATE_TIME>)
    """
    if data_type.root in _OF_TABLE:
        return _OF_TABLE[data_type.root]
    if isinstance(data_type, DistinctType):
        return to_type_information(data_type.source)
    if isinstance(data_type, RowType | StructuredType):
        fields = data_type.fields if isinstance(data_type, RowType) else data_type.attributes
        return Types.ROW_NAMED(
            [field.name for field in fields], [to_type_information(field.type) for field in fields]
        )
    if isinstance(data_type, ArrayType):
        return Types.OBJECT_ARRAY(to_type_information(data_type.element))
    if isinstance(data_type, MapType):
        return Types.MAP(to_type_information(data_type.key), to_type_information(data_type.value))
    raise UnsupportedError("has no counterpart among the types of streams", who=f"type {data_type}")
