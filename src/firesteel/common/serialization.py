"""Schemas with which connectors turn values into bytes and back (Flink: org.apache.flink.api.common.serialization)."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from typing import Any

from firesteel.common.errors import ConfigurationError, TypeMismatchError, UnsupportedError
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.common.types import Row

__all__ = [
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]


class SerializationSchema(ABC):
    """Turns a value into a message's bytes; derive from it and define `serialize`."""

    @abstractmethod
    def serialize(self, value: Any) -> bytes:
        """Return the value as bytes."""


class DeserializationSchema(ABC):
    """Turns a message's bytes into a value; derive and define `deserialize`, and `get_produced_type` if typed."""

    @property
    def makes_exact_values(self) -> bool:
        """Return whether values are new objects that are of the type to the letter; then none is converted to it."""
        return False

    @abstractmethod
    def deserialize(self, message: bytes) -> Any:
        """Return the value of a message, None to leave the message out."""

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the values."""
        return Types.PICKLED_BYTE_ARRAY()


def _charset(name: str, who: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise ConfigurationError(
            "requires a charset Python knows", who=who, got=repr(name), hint="such as 'UTF-8'"
        ) from None


class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Texts as their bytes in a charset; characters that the charset lacks become `?` or U+FFFD, as in Java.

    Raises ConfigurationError for an unknown charset.

    >>> SimpleStringSchema().serialize("ä"), SimpleStringSchema("latin-1").deserialize(bytes([228]))
    (b'\\xc3\\xa4', 'ä')
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        self._charset = _charset(charset, "SimpleStringSchema")

    def serialize(self, value: str) -> bytes:
        """Return the text as bytes. Raises TypeMismatchError for anything else."""
        if not isinstance(value, str):
            raise TypeMismatchError(
                "requires a text", who="SimpleStringSchema", got=f"{type(value).__name__}: {value!r}"
            )
        return value.encode(self._charset, "replace")

    @property
    def makes_exact_values(self) -> bool:
        """Return True, unless a subclass makes the values."""
        return type(self).deserialize is SimpleStringSchema.deserialize

    def deserialize(self, message: bytes) -> str:
        """Return the bytes as text."""
        return message.decode(self._charset, "replace")

    def get_produced_type(self) -> TypeInformation:
        """Return STRING."""
        return Types.STRING()


class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Bytes, unchanged.

    >>> ByteArraySchema().serialize(bytearray(b"ab"))
    b'ab'
    """

    def serialize(self, value: bytes) -> bytes:
        """Return the bytes. Raises TypeMismatchError for anything else."""
        return _as_bytes(value, "ByteArraySchema")

    def deserialize(self, message: bytes) -> bytes:
        """Return the bytes."""
        return message

    def get_produced_type(self) -> TypeInformation:
        """Return the type of an array of BYTE."""
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class RowFieldExtractorSchema(SerializationSchema):
    """One field of a row, which must hold bytes or None. Raises ValueError for a negative position.

    Schemas of the same field are equal.

    >>> RowFieldExtractorSchema(1).serialize(Row(b"key", b"value"))
    b'value'
    """

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"Field index must be non-negative, got: {field_index}")
        self._field_index = field_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowFieldExtractorSchema) and other._field_index == self._field_index

    def __hash__(self) -> int:
        return hash((RowFieldExtractorSchema, self._field_index))

    def serialize(self, value: Row | None) -> bytes:
        """Return the field's bytes; empty if the row or the field is None.

        Raises TypeMismatchError if the field is not bytes, or the row lacks it.
        """
        if value is None:
            return b""
        who = f"RowFieldExtractorSchema({self._field_index})"
        if not isinstance(value, Row) or len(value) <= self._field_index:
            raise TypeMismatchError(
                f"requires a Row with a field {self._field_index}",
                who=who,
                got=f"{type(value).__name__}: {value!r}",
            )
        field = value[self._field_index]
        return b"" if field is None else _as_bytes(field, who)


def _as_bytes(value: Any, who: str) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeMismatchError("requires bytes", who=who, got=f"{type(value).__name__}: {value!r}")


class Encoder:
    """How a row-wise file sink writes elements: `charset_name` is the charset of their text.

    >>> Encoder.simple_string_encoder().encode((1, "a"), Types.TUPLE([Types.INT(), Types.STRING()]))
    b'(1,a)\\n'
    """

    def __init__(self, charset_name: str) -> None:
        self.charset_name = _charset(charset_name, "Encoder.simple_string_encoder")

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """Return an encoder that writes each element's text and a newline.

        Raises ConfigurationError for an unknown charset.
        """
        return Encoder(charset_name)

    def encode(self, value: Any, type_info: TypeInformation | None = None) -> bytes:
        """Return the element's text as bytes, as Flink shows a value of this type, with a newline."""
        text = str(value) if type_info is None else type_info.to_string(value)
        return text.encode(self.charset_name, "replace") + b"\n"


class BulkWriterFactory:
    """PyFlink's wrapper of a bulk format written in Java; the constructor raises UnsupportedError."""

    def __init__(self, j_bulk_writer_factory: Any = None) -> None:
        del j_bulk_writer_factory
        raise UnsupportedError(
            "is not available",
            who=type(self).__name__,
            got="no JVM object behind it",
            hint="use a Firesteel format",
        )
