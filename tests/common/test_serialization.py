from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

import pytest

from firesteel.common import ByteArraySchema, Encoder, Row, SimpleStringSchema, Types, TypeSerializer
from firesteel.common.errors import ConfigurationError, TypeMismatchError, UnsupportedError
from firesteel.common.serialization import BulkWriterFactory, RowFieldExtractorSchema
from firesteel.common.serializer import VoidNamespaceSerializer


def test_text() -> None:
    schema = pickle.loads(pickle.dumps(SimpleStringSchema()))
    assert schema.deserialize(schema.serialize("ä☃")) == "ä☃"
    assert SimpleStringSchema("latin-1").serialize("ä☃") == b"\xe4?"
    assert SimpleStringSchema().deserialize(b"\xff") == "\N{REPLACEMENT CHARACTER}"
    assert SimpleStringSchema().get_produced_type() == Types.STRING()


def test_bytes() -> None:
    assert ByteArraySchema().deserialize(ByteArraySchema().serialize(bytearray(b"ab"))) == b"ab"
    assert ByteArraySchema().get_produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())
    assert RowFieldExtractorSchema(0).serialize(Row(b"k", b"v")) == b"k"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (SimpleStringSchema(), 5),
        (ByteArraySchema(), "ab"),
        (RowFieldExtractorSchema(0), Row("text")),
        (RowFieldExtractorSchema(2), Row(b"k")),
        (RowFieldExtractorSchema(0), (b"k",)),
    ],
)
def test_other_values_are_refused(schema: Any, value: Any) -> None:
    with pytest.raises(TypeMismatchError):
        schema.serialize(value)


def test_the_encoder_writes_lines() -> None:
    encoder = Encoder.simple_string_encoder()
    assert encoder.encode("a") == b"a\n"
    assert encoder.encode(1e10, Types.DOUBLE()) == b"1.0E10\n"
    assert encoder.encode(Row("a", 1), Types.ROW([Types.STRING(), Types.INT()])) == b"+I[a, 1]\n"
    assert Encoder.simple_string_encoder("latin-1").charset_name == "iso8859-1"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="requires a charset"):
        SimpleStringSchema("utf-99")
    with pytest.raises(ConfigurationError, match="requires a charset"):
        Encoder.simple_string_encoder("utf-99")
    with pytest.raises(ValueError, match="non-negative"):
        RowFieldExtractorSchema(-1)
    with pytest.raises(UnsupportedError, match="no JVM object behind it"):
        BulkWriterFactory()


def test_serializers() -> None:
    class Text(TypeSerializer[str]):
        def serialize(self, element: str, stream: BytesIO) -> None:
            stream.write(element.encode())

        def deserialize(self, stream: BytesIO) -> str:
            return stream.read().decode()

    stream = BytesIO()
    Text().serialize("a", stream)
    stream.seek(0)
    assert Text().deserialize(stream) == "a"
    assert Text() == Text()
    assert repr(Text()) == "Text()"
    void = VoidNamespaceSerializer()
    void.serialize(b"x", stream)
    assert void.deserialize(stream) == b""
    assert Text() != void
    assert len({Text(), Text(), void}) == 2
