"""Decoders of typed JSON and msgpack, made once each and shared by threads.

Use these instead of `msgspec.json.decode(data, type=kind)`. Of a struct, msgspec (0.22) keeps the description of the
fields at the type, and puts it there before the fields that are structs themselves are described, so that types may
refer to themselves. A second thread that decodes the same type for the first time meanwhile follows a null pointer,
which ends the process. Here one thread at a time makes decoders; a decoder itself may be used by many.

    >>> json_decoder(dict[str, int]).decode(b'{"a": 1}')
    {'a': 1}
    >>> json_decoder(int, strict=False).decode(b'"1"')
    1
"""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

_one_at_a_time: Final = threading.Lock()
_of_json: Final[dict[tuple[object, bool], msgspec.json.Decoder[Any]]] = {}
_of_msgpack: Final[dict[object, msgspec.msgpack.Decoder[Any]]] = {}


def json_decoder(kind: type[T], *, strict: bool = True) -> msgspec.json.Decoder[T]:
    """Return the decoder of JSON for a type, the same one each time; one that is not strict takes "1" for 1."""
    with _one_at_a_time:
        if (kind, strict) not in _of_json:
            _of_json[kind, strict] = msgspec.json.Decoder(kind, strict=strict)
        return _of_json[kind, strict]


def msgpack_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """Return the decoder of msgpack for a type, the same one each time."""
    with _one_at_a_time:
        if kind not in _of_msgpack:
            _of_msgpack[kind] = msgspec.msgpack.Decoder(kind)
        return _of_msgpack[kind]
