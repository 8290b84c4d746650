"""Messages of Protocol Buffers in streams, alone and behind the ids of their schemas."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    UninterpretedOption,
)
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.wrappers_pb2 import BoolValue, DoubleValue, StringValue

from firesteel.common.errors import ConnectorError, ProgramError, TypeMismatchError, UnsupportedError
from firesteel.connectors.tables.formats.protobuf.definitions import message_class
from firesteel.datastream.formats.confluent import (
    ConfluentProtobufDeserializationSchema,
    ConfluentProtobufSerializationSchema,
    RegistrySettings,
)
from firesteel.datastream.formats.protobuf import ProtobufDeserializationSchema, ProtobufSerializationSchema
from harness.registry import SchemaRegistry

ID = b"\x00\x00\x00\x00\x01"
NAME_PART = UninterpretedOption.NamePart
"""A message within another one, whose fields must be there."""


@pytest.fixture
def registry() -> SchemaRegistry:
    return SchemaRegistry()


@pytest.fixture
def url(registry: SchemaRegistry) -> Iterator[str]:
    with registry.serving() as address:
        yield address


def again(schema: Any) -> Any:
    """What a worker has of a schema."""
    return pickle.loads(pickle.dumps(schema))


def test_messages_make_a_round_trip() -> None:
    writing, reading = (
        again(ProtobufSerializationSchema(Timestamp)),
        again(ProtobufDeserializationSchema(Timestamp)),
    )
    message = writing.serialize(Timestamp(seconds=7))
    assert message == b"\x08\x07"
    assert reading.deserialize(message) == Timestamp(seconds=7)
    assert again(reading.deserialize(message)) == Timestamp(seconds=7)
    assert (writing.serialize(None), reading.deserialize(None)) == (None, None)


@pytest.mark.parametrize("bad", [b"\x08", b"\xff\xff", b"\x12"])
def test_bytes_that_are_no_message(bad: bytes) -> None:
    with pytest.raises(TypeMismatchError, match=r"requires a message google\.protobuf\.Timestamp; got b'"):
        ProtobufDeserializationSchema(Timestamp).deserialize(bad)


def test_fields_that_must_be_there() -> None:
    with pytest.raises(TypeMismatchError, match="it has no is_extension"):
        ProtobufDeserializationSchema(NAME_PART).deserialize(
            NAME_PART(name_part="a").SerializePartialToString()
        )
    with pytest.raises(TypeMismatchError, match="without name_part, is_extension"):
        ProtobufSerializationSchema(NAME_PART).serialize(NAME_PART())


@pytest.mark.parametrize("value", [StringValue(value="a"), {"seconds": 7}, 7])
def test_other_values(value: Any) -> None:
    with pytest.raises(TypeMismatchError, match=r"requires a message google\.protobuf\.Timestamp"):
        ProtobufSerializationSchema(Timestamp).serialize(value)


@pytest.mark.parametrize("given", ["shop_pb2.Order", Timestamp(), int, None])
def test_what_is_no_class_of_messages(given: Any) -> None:
    for made in (
        lambda: ProtobufSerializationSchema(given),
        lambda: ConfluentProtobufDeserializationSchema(given),
        lambda: ConfluentProtobufSerializationSchema("http://a", "s", given),
    ):
        with pytest.raises(ProgramError, match="requires a class of messages"):
            made()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (Timestamp(seconds=7), b"\x00"),
        (BoolValue(value=True), b"\x02\x0c"),
        (NAME_PART(name_part="a", is_extension=True), None),
        (DescriptorProto.ExtensionRange(start=7), b"\x04\x04\x00"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_messages_are_behind_the_id_and_their_path(
    registry: SchemaRegistry, url: str, message: Any, path: bytes | None
) -> None:
    writing = again(ConfluentProtobufSerializationSchema(url, "orders-value", type(message)))
    found = writing.serialize(message)
    data = message.SerializeToString(deterministic=True)
    assert found.startswith(ID)
    assert found.endswith(data)
    if path is not None:
        assert found == ID + path + data
    assert again(ConfluentProtobufDeserializationSchema(type(message))).deserialize(found) == message
    assert registry.answer("GET", "/schemas/ids/1", None)["schemaType"] == "PROTOBUF"
    schema = FileDescriptorProto.FromString(base64.b64decode(registry.text(1)))
    assert schema.name == message.DESCRIPTOR.file.name


def test_the_first_message_of_a_file_may_have_its_path_in_full() -> None:
    reading = ConfluentProtobufDeserializationSchema(Timestamp)
    assert reading.deserialize(ID + b"\x02\x00\x08\x07") == Timestamp(seconds=7)
    assert reading.deserialize(None) is None


def test_another_message_of_the_file() -> None:
    """DoubleValue comes first there; its bytes would be read as a float without a complaint."""
    with pytest.raises(TypeMismatchError, match=r"requires the message of its file that .*\.BoolValue is"):
        ConfluentProtobufDeserializationSchema(BoolValue).deserialize(
            ID + b"\x00" + DoubleValue().SerializeToString()
        )
    for short in (b"", ID[:3], b"\x01" + ID[1:] + b"\x00"):
        with pytest.raises(TypeMismatchError, match="requires a message with a zero"):
            ConfluentProtobufDeserializationSchema(Timestamp).deserialize(short)


def test_a_schema_that_is_not_there_and_may_not_be_registered(url: str) -> None:
    settings = RegistrySettings((url,))
    with pytest.raises(ConnectorError, match="requires a request that the registry accepts"):
        ConfluentProtobufSerializationSchema(settings, "s", Timestamp, register=False).serialize(Timestamp())
    assert (
        ConfluentProtobufSerializationSchema(settings, "s", Timestamp, register=False).serialize(None) is None
    )


def test_a_definition_that_imports_another_is_read_and_not_registered() -> None:
    other = FileDescriptorProto(name="other.proto", message_type=[DescriptorProto(name="Other")])
    file = FileDescriptorProto(
        name="shop.proto", dependency=["other.proto"], message_type=[DescriptorProto(name="Order")]
    )
    order = message_class(FileDescriptorSet(file=[other, file]).SerializeToString(), "Order")
    assert ConfluentProtobufDeserializationSchema(order).deserialize(ID + b"\x00") == order()
    with pytest.raises(UnsupportedError, match=r"imports another file; got other\.proto"):
        ConfluentProtobufSerializationSchema("http://a", "s", order)
