"""The types that schemas of Avro have as rows (Flink: AvroSchemaConverter)."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BooleanType,
    DecimalType,
    DoubleType,
    Field,
    FloatType,
    IntType,
    LogicalType,
    MapType,
    NullType,
    RowType,
    VarBinaryType,
)
from firesteel.common.logical_types.temporal import (
    DateType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
)
from firesteel.connectors.tables.formats.avro.schema import AvroType

_SINGLE: Final[dict[str, LogicalType]] = {
    "null": NullType(),
    "boolean": BooleanType(nullable=False),
    "int": IntType(nullable=False),
    "long": BigIntType(nullable=False),
    "float": FloatType(nullable=False),
    "double": DoubleType(nullable=False),
    "string": STRING.copy(nullable=False),
    "enum": STRING.copy(nullable=False),
    "bytes": BYTES.copy(nullable=False),
}
_PRECISIONS: Final = {"millis": 3, "micros": 6, "nanos": 9}
_CLOCKS: Final = ("time-millis", "time-micros")
_LEGACY: Final = ("timestamp-millis", "timestamp-micros")


def row_of_schema(schema: AvroType, legacy: bool) -> RowType:
    """Return the type of the rows of a record. Raises UnsupportedError for a union of several types.

    >>> from firesteel.connectors.tables.formats.avro.schema import parse_schema
    >>> text = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": ["null", "long"]}]}'
    >>> print(row_of_schema(parse_schema(text, "t"), legacy=True))
    ROW<`n` BIGINT> NOT NULL
    """
    found = _type(schema, legacy)
    if not isinstance(found, RowType):
        raise UnsupportedError("requires a schema of records", who="the format avro", got=schema.kind)
    return found


def _type(schema: AvroType, legacy: bool) -> LogicalType:
    if schema.kind == "union":
        return _union(schema, legacy)
    if schema.kind == "record":
        fields = tuple(Field(field.name, _type(field.type, legacy)) for field in schema.fields)
        return RowType(fields, nullable=False)
    if schema.kind == "array":
        return ArrayType(_type(schema.parts[0], legacy), nullable=False)
    if schema.kind == "map":
        return MapType(STRING.copy(nullable=False), _type(schema.parts[0], legacy), nullable=False)
    if schema.logical == "decimal":
        return DecimalType(schema.precision, schema.scale, nullable=False)
    if schema.kind == "fixed":
        return VarBinaryType(schema.size, nullable=False)
    return _time(schema, legacy) or _SINGLE[schema.kind]


def _union(schema: AvroType, legacy: bool) -> LogicalType:
    found = schema.without_null()
    if found.kind == "union":
        kinds = ", ".join(part.kind for part in schema.parts)
        raise UnsupportedError("is not supported by the format avro", who=f"the union of {kinds}")
    return _type(found, legacy).copy(nullable=schema.may_be_null)


def _time(schema: AvroType, legacy: bool) -> LogicalType | None:
    logical = schema.logical
    if schema.kind == "int":
        if logical == "date":
            return DateType(nullable=False)
        return TimeType(3, nullable=False) if logical == "time-millis" else None
    if schema.kind != "long" or logical is None:
        return None
    precision = _PRECISIONS.get(logical.rpartition("-")[2], 0)
    if logical in _CLOCKS:
        return TimeType(precision, nullable=False)
    if legacy:
        return TimestampType(precision, nullable=False) if logical in _LEGACY else None
    if logical.startswith("local-timestamp-"):
        return TimestampType(precision, nullable=False)
    return LocalZonedTimestampType(precision, nullable=False) if logical.startswith("timestamp-") else None
