"""Rows as single records of Avro, as PyFlink's schemas read and write them."""

from __future__ import annotations

import datetime as dt
import io
import json
import pickle
from decimal import Decimal

import fastavro
import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import ProgramError, TypeMismatchError, UnsupportedError
from firesteel.datastream.formats.avro import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
)

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "OLD"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}},
        {"name": "parts", "type": {"type": "array", "items": ["null", "int"]}},
        {"name": "counts", "type": {"type": "map", "values": "long"}},
        {
            "name": "inner",
            "type": [
                "null",
                {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "double"}]},
            ],
        },
        {"name": "data", "type": "bytes"},
    ],
}
TEXT = json.dumps(SCHEMA)
ROW = Row(
    id=7,
    name=None,
    kind="OLD",
    at=dt.datetime(2020, 1, 2, 3, 4, 5, 123000),
    day=dt.date(1969, 12, 31),
    price=Decimal("-12.50"),
    parts=[1, None],
    counts={"a": 5},
    inner=Row(x=1.5),
    data=b"\x00\xff",
)


def test_a_row_is_a_record_and_back() -> None:
    writing = AvroRowSerializationSchema(avro_schema_string=TEXT)
    reading = pickle.loads(pickle.dumps(AvroRowDeserializationSchema(avro_schema_string=TEXT)))
    message = pickle.loads(pickle.dumps(writing)).serialize(ROW)
    assert reading.deserialize(message) == ROW
    assert reading.deserialize(message)._fields == ROW._fields
    record = fastavro.schemaless_reader(io.BytesIO(message), fastavro.parse_schema(SCHEMA), None)
    assert record["at"] == dt.datetime(2020, 1, 2, 3, 4, 5, 123000, tzinfo=dt.UTC)
    assert record["price"] == Decimal("-12.50")


def test_the_type_is_that_of_the_schema() -> None:
    fields = [
        Types.LONG(),
        Types.STRING(),
        Types.STRING(),
        Types.SQL_TIMESTAMP(),
        Types.SQL_DATE(),
        Types.BIG_DEC(),
        Types.OBJECT_ARRAY(Types.INT()),
        Types.MAP(Types.STRING(), Types.LONG()),
        Types.ROW_NAMED(["x"], [Types.DOUBLE()]),
        Types.PRIMITIVE_ARRAY(Types.BYTE()),
    ]
    expected = Types.ROW_NAMED([field["name"] for field in SCHEMA["fields"]], fields)
    assert AvroRowDeserializationSchema(avro_schema_string=TEXT).get_produced_type() == expected


def test_what_does_not_fit_is_named() -> None:
    reading = AvroRowDeserializationSchema(avro_schema_string=TEXT)
    message = AvroRowSerializationSchema(avro_schema_string=TEXT).serialize(ROW)
    assert reading.deserialize(None) is None
    for bad in (b"", message[:-1], message[:3]):
        with pytest.raises(TypeMismatchError, match="requires a record of its schema"):
            reading.deserialize(bad)
    writing = AvroRowSerializationSchema(avro_schema_string=TEXT)
    for wrong in (Row(id=7, name="x", kind="OTHER"), "x", Row(*["a"] * 10)):
        with pytest.raises(TypeMismatchError):
            writing.serialize(wrong)


def test_schemas_that_are_wrong() -> None:
    for kind in (AvroRowDeserializationSchema, AvroRowSerializationSchema):
        with pytest.raises(TypeError, match="record_class or avro_schema_string"):
            kind()
        with pytest.raises(UnsupportedError, match="class of Java"):
            kind(record_class="my.Order")
        with pytest.raises(ProgramError, match="requires a row type"):
            kind(avro_schema_string='"int"')
        with pytest.raises(ProgramError, match="requires a schema of Avro"):
            kind(avro_schema_string="no schema")


def test_the_text_of_a_schema_is_one() -> None:
    reading = AvroRowDeserializationSchema(avro_schema_string=str(AvroSchema.parse_string(TEXT)))
    assert reading.get_produced_type().get_field_names()[:2] == ["id", "name"]
