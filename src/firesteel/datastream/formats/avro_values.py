"""Records of Avro as Rows, one by one (Flink: AvroRowDeserializationSchema, AvroRowSerializationSchema)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from firesteel.common.errors import UnsupportedError
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.common.types import make_row
from firesteel.connectors.tables.formats.avro.schema import AvroType

Convert = Callable[[Any], Any]

_TYPES = {
    "null": Types.PICKLED_BYTE_ARRAY(),
    "boolean": Types.BOOLEAN(),
    "int": Types.INT(),
    "long": Types.LONG(),
    "float": Types.FLOAT(),
    "double": Types.DOUBLE(),
    "string": Types.STRING(),
    "enum": Types.STRING(),
    "bytes": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "fixed": Types.PRIMITIVE_ARRAY(Types.BYTE()),
}


def type_of_avro(schema: AvroType) -> TypeInformation:
    """Return the type of the values of a schema (Flink: AvroSchemaConverter.convertToTypeInfo).

    >>> from firesteel.connectors.tables.formats.avro.schema import parse_schema
    >>> type_of_avro(parse_schema('{"type": "array", "items": ["null", "long"]}', "t"))
    ObjectArrayTypeInfo<Long>
    """
    schema = schema.without_null()
    if schema.kind == "record":
        fields = [type_of_avro(field.type) for field in schema.fields]
        return Types.ROW_NAMED([field.name for field in schema.fields], fields)
    if schema.kind == "array":
        return Types.OBJECT_ARRAY(type_of_avro(schema.parts[0]))
    if schema.kind == "map":
        return Types.MAP(Types.STRING(), type_of_avro(schema.parts[0]))
    if schema.kind == "union":
        return Types.PICKLED_BYTE_ARRAY()
    if schema.logical == "decimal":
        return Types.BIG_DEC()
    return _time(schema) or _TYPES[schema.kind]


def _time(schema: AvroType) -> TypeInformation | None:
    logical = schema.logical or ""
    if schema.kind == "int" and logical == "date":
        return Types.SQL_DATE()
    if schema.kind in ("int", "long") and logical.startswith("time-"):
        return Types.SQL_TIME()
    return Types.SQL_TIMESTAMP() if schema.kind == "long" and logical.startswith("timestamp-") else None


def from_avro(schema: AvroType) -> Convert:
    """Return a function from what fastavro reads to the value of the type: Rows for records, times without a zone."""
    schema = schema.without_null()
    if schema.kind == "record":
        names = [field.name for field in schema.fields]
        converts = [_or_none(from_avro(field.type)) for field in schema.fields]
        pairs = list(zip(names, converts, strict=True))
        return lambda value: make_row(names, [convert(value[name]) for name, convert in pairs])
    if schema.kind == "array":
        item = _or_none(from_avro(schema.parts[0]))
        return lambda value: [item(one) for one in value]
    if schema.kind == "map":
        item = _or_none(from_avro(schema.parts[0]))
        return lambda value: {key: item(one) for key, one in value.items()}
    if _time(schema) == Types.SQL_TIMESTAMP():
        return lambda value: value.replace(tzinfo=None)
    return lambda value: value


def to_avro(schema: AvroType) -> Convert:
    """Return the inverse of `from_avro`. Raises UnsupportedError for a union of several types."""
    schema = schema.without_null()
    if schema.kind == "union":
        kinds = ", ".join(part.kind for part in schema.parts)
        raise UnsupportedError("is not supported", who=f"the union of {kinds} in a row that is written")
    if schema.kind == "record":
        names = [field.name for field in schema.fields]
        converts = [_or_none(to_avro(field.type)) for field in schema.fields]
        return lambda row: {
            name: convert(value) for name, convert, value in zip(names, converts, row, strict=True)
        }
    if schema.kind == "array":
        item = _or_none(to_avro(schema.parts[0]))
        return lambda value: [item(one) for one in value]
    if schema.kind == "map":
        item = _or_none(to_avro(schema.parts[0]))
        return lambda value: {key: item(one) for key, one in value.items()}
    if _time(schema) == Types.SQL_TIMESTAMP():
        # fastavro takes a time without a zone for one of this machine's zone.
        return lambda value: value.replace(tzinfo=dt.UTC)
    return lambda value: value


def _or_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)
