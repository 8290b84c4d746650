"""JSON behind the id of a JSON Schema: what is written and what is read is of it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import ConfigurationError, ConnectorError, ProgramError, TypeMismatchError
from firesteel.connectors.schema_registry.settings import RegistrySettings
from firesteel.connectors.tables.messages.message_format import BadMessage, Decoded
from firesteel.datastream.formats.confluent import (
    ConfluentJsonDeserializationSchema,
    ConfluentJsonSerializationSchema,
)
from firesteel.formats.json_schema import JsonSchema
from harness.registry import SchemaRegistry
from tests.connectors.messages import decoder, encoder, messages, read, rows_of, written

ORDER = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"id": {"type": "integer"}, "price": {"type": "number", "exclusiveMinimum": 0}},
        "required": ["id"],
    }
)
STRICTER = json.dumps({**json.loads(ORDER), "required": ["id", "price"]})
COLUMNS = "id BIGINT, price DOUBLE"
ROW = Types.ROW_NAMED(["id", "price"], [Types.LONG(), Types.DOUBLE()])
GONE = "http://127.0.0.1:9"


@pytest.fixture
def registry() -> SchemaRegistry:
    found = SchemaRegistry()
    found.keep(1, ORDER, "JSON")
    found.keep(2, STRICTER, "JSON")
    found.keep(3, '"long"')
    return found


@pytest.fixture
def url(registry: SchemaRegistry) -> Iterator[str]:
    with registry.serving() as address:
        yield address


def message(number: int, value: Any) -> bytes:
    return b"\x00" + number.to_bytes(4, "big") + json.dumps(value).encode()


@pytest.mark.parametrize(
    ("schema", "good", "bad", "why"),
    [
        ({"type": "integer"}, 10**30, 1.5, '/: 1.5 is not of type "integer"'),
        ({"items": {"maxLength": 2}}, ["äö"], ["a", "abc"], '/1: "abc" is longer than 2 characters'),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": True}, 2, 3, "/: 3"),
        (
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "unevaluatedProperties": False,
             "allOf": [{"properties": {"a": {}}}]},
            {"a": 1}, {"b": 1}, "/: Unevaluated properties",
        ),
        ({"format": "date"}, "no date", None, None),
        ({"multipleOf": 0.01}, 19.99, 0.001, "/: 0.001 is not a multiple of 0.01"),
    ],
)  # fmt: skip
def test_drafts(schema: Any, good: Any, bad: Any, why: str | None) -> None:
    known = JsonSchema(json.dumps(schema))
    assert known.misfit(json.dumps(good).encode()) is None
    if why is not None:
        assert (known.misfit(json.dumps(bad).encode()) or "").startswith(why)


def test_references_are_given_and_never_loaded() -> None:
    schema = '{"properties": {"a": {"$ref": "item.json"}, "b": {"$ref": "https://x.org/item.json"}}}'
    known = JsonSchema(schema, [("item.json", '{"type": "string"}')])
    assert known.misfit(b'{"a": "x", "b": "y"}') is None
    assert known.misfit(b'{"a": 1}') is not None
    with pytest.raises(ProgramError, match=r"requires a JSON Schema; got .*other\.json"):
        JsonSchema('{"$ref": "other.json"}', [("item.json", "{}")])
    for wrong in ("{", '{"type": "text"}'):
        with pytest.raises(ProgramError, match="requires a JSON Schema"):
            JsonSchema(wrong)


def test_each_message_is_of_the_schema_that_it_has(registry: SchemaRegistry, url: str) -> None:
    """Schemas evolve: what one of them allows, another forbids."""
    good = [message(1, {"id": 1}), message(2, {"id": 2, "price": 5}), message(1, {"id": 3, "more": []})]
    assert read("json-confluent", COLUMNS, good, url=url) == [(1, None), (2, 5.0), (3, None)]
    found = read("json-confluent", COLUMNS, [*good, message(2, {"id": 4})], url=url)
    assert isinstance(found, BadMessage)
    assert (found.index, found.why) == (3, '/: "price" is a required property')
    found = read("json-confluent", COLUMNS, [good[0], message(1, {"id": 4, "price": 0}), b"{}"], url=url)
    assert isinstance(found, BadMessage)
    assert (found.index, found.why.split(":")[0]) == (1, "/price")
    assert len([path for _, path in registry.asked if path.startswith("/schemas/ids/")]) == 2


def test_the_first_bad_message_is_found(url: str) -> None:
    good, unknown, no_json, invalid = (
        message(1, {"id": 1}), message(9, {"id": 1}), b"\x00\x00\x00\x00\x01{", message(1, {}),
    )  # fmt: skip
    for bad, why in (
        (unknown, "its schema 9 is unknown"),
        (message(3, 1), "its schema 3 is one of AVRO, not of JSON"),
        (no_json, "it is no JSON"),
        (invalid, '/: "id" is a required property'),
        (b"", "it has no 5 bytes"),
    ):
        for behind in (unknown, no_json, invalid, b"{}"):
            found = read("json-confluent", COLUMNS, [good, None, bad, good, behind], url=url)
            assert isinstance(found, BadMessage)
            assert (found.index, found.message) == (2, bad)
            assert found.why.startswith(why)


def test_messages_that_are_left_out(url: str) -> None:
    lenient = decoder("json-confluent", COLUMNS, url=url, **{"ignore-parse-errors": "true"})
    given = [message(1, {}), message(1, {"id": 1}), b"\x00\x00\x00\x00\x01{", message(1, {"id": 2})]
    found = pickle.loads(pickle.dumps(lenient)).decode(messages(given))
    assert isinstance(found, Decoded)
    assert (found.rows.column(0).to_pylist(), found.places().tolist()) == ([1, 2], [1, 3])
    assert isinstance(lenient.decode(messages([message(9, {})])), BadMessage)


def test_rows_that_are_written(registry: SchemaRegistry, url: str) -> None:
    more = {"url": url, "subject": "s", "schema": ORDER}
    assert written("json-confluent", COLUMNS, ['{"id": 1, "price": 2.5}'], **more)[0] == (
        b'\x00\x00\x00\x00\x01{"id":1,"price":2.5}'
    )
    encoding = pickle.loads(pickle.dumps(encoder("json-confluent", COLUMNS, **more)))
    with pytest.raises(ConnectorError, match=r"rows that are of its JSON Schema; got .*/price: 0"):
        encoding.encode(rows_of(COLUMNS, ['{"id": 1, "price": 1}', '{"id": 1, "price": 0}']))
    unchecked = encoder("json-confluent", COLUMNS, validate="false", **more)
    assert len(unchecked.encode(rows_of(COLUMNS, ['{"id": null}']))) == 1


def test_a_number_that_json_lacks(url: str) -> None:
    """It is written as a text, which the table's own schema does not allow."""
    nan = rows_of("n DOUBLE", ['{"n": "NaN"}'])
    with pytest.raises(ConnectorError, match="NaN"):
        encoder("json-confluent", "n DOUBLE", url=url, subject="s").encode(nan)


def test_without_checks_reading_asks_nobody() -> None:
    assert read("json-confluent", COLUMNS, [message(7, {"id": 1})], url=GONE, validate="false") == [(1, None)]


def test_a_registry_that_is_away() -> None:
    with pytest.raises(ConnectorError, match="requires an answer within"):
        read("json-confluent", COLUMNS, [message(77, {"id": 1})], url=GONE, **{"retry-timeout": "10 ms"})


def test_what_is_no_schema_is_found_at_once() -> None:
    with pytest.raises(ConfigurationError, match="requires a JSON Schema as the option"):
        encoder("json-confluent", COLUMNS, url=GONE, subject="s", schema='{"type": "text"}')


def test_values_of_streams(registry: SchemaRegistry, url: str) -> None:
    writing = ConfluentJsonSerializationSchema(url, "orders-value", ORDER)
    reading = ConfluentJsonDeserializationSchema(url)
    value = {"id": 7, "price": 1.5, "tags": ["a", None]}
    found = pickle.loads(pickle.dumps(writing)).serialize(value)
    assert found == b'\x00\x00\x00\x00\x01{"id":7,"price":1.5,"tags":["a",null]}'
    assert pickle.loads(pickle.dumps(reading)).deserialize(found) == value
    assert (writing.serialize(None), reading.deserialize(None)) == (None, None)
    assert reading.get_produced_type() == Types.PICKLED_BYTE_ARRAY()
    with pytest.raises(TypeMismatchError, match=r"of its schema; got .*/price: -1"):
        writing.serialize({"id": 1, "price": -1})
    for bad, why in (
        (message(2, {"id": 1}), '"price" is a required property'),
        (message(9, {}), "its schema 9 is unknown"),
        (message(3, 1), "is one of AVRO"),
        (b"{}", "requires a message with a zero"),
        (b"\x00\x00\x00\x00\x01{", "it is no JSON"),
    ):
        with pytest.raises(TypeMismatchError, match=why):
            reading.deserialize(bad)


def test_rows_of_streams(url: str) -> None:
    writing = ConfluentJsonSerializationSchema(RegistrySettings((url,)), "orders-value", ORDER, ROW)
    reading = ConfluentJsonDeserializationSchema(url, ROW)
    found = writing.serialize(Row(7, 1.5))
    assert reading.deserialize(found) == Row(id=7, price=1.5)
    assert reading.get_produced_type() == ROW
    assert reading.deserialize(message(1, {"id": 8, "more": 1})) == Row(id=8, price=None)


def test_streams_without_checks(url: str) -> None:
    reading = ConfluentJsonDeserializationSchema(GONE, validate=False)
    assert reading.deserialize(message(99, [1])) == [1]
    with pytest.raises(TypeMismatchError):
        reading.deserialize(b"\x00\x00\x00\x00\x01{")
    writing = ConfluentJsonSerializationSchema(url, "s", ORDER, validate=False)
    assert writing.serialize({"price": -1})[5:] == b'{"price":-1}'  # type: ignore[index]


def test_a_schema_that_must_be_there(registry: SchemaRegistry, url: str) -> None:
    writing = ConfluentJsonSerializationSchema(url, "orders-value", ORDER, register=False)
    with pytest.raises(ConnectorError, match="requires a request that the registry accepts"):
        writing.serialize({"id": 1})
    registry.register("orders-value", ORDER, "JSON")
    assert ConfluentJsonSerializationSchema(url, "orders-value", ORDER, register=False).serialize({"id": 1})
    with pytest.raises(ProgramError, match="requires a JSON Schema"):
        ConfluentJsonSerializationSchema(url, "s", "{")


def test_a_registry_that_is_away_is_no_bad_message() -> None:
    reading = ConfluentJsonDeserializationSchema(RegistrySettings((GONE,), patience_ms=10))
    with pytest.raises(ConnectorError, match="requires an answer within"):
        reading.deserialize(message(78, {}))
