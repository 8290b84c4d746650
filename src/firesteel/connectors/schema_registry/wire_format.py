"""Confluent's wire format: a zero, the schema's id in four bytes, and then the data."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import TypeMismatchError

HEADER: Final = 5
"""The bytes before the data."""

MAGIC: Final = 0
"""The first of them."""


def header_of(number: int) -> bytes:
    """Return what is before data with a schema.

    >>> header_of(258)
    b'\\x00\\x00\\x00\\x01\\x02'
    """
    return bytes([MAGIC]) + number.to_bytes(HEADER - 1, "big")


def split_header(message: bytes) -> tuple[int, bytes]:
    """Return the id of a message's schema, and its data. Raises TypeMismatchError for one that does not begin so.

    >>> split_header(b"\\x00\\x00\\x00\\x01\\x02{}")
    (258, b'{}')
    """
    if len(message) < HEADER or message[0] != MAGIC:
        raise TypeMismatchError(
            "requires a message with a zero and the id of a schema",
            who="Confluent's wire format",
            got=repr(message[:200]),
        )
    return int.from_bytes(message[1:HEADER], "big"), message[HEADER:]
