"""What became of a state from one epoch to another: the keys at which it has something else, in the order of keys.

Both snapshots are read in the order of their keys, a part at a time, and what is stored alike is not decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from firesteel.queryable.contents import ABSENT, Page, StateContents, Stored

PART: Final = 1_000
"""The keys that are read of a snapshot before others may read it."""

MOST_KEYS: Final = 100_000
"""The keys that are compared for one page; if fewer of them than wanted have changed, the page is short."""


class Change(NamedTuple):
    """What was at a key, and what is; `ABSENT` for nothing."""

    before: Any
    after: Any


def changes(before: StateContents, after: StateContents, start: bytes, most: int) -> Page:
    """Return up to `most` keys with their `Change`, from where the last page ended; the first one follows ``b""``."""
    items: list[tuple[Any, Any]] = []
    seen = 0
    for place, old, new in _paired(_stored(before, start), _stored(after, start)):
        if len(items) == most or seen == MOST_KEYS:
            return Page(items, place)
        seen += 1
        if old is not None and new is not None and old.entries == new.entries:
            continue
        change = Change(_shown(before, old), _shown(after, new))
        if change.before != change.after:
            items.append((after.key_of(new) if new is not None else before.key_of(_there(old)), change))
    return Page(items, None)


def _stored(contents: StateContents, start: bytes) -> Iterator[Stored]:
    """Yield what is stored at each key from a place on."""
    while True:
        part = contents.stored(start, PART + 1)
        yield from part[:PART]
        if len(part) <= PART:
            return
        start = part[PART].place


def _paired(
    one: Iterator[Stored], other: Iterator[Stored]
) -> Iterator[tuple[bytes, Stored | None, Stored | None]]:
    """Yield what two sequences, in order, have at each place: None for nothing."""
    left, right = next(one, None), next(other, None)
    while left is not None or right is not None:
        place = min(each.place for each in (left, right) if each is not None)
        mine = left if left is not None and left.place == place else None
        its = right if right is not None and right.place == place else None
        yield place, mine, its
        left = next(one, None) if mine is not None else left
        right = next(other, None) if its is not None else right


def _shown(contents: StateContents, stored: Stored | None) -> Any:
    return ABSENT if stored is None else contents.content_of(stored)


def _there(stored: Stored | None) -> Stored:
    assert stored is not None
    return stored
