"""The links and rows of one key, as `firesteel.runtime.patterns.shelves.Table`s."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

FIRST_READ: Final = 64
LONGEST_READ: Final = 1 << 12
"""How many entries of a long match are read at a time: first the last ones, then more each time."""

Read = Callable[[Sequence[int]], Mapping[int, Any]]
"""Reads stored entries by their numbers; those that there are not are left out."""


class ShortEntries(dict[int, Any]):
    """Entries that are read and written together."""

    __slots__ = ()

    def put(self, number: int, entry: Any) -> None:
        """Write an entry."""
        self[number] = entry

    def remove(self, number: int) -> None:
        """Remove an entry, if there is one."""
        self.pop(number, None)


class LongEntries:
    """Entries that are stored one by one: those that are known, and what has `changed` or was `removed`."""

    __slots__ = ("_absent", "_known", "_next_read", "_read", "changed", "removed")

    def __init__(self, read: Read) -> None:
        self._read = read
        self._next_read = FIRST_READ
        self._known: dict[int, Any] = {}
        self._absent: set[int] = set()
        self.changed: dict[int, Any] = {}
        self.removed: set[int] = set()

    def get(self, number: int) -> Any:
        """Return an entry; None if there is none."""
        found = self._known.get(number)
        if found is None and number not in self._absent:
            self._fetch(number)
            found = self._known.get(number)
        return found

    def put(self, number: int, entry: Any) -> None:
        """Write an entry."""
        self._known[number] = self.changed[number] = entry
        self.removed.discard(number)

    def remove(self, number: int) -> None:
        """Remove an entry, if there is one."""
        self._known.pop(number, None)
        self.changed.pop(number, None)
        self.removed.add(number)
        self._absent.add(number)

    def take(self, asked: Iterable[int], found: Mapping[int, Any]) -> None:
        """Take over the stored ones of some entries."""
        self._known.update(found)
        self._absent.update(number for number in asked if number not in found)

    def _fetch(self, number: int) -> None:
        """Read the entry and those before it, which a match is likely to be asked for next."""
        first = max(0, number - self._next_read + 1)
        asked = [
            one for one in range(first, number + 1) if one not in self._known and one not in self._absent
        ]
        self._next_read = min(4 * self._next_read, LONGEST_READ)
        self.take(asked, self._read(asked))
