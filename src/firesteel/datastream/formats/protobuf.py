"""Messages of Protocol Buffers, by classes that protoc has generated. PyFlink has none of these classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.serialization import DeserializationSchema, SerializationSchema
from firesteel.connectors.tables.formats.protobuf.definitions import parser, require_protobuf

if TYPE_CHECKING:
    from google.protobuf.message import Message

__all__ = ["ProtobufDeserializationSchema", "ProtobufSerializationSchema"]

_WHO: Final = "Protocol Buffers"
_SHOWN: Final = 200


class ProtobufDeserializationSchema(DeserializationSchema):
    """Reads messages of a class that protoc has generated, such as `shop_pb2.Order`; values are its instances.

    Workers import the module of the class. Bytes that are no such message, or lack a field that it must have, raise
    TypeMismatchError. A message without a value has none. Raises ProgramError for what is no such class.

    >>> from google.protobuf.wrappers_pb2 import StringValue
    >>> ProtobufDeserializationSchema(StringValue).deserialize(b"\\n\\x03tea").value
    'tea'
    """

    def __init__(self, message_class: type[Message]) -> None:
        self._class = checked_class(message_class, type(self).__name__)
        self._parse: Callable[[bytes | None], Message] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parse": None}

    def deserialize(self, message: bytes | None) -> Any:
        """Return the instance of a message."""
        if message is None:
            return None
        if self._parse is None:
            self._parse = parser(self._class)
        try:
            return self._parse(message)
        except ValueError as error:
            raise TypeMismatchError(
                f"requires a message {self._class.DESCRIPTOR.full_name}",
                who=_WHO,
                got=f"{message[:_SHOWN]!r} ({error})",
            ) from error


class ProtobufSerializationSchema(SerializationSchema):
    """Writes instances of a class that protoc has generated.

    Other values, and instances without a field that they must have, raise TypeMismatchError. None has no message.
    Raises ProgramError for what is no such class.

    >>> from google.protobuf.wrappers_pb2 import StringValue
    >>> ProtobufSerializationSchema(StringValue).serialize(StringValue(value="tea"))
    b'\\n\\x03tea'
    """

    def __init__(self, message_class: type[Message]) -> None:
        self._class = checked_class(message_class, type(self).__name__)

    def serialize(self, value: Any) -> bytes | None:  # type: ignore[override] # None is a tombstone
        """Return the message of an instance; maps are in the order of their keys."""
        if value is None:
            return None
        missing = value.FindInitializationErrors() if isinstance(value, self._class) else None
        if missing != []:
            raise TypeMismatchError(
                f"requires a message {self._class.DESCRIPTOR.full_name} with all that it must have",
                who=_WHO,
                got=f"{type(value).__name__}: {value!r:.{_SHOWN}}"
                + (f" without {', '.join(missing)}" if missing else ""),
            )
        data: bytes = value.SerializeToString(deterministic=True)
        return data


def checked_class(given: Any, who: str) -> type[Message]:
    """Return a class of messages. Raises ProgramError for anything else, ConfigurationError without protobuf."""
    require_protobuf(who)
    from google.protobuf.message import Message

    if isinstance(given, type) and issubclass(given, Message) and given is not Message:
        return given
    raise ProgramError(
        "requires a class of messages",
        who=who,
        got=repr(given),
        hint="one that protoc has generated, such as shop_pb2.Order",
    )
