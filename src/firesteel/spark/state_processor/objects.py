"""Objects of no declared type, and the bytes they are stored as."""

from __future__ import annotations

from typing import Any

from firesteel.state.values.codecs import decode_untyped, untyped_encoder

_encode = untyped_encoder("dump_object")


def load_object(raw: bytes) -> Any:
    """Return the value whose stored bytes a column `value_raw` has.

    >>> load_object(dump_object({"seen": [1, 2]}))
    {'seen': [1, 2]}
    """
    return decode_untyped(bytes(raw))


def dump_object(value: Any) -> bytes:
    """Return the stored bytes of a value, for a column `value_raw`. Raises SerializationError if it has none."""
    return _encode(value)
