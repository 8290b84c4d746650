"""The queue of completed matches, in the order of java.util.PriorityQueue.

Matches that start with the same event are equal for the queue, and which of them comes first decides what a skip
strategy leaves. So this is Java's heap, sift by sift, where `heapq` would give another of the equal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class JavaQueue(Generic[T]):
    """A heap of `items`, least `key` first (Java: PriorityQueue).

    >>> queue = JavaQueue([], key=len)
    >>> for word in ["a", "b", "c"]:
    ...     queue.add(word)
    >>> queue.poll(), queue.poll(), queue.poll()
    ('a', 'c', 'b')
    """

    __slots__ = ("_key", "items")

    def __init__(self, items: list[T], key: Callable[[T], Any]) -> None:
        self.items = items
        self._key = key

    def add(self, item: T) -> None:
        """Add an item (Java: offer, siftUp)."""
        items, key = self.items, self._key
        rank, place = key(item), len(items)
        items.append(item)
        while place:
            parent = (place - 1) >> 1
            if rank >= key(items[parent]):
                break
            items[place] = items[parent]
            place = parent
        items[place] = item

    def poll(self) -> T:
        """Remove and return the least item; there is one."""
        items = self.items
        least, last = items[0], items.pop()
        if items:
            self._sift_down(0, last)
        return least

    def keep(self, kept: Iterable[T]) -> None:
        """Keep these items only, which are in the order of `items` (Java: removeAll, heapify)."""
        remaining = [*kept]
        if len(remaining) == len(self.items):
            return
        self.items[:] = remaining
        for place in range((len(remaining) >> 1) - 1, -1, -1):
            self._sift_down(place, remaining[place])

    def _sift_down(self, place: int, item: T) -> None:
        items, key = self.items, self._key
        rank, half = key(item), len(items) >> 1
        while place < half:
            child = 2 * place + 1
            right = child + 1
            if right < len(items) and key(items[child]) > key(items[right]):
                child = right
            if rank <= key(items[child]):
                break
            items[place] = items[child]
            place = child
        items[place] = item
