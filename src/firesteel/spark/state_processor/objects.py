"""Objects without a declared type, and their stored bytes."""

from __future__ import annotations

from typing import Any

from firesteel.state.values.codecs import decode_untyped, untyped_encoder

_encode = untyped_encoder("dump_object")


def load_object(raw: bytes) -> Any:
    """Return the value of stored bytes from a column `value_raw`.

    >>> load_object(dump_object({"seen": [1, 2]}))
    {'seen': [1, 2]}
    """
    return decode_untyped(bytes(raw))


def dump_object(value: Any) -> bytes:
    """Return the stored bytes of a value, for a column `value_raw`. Raises SerializationError if there are none."""
    return _encode(value)
