"""The base class of your own serialisers of namespaces or values (PyFlink: pyflink.common.serializer)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Generic, TypeVar

__all__ = ["TypeSerializer", "VoidNamespaceSerializer", "void"]

T = TypeVar("T")

void = b""


class TypeSerializer(ABC, Generic[T]):
    """Writes values to a stream of bytes and reads them back.

    Contract: `deserialize` reads exactly the bytes that `serialize` wrote. Two are equal if class and attributes are.
    """

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO) -> None:
        """Write an element."""

    @abstractmethod
    def deserialize(self, stream: BytesIO) -> T:
        """Read and return an element."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class VoidNamespaceSerializer(TypeSerializer[bytes]):
    """Writes nothing and reads nothing: the serialiser if there are no namespaces."""

    def serialize(self, element: bytes, stream: BytesIO) -> None:
        """Write nothing."""

    def deserialize(self, stream: BytesIO) -> bytes:
        """Return the empty bytes, without reading."""
        del stream
        return void
