"""Where the definition of a message comes from: a class that protoc has generated, or a file of descriptors."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ConfigurationError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FileDescriptor
    from google.protobuf.message import Message


def require_protobuf(who: str) -> None:
    """Raise ConfigurationError, with the command to run, if protobuf is not installed."""
    if importlib.util.find_spec("google") is None or importlib.util.find_spec("google.protobuf") is None:
        raise ConfigurationError(
            "requires protobuf, which is not installed", who=who, hint='pip install "firesteel[protobuf]"'
        )


def of_class(name: str) -> tuple[bytes, str]:
    """Return the descriptors and the full name of the message of a class such as 'shop_pb2.Order' (driver).

    Raises ValueError for a name that is no class of a message.

    >>> of_class("google.protobuf.timestamp_pb2.Timestamp")[1]
    'google.protobuf.Timestamp'
    """
    module, _, inner = name.partition("_pb2.")
    try:
        found: Any = importlib.import_module(f"{module}_pb2")
        for part in inner.split("."):
            found = getattr(found, part)
        descriptor = found.DESCRIPTOR
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name}: {error}") from error
    return _with_imports(descriptor.file), descriptor.full_name


def _with_imports(file: FileDescriptor) -> bytes:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    found = FileDescriptorSet()
    known: set[str] = set()

    def add(one: FileDescriptor) -> None:
        if one.name in known:
            return
        known.add(one.name)
        for other in one.dependencies:
            add(other)
        one.CopyToProto(found.file.add())

    add(file)
    data: bytes = found.SerializeToString(deterministic=True)
    return data


def of_file(path: str) -> bytes:
    """Return the descriptors in a file (driver). Raises ValueError for a file that has none."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    try:
        data = Path(path).read_bytes()
        FileDescriptorSet.FromString(data)
    except (OSError, DecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    return data


@lru_cache(256)
def message_class(descriptors: bytes, name: str) -> type[Message]:
    """Return the class of a message by its full name. Raises ValueError for a name that is not among them."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    try:
        for file in FileDescriptorSet.FromString(descriptors).file:
            pool.Add(file)
        found: type[Message] = GetMessageClass(pool.FindMessageTypeByName(name))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from error
    return found


def parser(message: type[Message]) -> Callable[[bytes | None], Message]:
    """Return what parses a message; it raises ValueError for bytes, or none at all, that are no such message."""
    from google.protobuf.message import DecodeError

    read: Callable[[bytes], Message] = message.FromString
    demands = _demands(message.DESCRIPTOR, set())

    def parse(data: bytes | None) -> Message:
        if data is None:
            raise ValueError("it has no value")
        try:
            found = read(data)
        except DecodeError as error:
            raise ValueError(str(error)) from error
        # The parser takes a message that lacks what it must have.
        if demands and not found.IsInitialized():
            raise ValueError(f"it has no {', '.join(found.FindInitializationErrors())}")
        return found

    return parse


def _demands(message: Descriptor, seen: set[str]) -> bool:
    """Return whether a message, or one in it, has fields that must be there."""
    if message.full_name in seen:
        return False
    seen.add(message.full_name)
    return any(
        field.is_required or (field.message_type is not None and _demands(field.message_type, seen))
        for field in message.fields
    )
