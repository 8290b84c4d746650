"""JSON and Protocol Buffers behind ids of schemas, as Confluent's serialisers write them."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.connectors.tables.messages.message_format import BadMessage, Decoded
from harness.registry import SchemaRegistry
from tests.connectors.messages import decoder, encoder, messages, read, row_type, rows_of, written

DESCRIPTORS = str(Path(__file__).parent / "tables" / "flink" / "shop.desc")
ITEM = {"descriptor-file": DESCRIPTORS, "message-name": "shop.Item"}
INNER = {"descriptor-file": DESCRIPTORS, "message-name": "old_shop.Thing.Inner"}
COLUMNS = "id BIGINT NOT NULL, name STRING, tags ARRAY<STRING NOT NULL>, at TIMESTAMP(3)"


@pytest.fixture
def registry() -> SchemaRegistry:
    return SchemaRegistry()


@pytest.fixture
def url(registry: SchemaRegistry) -> Iterator[str]:
    with registry.serving() as address:
        yield address


def test_json_has_the_id_of_its_schema(registry: SchemaRegistry, url: str) -> None:
    rows = ['{"id": 1, "name": "x", "tags": ["a"], "at": "2020-01-02 03:04:05"}', '{"id": 2}']
    found = written("json-confluent", COLUMNS, rows, url=url, subject="s")
    assert found[0] == b'\x00\x00\x00\x00\x01{"id":1,"name":"x","tags":["a"],"at":"2020-01-02 03:04:05"}'
    schema = json.loads(registry.text(1))
    assert schema["required"] == ["id"]
    assert schema["properties"]["tags"]["oneOf"][1] == {"type": "array", "items": {"type": "string"}}
    values = read("json-confluent", COLUMNS, found, url=url)
    assert isinstance(values, list)
    assert [value[:3] for value in values] == [(1, "x", ["a"]), (2, None, None)]


def test_json_schemas_may_be_given(registry: SchemaRegistry, url: str) -> None:
    given = '{"type": "object"}'
    encoding = encoder("json-confluent", "n INT", url=url, subject="s", schema=given)
    pickle.loads(pickle.dumps(encoding)).encode(rows_of("n INT", ['{"n": 1}']))
    assert registry.text(1) == given
    with pytest.raises(ConfigurationError, match="a JSON Schema"):
        encoder("json-confluent", "n INT", url=url, subject="s", schema="{")


def test_a_message_without_a_header_is_bad(registry: SchemaRegistry, url: str) -> None:
    registry.keep(1, "{}", "JSON")
    head = b"\x00\x00\x00\x00\x01"
    values = [head + b'{"n": 1}', None, head + b'{"n": x}', b'{"n": 1}']
    found = decoder("json-confluent", "n INT", url=url).decode(messages(values))
    assert isinstance(found, BadMessage)
    assert (found.index, found.message) == (2, values[2])
    found = decoder("json-confluent", "n INT", url=url).decode(messages(values[:2] + values[3:]))
    assert isinstance(found, BadMessage)
    assert (found.index, found.why) == (2, "it begins with 123, and not with 0")
    lenient = decoder("json-confluent", "n INT", url=url, **{"ignore-parse-errors": "true"})
    found = lenient.decode(messages(values[:3]))
    assert isinstance(found, Decoded)
    assert found.places().tolist() == [0]


def test_the_first_message_of_a_file_has_a_single_zero(registry: SchemaRegistry, url: str) -> None:
    rows = ['{"name": "x", "count": 3}']
    found = written("protobuf-confluent", "name STRING, `count` INT", rows, url=url, subject="s", **ITEM)
    assert found == [b"\x00\x00\x00\x00\x01\x00\x0a\x01x\x10\x03"]
    assert b"shop.proto" in base64.b64decode(registry.text(1))
    assert read("protobuf-confluent", "`count` INT", found, url=url, **ITEM) == [(3,)]
    spelled = [b"\x00\x00\x00\x00\x01\x02\x00\x10\x03", found[0]]
    assert read("protobuf-confluent", "`count` INT", spelled, url=url, **ITEM) == [(3,), (3,)]


def test_a_message_within_another_has_its_path(url: str) -> None:
    found = written("protobuf-confluent", "yes BOOLEAN", ['{"yes": false}'], url=url, subject="s", **INNER)
    assert found == [b"\x00\x00\x00\x00\x01\x04\x00\x00\x08\x00"]
    assert read("protobuf-confluent", "yes BOOLEAN", found, url=url, **INNER) == [(False,)]


@pytest.mark.parametrize("path", [b"\x02\x02", b"\x04\x00\x00", b"\x02", b""])
def test_another_message_of_the_file_is_bad(path: bytes, url: str) -> None:
    head = b"\x00\x00\x00\x00\x01"
    good = head + b"\x00\x10\x03"
    found = decoder("protobuf-confluent", "`count` INT", url=url, **ITEM).decode(
        messages([good, None, head + path])
    )
    assert isinstance(found, BadMessage)
    assert found.index == 2
    assert "another message of its file than shop.Item" in found.why


def test_a_class_of_python_is_a_definition() -> None:
    options = {"message-class-name": "google.protobuf.timestamp_pb2.Timestamp"}
    columns = "seconds BIGINT, nanos INT"
    found = written("protobuf", columns, ['{"seconds": 5, "nanos": -1}'], **options)
    assert read("protobuf", columns, found, **options) == [(5, -1)]
    reading = pickle.loads(pickle.dumps(decoder("protobuf", columns, **options)))
    assert reading.decode(messages(found)).rows.to_pylist() == [{"seconds": 5, "nanos": -1}]


def test_maps_by_numbers() -> None:
    columns = "by_number MAP<INT NOT NULL, ROW<name STRING>>"
    options = {"descriptor-file": DESCRIPTORS, "message-name": "shop.Order"}
    batch = pa.RecordBatch.from_pylist(
        [{"by_number": [(3, {"name": "x"}), (-1, None)]}], schema=_schema(columns)
    )
    found = encoder("protobuf", columns, **options).encode(batch).to_pylist()
    rows = read("protobuf", columns, found, **options)
    assert isinstance(rows, list)
    assert dict(rows[0][0]) == {3: {"name": "x"}, -1: {"name": ""}}


def _schema(columns: str) -> pa.Schema:
    from firesteel.common.logical_types.arrow import to_arrow_schema

    return to_arrow_schema(row_type(columns))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "requires either the option 'protobuf.message-class-name'"),
        ({"message-class-name": "a_pb2.B", "descriptor-file": "x"}, "requires either the option"),
        ({"descriptor-file": "x"}, "requires either the option"),
        ({"message-class-name": "none_pb2.B"}, "'protobuf.message-class-name'"),
        ({"message-class-name": "google.protobuf.timestamp_pb2.Other"}, "Other"),
        ({"descriptor-file": __file__, "message-name": "x"}, "'protobuf.descriptor-file'"),
        ({"descriptor-file": "/nowhere", "message-name": "x"}, "'protobuf.descriptor-file'"),
        ({"descriptor-file": DESCRIPTORS, "message-name": "shop.Other"}, "'protobuf.message-name'"),
    ],
)
def test_definitions_that_are_not_there(options: dict[str, str], message: str) -> None:
    with pytest.raises((ConfigurationError, UnsupportedError), match=message):
        decoder("protobuf", "seconds BIGINT", **options)
