"""Cuts entries into chunks that fit into memory, and lists into the chunks that are stored."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

Entry = tuple[bytes, bytes | None]
"""A composite key and its new value, None for a deletion."""

MOST: Final = 8192

LAST_CHUNK: Final = (1 << 64) - 1
_ELEMENTS: Final = 512
_pack_number: Final = struct.Struct(">Q").pack
_pack_size: Final = struct.Struct(">I").pack
_unpack_size: Final = struct.Struct(">I").unpack_from


def bounded(entries: Iterable[Entry], size: int) -> Iterator[list[Entry]]:
    """Cut entries into lists of at most 8192 entries and about `size` bytes of values (or one entry).

    >>> [len(chunk) for chunk in bounded(((b"%d" % number, bytes(100)) for number in range(200)), 9000)]
    [90, 90, 20]
    """
    iterator = iter(entries)
    chunk: list[Entry] = []
    held, step = 0, 1
    while part := list(islice(iterator, min(step, MOST - len(chunk)))):
        chunk += part
        weight = sum([len(value) for _, value in part if value])
        held += weight
        if len(chunk) == MOST or held >= size:
            yield chunk
            chunk, held = [], 0
        step = max(1, min(step * 4, (size - held) * len(part) // (weight + 1)))
    if chunk:
        yield chunk


def in_chunks(
    prefix: bytes, elements: Iterable[bytes], number: int = LAST_CHUNK
) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of encoded elements, oldest first. The first element has this number, and keys descend."""
    rest = iter(elements)
    while chunk := list(islice(rest, _ELEMENTS)):
        yield prefix + _pack_number(number), join_elements(chunk)
        number -= 1


def join_elements(items: list[bytes]) -> bytes:
    """Return the chunk of these encoded elements."""
    parts = []
    for item in items:
        parts.append(_pack_size(len(item)))
        parts.append(item)
    return b"".join(parts)


def split_elements(data: bytes) -> list[bytes]:
    """Return the encoded elements of a chunk."""
    items, position = [], 0
    while position < len(data):
        start = position + 4
        position = start + _unpack_size(data, position)[0]
        items.append(data[start:position])
    return items
