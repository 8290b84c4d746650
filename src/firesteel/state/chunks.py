"""Cutting entries into chunks that memory can hold, whatever size they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

Entry = tuple[bytes, bytes | None]
"""A composite key and its new value, None where it is deleted."""

MOST: Final = 8192


def bounded(entries: Iterable[Entry], size: int) -> Iterator[list[Entry]]:
    """Cut entries into lists of at most 8192, and of about `size` bytes of values (or one entry).

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
