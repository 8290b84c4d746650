"""Range deletes: all rows up to a leading value go, by one mark instead of a delete for each.

A mark deletes what is older than itself. In memory nothing is left of it: the older levels lose their rows, which are a
range at the start of each chunk. In the changes of an epoch, and in merges of those, it stays beside the rows, which
are all newer. Other subtasks may have dropped rows up to another value, so a mark holds for a range of hashes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

HASHES: Final = 1 << 64
"""The number of hashes."""


class Drop(NamedTuple):
    """Deletes the rows with a leading value of at most `leading` and a hash of at least `first` and less than `end`."""

    leading: int
    first: int = 0
    end: int = HASHES

    @property
    def everywhere(self) -> bool:
        """Whether it is about all hashes."""
        return self.first == 0 and self.end == HASHES

    def covers(self, other: Drop) -> bool:
        """Return whether it deletes all that another one does."""
        return self.leading >= other.leading and self.first <= other.first and other.end <= self.end


def joined(drops: Iterable[Drop]) -> tuple[Drop, ...]:
    """Return the same deletes without those that others cover.

    >>> joined([Drop(1), Drop(3, 0, 10), Drop(2)])
    (Drop(leading=3, first=0, end=10), Drop(leading=2, first=0, end=18446744073709551616))
    """
    kept: list[Drop] = []
    for drop in drops:
        if not any(other.covers(drop) for other in kept):
            kept = [other for other in kept if not drop.covers(other)]
            kept.append(drop)
    return tuple(kept)


def narrowed(drops: Iterable[Drop], first: int, end: int) -> tuple[Drop, ...]:
    """Return deletes as far as they are about hashes from `first` to `end` (exclusive).

    >>> narrowed([Drop(1), Drop(3, 20, 30)], 0, 10)
    (Drop(leading=1, first=0, end=10),)
    """
    within = (Drop(drop.leading, max(drop.first, first), min(drop.end, end)) for drop in drops)
    return tuple(drop for drop in within if drop.first < drop.end)


def widened(drops: Iterable[Drop], first: int, end: int) -> tuple[Drop, ...]:
    """Return deletes for an arrangement that has hashes from `first` to `end` only.

    A delete that is about all of these becomes one about all hashes, which costs less.

    >>> widened([Drop(1, 0, 10), Drop(3, 0, 4)], 0, 10)
    (Drop(leading=1, first=0, end=18446744073709551616), Drop(leading=3, first=0, end=4))
    """
    within = narrowed(drops, first, end)
    return tuple(Drop(drop.leading) if drop[1:] == (first, end) else drop for drop in within)


def encode_drops(drops: tuple[Drop, ...]) -> bytes:
    """Return deletes as bytes. The end of a range is stored as its last hash, which has 64 bits."""
    return msgspec.msgpack.encode([(drop.leading, drop.first, drop.end - 1) for drop in drops])


def decode_drops(data: bytes) -> tuple[Drop, ...]:
    """Return the deletes that `encode_drops` was given.

    >>> decode_drops(encode_drops((Drop(-5), Drop(7, 1, 9)))) == (Drop(-5), Drop(7, 1, 9))
    True
    """
    return tuple(Drop(leading, first, last + 1) for leading, first, last in msgspec.msgpack.decode(data))
