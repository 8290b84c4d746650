"""Messages of Protocol Buffers with a schema registry: the text of a schema, and which message of its file one is.

Behind the id of the schema is how many numbers follow, then the place of the message in its file, of the one within
that, and so on, as Avro writes whole numbers. A single 0 stands for the first message of a file.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from firesteel.common.errors import UnsupportedError
from firesteel.connectors.files.avro_container import long

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

PROTOBUF: Final = "PROTOBUF"
"""The kind of these schemas."""

_KNOWN: Final = "google/protobuf/"
"""Where the definitions are that every registry has."""

Path = tuple[int, ...]
"""The places of a message and of those around it, the outermost first."""


def registered_text(message: Descriptor) -> str:
    """Return the schema of a message's file as a registry takes it.

    Raises UnsupportedError if the file imports others, except Google's own.
    """
    for other in message.file.dependencies:
        if not other.name.startswith(_KNOWN):
            raise UnsupportedError(
                "is not supported: its definition imports another file",
                who=f"the message {message.full_name} in what is written with a schema registry",
                got=other.name,
            )
    return base64.b64encode(message.file.serialized_pb).decode()


def message_path(message: Descriptor) -> Path:
    """Return the path of a message.

    >>> from google.protobuf.timestamp_pb2 import Timestamp
    >>> message_path(Timestamp.DESCRIPTOR)
    (0,)
    """
    outer = message.containing_type
    if outer is None:
        return ([*message.file.message_types_by_name].index(message.name),)
    # What a map consists of is a message, too, which no text of a definition has.
    declared = [inner.name for inner in outer.nested_types if not inner.GetOptions().map_entry]
    return (*message_path(outer), declared.index(message.name))


def written_path(path: Path) -> bytes:
    """Return a path as it is written.

    >>> written_path((0,)), written_path((1, 0))
    (b'\\x00', b'\\x04\\x02\\x00')
    """
    return long(0) if path == (0,) else _in_full(path)


def behind_path(data: bytes, path: Path) -> bytes | None:
    """Return what is behind the path, None if data begin with another one.

    >>> behind_path(b"\\x04\\x02\\x00rest", (1, 0)), behind_path(b"\\x00rest", (0,)), behind_path(b"\\x00rest", (1,))
    (b'rest', b'rest', None)
    """
    for form in {written_path(path), _in_full(path)}:
        if data.startswith(form):
            return data[len(form) :]
    return None


def _in_full(path: Path) -> bytes:
    return b"".join(map(long, (len(path), *path)))
