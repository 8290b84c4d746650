"""What handles of all kinds of state have in common: caches that are filled by reading, and the order of changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import filterfalse, islice
from typing import Any

from firesteel.state.live.ordering import OrderedBatch, in_composite_order
from firesteel.state.live.place import StatePlace
from firesteel.state.values.codecs import ValueCodec


class LoadingCache(dict[Any, Any]):
    """A dict that reads an entry from the store on the first access."""

    __slots__ = ("load",)

    def __init__(self, load: Callable[[Any], Any]) -> None:
        super().__init__()
        self.load = load

    def __missing__(self, current: Any) -> Any:
        value = self[current] = self.load(current)
        return value


class CachedState:
    """A state at its place, with the codec of its values (of its elements if it is a list).

    The attributes of place and codec that are used for each record are copied, since each step on the way to them would
    cost time.
    """

    __slots__ = ("_codec", "_coerce", "_compose", "_lend", "_own", "_scope", "state_id", "store")

    def __init__(self, place: StatePlace, codec: ValueCodec) -> None:
        self.store = place.store
        self.state_id = place.state_id
        self._scope = place.scope
        self._compose = place.compose
        self._codec = codec
        self._coerce = codec.coerce
        self._own = codec.own
        self._lend = codec.lend

    def _in_order(self, currents: Collection[Any]) -> Iterator[OrderedBatch]:
        return in_composite_order(currents, self._compose, self.state_id, self.store.max_parallelism)


def oldest_clean(cache: dict[Any, Any], dirty: Collection[Any]) -> list[Any]:
    """Return the older half of the keys of a cache that are not dirty, oldest first; `dirty` is a set or a dict.

    >>> oldest_clean({"a": 1, "b": 2, "c": 3, "d": 4}, {"b", "x"})
    ['a', 'c']
    """
    clean = len(cache) - sum(map(cache.__contains__, dirty))
    return list(islice(filterfalse(dirty.__contains__, cache), (clean + 1) // 2))
