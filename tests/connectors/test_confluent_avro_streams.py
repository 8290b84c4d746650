"""Records of Avro behind the ids of their schemas, as dictionaries of streams."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Iterator
from typing import Any

import fastavro
import pytest

from firesteel.common.errors import ConnectorError, ProgramError, TypeMismatchError
from firesteel.datastream.formats.avro import AvroSchema, GenericRecordAvroTypeInfo
from firesteel.datastream.formats.confluent import (
    ConfluentAvroDeserializationSchema,
    ConfluentAvroSerializationSchema,
    RegistrySettings,
)
from harness.registry import SchemaRegistry


def schema(*fields: tuple[str, Any], name: str = "Order", **more: Any) -> str:
    return json.dumps(
        {"type": "record", "name": name, "fields": [{"name": n, "type": t, **more} for n, t in fields]}
    )


FIRST = schema(("id", "int"), ("gone", "string"))
SECOND = schema(("id", "long"), name="shop.Order")
NODE = schema(("n", "int"), ("next", ["null", "Node"]), name="Node")


@pytest.fixture
def registry() -> SchemaRegistry:
    found = SchemaRegistry()
    found.keep(1, FIRST)
    found.keep(2, '{"type": "object"}', "JSON")
    found.keep(3, schema(("id", "string")))
    return found


@pytest.fixture
def url(registry: SchemaRegistry) -> Iterator[str]:
    with registry.serving() as address:
        yield address


def message(number: int, written: str, value: Any) -> bytes:
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(json.loads(written)), value)
    return b"\x00" + number.to_bytes(4, "big") + data.getvalue()


def test_records_make_a_round_trip(registry: SchemaRegistry, url: str) -> None:
    writing = pickle.loads(pickle.dumps(ConfluentAvroSerializationSchema(url, "orders-value", FIRST)))
    found = writing.serialize({"id": 300, "gone": "x"})
    assert found == message(1, FIRST, {"id": 300, "gone": "x"})
    reading = pickle.loads(pickle.dumps(ConfluentAvroDeserializationSchema(RegistrySettings((url,)), FIRST)))
    assert reading.deserialize(found) == {"id": 300, "gone": "x"}
    assert (writing.serialize(None), reading.deserialize(None)) == (None, None)
    assert reading.get_produced_type() == GenericRecordAvroTypeInfo(AvroSchema.parse_string(FIRST))


def test_schemas_evolve(url: str) -> None:
    """A record that was written with another schema is read as one of the reader's."""
    later = json.loads(SECOND)
    later["fields"].append({"name": "more", "type": "string", "default": "none"})
    reading = ConfluentAvroDeserializationSchema(url, json.dumps(later))
    assert reading.deserialize(message(1, FIRST, {"id": 1, "gone": "x"})) == {"id": 1, "more": "none"}


def test_a_schema_may_refer_to_itself(registry: SchemaRegistry, url: str) -> None:
    value = {"n": 1, "next": {"n": 2, "next": {"n": 3, "next": None}}}
    found = ConfluentAvroSerializationSchema(url, "s", NODE).serialize(value)
    assert ConfluentAvroDeserializationSchema(url, NODE).deserialize(found) == value


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"", "requires a message with a zero"),
        (b"\x01\x00\x00\x00\x01\x02", "requires a message with a zero"),
        (b"\x00\x00\x00\x00\x01\x02", "requires a record that can be read"),
        (b"\x00\x00\x00\x00\x02\x02", "the schema 2 of a message is one of Avro; got one of JSON"),
        (b"\x00\x00\x00\x00\x09\x02", "the schema 9 of a message is one of Avro; got .*status 404"),
        (b"\x00\x00\x00\x00\x03\x02a", "requires a record that can be read"),
    ],
)
def test_bad_messages(url: str, bad: bytes, why: str) -> None:
    with pytest.raises(TypeMismatchError, match=why):
        ConfluentAvroDeserializationSchema(url, SECOND).deserialize(bad)


def test_values_that_are_not_of_the_schema(url: str) -> None:
    with pytest.raises(TypeMismatchError, match="requires a value that is of its schema"):
        ConfluentAvroSerializationSchema(url, "s", FIRST).serialize({"id": "one", "gone": "x"})
    with pytest.raises(ConnectorError, match="requires a request that the registry accepts"):
        ConfluentAvroSerializationSchema(url, "s", FIRST, register=False).serialize({"id": 1, "gone": "x"})


def test_what_is_no_schema() -> None:
    for made in (
        lambda: ConfluentAvroSerializationSchema("http://a", "s", "{"),
        lambda: ConfluentAvroDeserializationSchema("http://a", '"x"'),
    ):
        with pytest.raises(ProgramError, match="requires a schema of Avro"):
            made()  # type: ignore[no-untyped-call]


def test_a_registry_that_is_away() -> None:
    settings = RegistrySettings(("http://127.0.0.1:9",), patience_ms=10)
    with pytest.raises(ConnectorError, match="requires an answer within"):
        ConfluentAvroDeserializationSchema(settings, FIRST).deserialize(b"\x00\x00\x00\x00\x07\x02")
