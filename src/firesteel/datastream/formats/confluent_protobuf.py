"""Messages of Protocol Buffers behind the ids of their schemas, in Confluent's wire format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firesteel.common.errors import TypeMismatchError
from firesteel.common.serialization import DeserializationSchema, SerializationSchema
from firesteel.connectors.schema_registry.client import registered_id
from firesteel.connectors.schema_registry.settings import RegistrySettings, registry_settings
from firesteel.connectors.schema_registry.wire_format import header_of, split_header
from firesteel.connectors.tables.formats.protobuf.registered import (
    PROTOBUF,
    behind_path,
    message_path,
    registered_text,
    written_path,
)
from firesteel.datastream.formats.protobuf import ProtobufDeserializationSchema, ProtobufSerializationSchema

if TYPE_CHECKING:
    from google.protobuf.message import Message

_SHOWN: Final = 200


class ConfluentProtobufDeserializationSchema(DeserializationSchema):
    """Reads messages of a class that protoc has generated, such as `shop_pb2.Order`; values are its instances.

    The registry is not asked: fields have numbers, so that the class reads what earlier and later ones have written. A
    message that is another one of its file, or cannot be read, raises TypeMismatchError. A message without a value has
    none. Raises ProgramError for what is no such class.
    """

    def __init__(self, message_class: type[Message]) -> None:
        self._messages = ProtobufDeserializationSchema(message_class)
        self._name = message_class.DESCRIPTOR.full_name
        self._path = message_path(message_class.DESCRIPTOR)

    def deserialize(self, message: bytes | None) -> Any:
        """Return the instance of a message."""
        if message is None:
            return None
        data = behind_path(split_header(message)[1], self._path)
        if data is None:
            raise TypeMismatchError(
                f"requires the message of its file that {self._name} is",
                who="Protocol Buffers",
                got=repr(message[:_SHOWN]),
            )
        return self._messages.deserialize(data)


class ConfluentProtobufSerializationSchema(SerializationSchema):
    """Writes instances of a class that protoc has generated, behind the id of its file's schema.

    The schema is registered under `subject` with the first message, unless `register` is False: then it must be there.
    For Kafka the subject is by convention the topic with `-value` or `-key`. A value that is no such instance raises
    TypeMismatchError. Raises ProgramError for what is no such class, UnsupportedError for one whose file imports
    others than Google's own. None has no message.
    """

    def __init__(
        self,
        registry: str | RegistrySettings,
        subject: str,
        message_class: type[Message],
        *,
        register: bool = True,
    ) -> None:
        self._messages = ProtobufSerializationSchema(message_class)
        self._settings = registry_settings(registry)
        self._subject = subject
        self._register = register
        self._schema = registered_text(message_class.DESCRIPTOR)
        self._path = written_path(message_path(message_class.DESCRIPTOR))

    def serialize(self, value: Any) -> bytes | None:  # type: ignore[override] # None is a tombstone
        """Return the message of an instance."""
        data = self._messages.serialize(value)
        if data is None:
            return None
        number = registered_id(self._settings, self._subject, self._schema, PROTOBUF, register=self._register)
        return header_of(number) + self._path + data
