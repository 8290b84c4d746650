"""Lists and maps in accumulators of aggregate functions (PyFlink: pyflink.table.data_view).

They are values of the accumulator, and are kept with it: what is in one is pickled whenever its group changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

__all__ = ["DataView", "ListView", "MapView"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class DataView(ABC):
    """A collection in an accumulator."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all that is in it."""


class ListView(DataView, Generic[T]):
    """A list.

    >>> names = ListView()
    >>> names.add_all(["a", "b"])
    >>> [*names]
    ['a', 'b']
    """

    def __init__(self) -> None:
        self._list: list[T] = []

    def get(self) -> Iterable[T]:
        """Return what is in it."""
        return self._list

    def add(self, value: T) -> None:
        """Add a value behind the others."""
        self._list.append(value)

    def add_all(self, values: Iterable[T]) -> None:
        """Add several values."""
        self._list.extend(values)

    def clear(self) -> None:
        """Remove all values."""
        self._list = []

    def __iter__(self) -> Iterator[T]:
        return iter(self._list)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListView) and self._list == other._list

    def __hash__(self) -> int:
        return hash(tuple(self._list))


class MapView(DataView, Generic[K, V]):
    """A map.

    >>> counts = MapView()
    >>> counts["a"] = 1
    >>> "a" in counts, counts["b"], list(counts.items())
    (True, None, [('a', 1)])
    """

    def __init__(self) -> None:
        self._dict: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return the value of a key; None if there is none."""
        return self._dict.get(key)

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._dict[key] = value

    def put_all(self, dict_value: Mapping[K, V]) -> None:
        """Set the values of several keys."""
        self._dict.update(dict_value)

    def remove(self, key: K) -> None:
        """Remove a key that is there."""
        del self._dict[key]

    def contains(self, key: K) -> bool:
        """Return whether there is a key."""
        return key in self._dict

    def items(self) -> Iterable[tuple[K, V]]:
        """Return all keys with their values."""
        return self._dict.items()

    def keys(self) -> Iterable[K]:
        """Return all keys."""
        return self._dict.keys()

    def values(self) -> Iterable[V]:
        """Return all values."""
        return self._dict.values()

    def is_empty(self) -> bool:
        """Return whether there is no key."""
        return not self._dict

    def clear(self) -> None:
        """Remove all keys."""
        self._dict.clear()

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self._dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapView) and self._dict == other._dict

    def __hash__(self) -> int:
        return hash(frozenset(self._dict))

    def __len__(self) -> int:
        return len(self._dict)
