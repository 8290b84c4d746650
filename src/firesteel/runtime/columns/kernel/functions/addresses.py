"""Addresses of the Internet's version 4 and numbers (Flink: InetAtonFunction, InetNtoaFunction)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.vector import VectorFunction, by_row

_PARTS: Final = 4
_BYTE: Final = range(256)


def number_of(address: str) -> int | None:
    """Return the number of an address, None if it is none; of fewer than four parts, the last one comes last.

    >>> number_of("127.0.0.1"), number_of("127.1"), number_of("1.2.3.256")
    (2130706433, 2130706433, None)
    """
    parts = address.split(".")
    if len(parts) > _PARTS or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if not all(number in _BYTE for number in numbers):
        return None
    *first, last = numbers
    return sum(number << 8 * (3 - place) for place, number in enumerate(first)) | last


def address_of(number: int) -> str | None:
    """Return the address that a number is, None if it is none."""
    if not 0 <= number < 1 << 32:
        return None
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "inet_aton": lambda: by_row(number_of, ("VARCHAR",), "BIGINT", pa.int64()),
    "inet_ntoa": lambda: by_row(address_of, ("BIGINT",), "VARCHAR", pa.string()),
}
