"""State handles of maps: per-key MapState and the subtask's broadcast state, cached and stored entry by entry.

Map keys take the form of state keys: `str` and `int` unchanged, others as canonical bytes. So 1, 1.0 and True are three
entries, as in Flink.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from firesteel.common.sealing import ATOMS
from firesteel.state.api import BroadcastState, MapState, ReadOnlyBroadcastState
from firesteel.state.keys.groups import StateKey, state_key, state_key_bytes, state_key_of, user_key
from firesteel.state.live.caching import CachedState, LoadingCache, oldest_clean
from firesteel.state.live.place import StatePlace
from firesteel.state.live.weights import CONTAINER, ENTRY, Weight, ends, mean_size
from firesteel.state.values.chunks import Entry
from firesteel.state.values.codecs import ValueCodec

ABSENT: Final = object()
_WHOLE_MAP: Final = 10_000
_SAMPLE: Final = 4


class CachedMap(dict[Any, Any]):
    """The cached part of one map: values by map key, or `ABSENT` if there is none.

    `complete`: every stored entry is in here. `blank`: the store has no entry of the map. `ordered`: how many entries
    the dict had when it was last put in key order. As an epoch only adds entries, the dict is in order as long as it
    has that length.
    """

    __slots__ = ("blank", "cleared", "complete", "dirty", "handle", "ordered", "prefix")

    def __init__(self, handle: MapAccess, prefix: bytes) -> None:
        super().__init__()
        self.handle = handle
        self.prefix = prefix
        self.dirty: set[StateKey] = set()
        self.complete = False
        self.blank = False
        self.cleared = False
        self.ordered = 0

    def __missing__(self, key: StateKey) -> Any:
        if self.complete:
            return ABSENT
        handle = self.handle
        data = handle.store.reader.get(self.prefix + state_key_bytes(key))
        value = self[key] = ABSENT if data is None else handle.decode(data)
        handle.loaded += 1
        return value

    def live(self) -> Iterator[tuple[StateKey, Any]]:
        """Yield the entries in key order; the map may change meanwhile."""
        if not (self.complete or self._load_whole()):
            yield from self._stream()
            return
        if self.ordered != len(self):
            self._sort()
        get = self.get
        for key in list(self):
            value = get(key, ABSENT)
            if value is not ABSENT:
                yield key, value

    def has_entries(self) -> bool:
        if any(value is not ABSENT for value in self.values()):
            return True
        if self.complete:
            return False
        start = len(self.prefix)
        stored = self.handle.store.reader.scan(self.prefix)
        return any(state_key_of(key[start:]) not in self for key, _ in stored)

    def remove_all(self) -> None:
        self.clear()
        self.dirty.clear()
        self.complete = True
        self.cleared = not self.blank
        self.ordered = 0

    def settle(self) -> bool:
        """Mark the changes as stored; return whether anything worth caching is left."""
        for key in self.dirty:
            if self[key] is ABSENT:
                del self[key]
                self.ordered = 0
        if self.dirty or self.cleared:
            self.blank = self.complete and not self
        self.dirty.clear()
        self.cleared = False
        return bool(self)

    def changes(self) -> Iterator[Entry]:
        prefix, encode = self.prefix, self.handle.encode
        changed: dict[bytes, bytes | None] = {}
        if self.cleared:
            changed = {key: None for key, _ in self.handle.store.reader.scan(prefix)}
        for key in self.dirty:
            value = self[key]
            if value is not ABSENT:
                changed[prefix + state_key_bytes(key)] = encode(value)
            elif not self.blank:
                changed[prefix + state_key_bytes(key)] = None
        for composite in sorted(changed):
            yield composite, changed[composite]

    def _load_whole(self) -> bool:
        """Read the stored entries unless they are too many to keep in memory."""
        start, decode, known = len(self.prefix), self.handle.decode, self.handle
        found: dict[StateKey, Any] = {}
        blank = True
        for composite, data in known.store.reader.scan(self.prefix):
            blank = False
            key = state_key_of(composite[start:])
            if key not in self:
                if len(found) == _WHOLE_MAP:
                    return False
                found[key] = decode(data)
        self.update(found)
        known.loaded += len(found)
        self.complete = True
        self.blank = blank
        return True

    def _sort(self) -> None:
        items = [(key, self[key]) for key in _in_order(self)]
        self.clear()
        self.update(items)
        self.ordered = len(self)

    def _stream(self) -> Iterator[tuple[StateKey, Any]]:
        """Merge the cached with the stored entries, without keeping the result."""
        start, decode, get = len(self.prefix), self.handle.decode, self.get
        mine = [(state_key_bytes(key), key) for key in _in_order(self)]
        position = 0
        for composite, data in self.handle.store.reader.scan(self.prefix):
            stored = composite[start:]
            while position < len(mine) and mine[position][0] < stored:
                key = mine[position][1]
                position += 1
                if (value := get(key, ABSENT)) is not ABSENT:
                    yield key, value
            if position < len(mine) and mine[position][0] == stored:
                position += 1
            key = state_key_of(stored)
            if key in self:
                if (value := self[key]) is not ABSENT:
                    yield key, value
            elif not self.complete:
                yield key, decode(data)
        for _, key in mine[position:]:
            if (value := get(key, ABSENT)) is not ABSENT:
                yield key, value


def _in_order(keys: Iterable[StateKey]) -> list[StateKey]:
    keys = list(keys)
    if len(set(map(type, keys))) < 2:
        keys.sort()
    else:
        keys.sort(key=state_key_bytes)
    return keys


class MapAccess(CachedState):
    """The operations of a map and its part in the backend; `loaded` counts entries read since the last `relax`."""

    __slots__ = ("_cache", "_dirty", "_key_coerce", "decode", "encode", "loaded")

    def __init__(self, place: StatePlace, keys: ValueCodec, values: ValueCodec) -> None:
        super().__init__(place, values)
        self.encode = values.encode_nullable
        self.decode = values.decode_nullable
        self.loaded = 0
        self._key_coerce = keys.coerce
        self._cache = LoadingCache(self._open)
        self._dirty: dict[Any, CachedMap] = {}

    def get(self, key: Any) -> Any:
        """Return the value of a map key, a copy if it is mutable; None if there is none."""
        kind = type(key)
        if (kind is not str and kind is not int) or self._key_coerce is not None:
            key = self._map_key(key)
        value = self._cache[self._scope.current][key]
        if value is ABSENT:
            return None
        lend = self._lend
        return value if lend is None or type(value) in ATOMS else lend(value)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key."""
        kind = type(key)
        if (kind is not str and kind is not int) or self._key_coerce is not None:
            key = self._map_key(key)
        current = self._scope.current
        entries = self._cache[current]
        if value is not None and (self._coerce is not None or type(value) not in ATOMS):
            value = self._own(value)
        entries[key] = value
        dirty = entries.dirty
        if not dirty:
            self._dirty[current] = entries
        dirty.add(key)

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set the values of several map keys, from a dict or from pairs."""
        for key, value in dict_value.items() if isinstance(dict_value, Mapping) else dict_value:
            self.put(key, value)

    def remove(self, key: Any) -> None:
        """Remove the entry of a map key, if there is one."""
        key = self._map_key(key)
        current = self._scope.current
        entries = self._cache[current]
        if entries.complete and key not in entries:
            return
        entries[key] = ABSENT
        entries.dirty.add(key)
        self._dirty[current] = entries

    def contains(self, key: Any) -> bool:
        """Return whether there is an entry for the map key."""
        return self._cache[self._scope.current][self._map_key(key)] is not ABSENT

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield the entries in the order of the keys' canonical bytes; the map may change meanwhile."""
        lend = self._lend or _as_it_is
        for key, value in self._cache[self._scope.current].live():
            yield (user_key(key) if type(key) is bytes else key), lend(value)

    def keys(self) -> Iterator[Any]:
        """Yield the keys, in the order of `items`."""
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Any]:
        """Yield the values, in the order of `items`."""
        return (value for _, value in self.items())

    def is_empty(self) -> bool:
        """Return whether there are no entries."""
        return not self._cache[self._scope.current].has_entries()

    def clear(self) -> None:
        """Remove all entries."""
        current = self._scope.current
        entries = self._cache[current]
        entries.remove_all()
        self._dirty[current] = entries

    def begin(self, keep: bool) -> None:
        if keep:
            for current, entries in self._dirty.items():
                self.loaded += len(entries.dirty)
                if not entries.settle():
                    del self._cache[current]
        else:
            self._cache.clear()
            self.loaded = 0
        self._dirty.clear()

    def changes(self) -> Iterator[Entry]:
        self.store.key_kinds.note(self._dirty)
        self.store.handover.note(self.state_id, list(self._dirty), None)
        for entries in sorted(self._dirty.values(), key=lambda entries: entries.prefix):
            yield from entries.changes()

    def adopt(self, currents: list[Any], values: list[Any] | None) -> None:
        for current in currents:
            entries = self._cache.pop(current, None)
            if entries is not None:
                self.loaded = max(0, self.loaded - len(entries))

    def clean_entries(self) -> int:
        return max(self.loaded, len(self._cache) - len(self._dirty))

    def relax(self) -> None:
        dirty = self._dirty
        for current in oldest_clean(self._cache, dirty):
            del self._cache[current]
        self.loaded = sum(len(entries) for current, entries in self._cache.items() if current not in dirty)

    def weigh(self) -> Weight:
        values = [
            value
            for entries in ends(self._cache)
            for value in islice(reversed(entries.values()), _SAMPLE)
            if value is not ABSENT
        ]
        size = ENTRY + mean_size(values, self.encode)
        changed = sum([len(entries.dirty) for entries in self._dirty.values()])
        clean = (len(self._cache) - len(self._dirty)) * CONTAINER + self.loaded * size
        return Weight(clean, len(self._dirty) * CONTAINER + changed * size, len(self._dirty))

    def _map_key(self, key: Any) -> StateKey:
        return state_key(key if self._key_coerce is None else self._key_coerce(key))

    def _open(self, current: Any) -> CachedMap:
        return CachedMap(self, self._compose(current))


class MapHandle(MapAccess, MapState[Any, Any]):
    """A MapState."""

    __slots__ = ()


class BroadcastHandle(MapAccess, BroadcastState[Any, Any]):
    """A BroadcastState: one map for the subtask; the scope has no key."""

    __slots__ = ()

    def to_read_only_broadcast_state(self) -> ReadOnlyBroadcastState[Any, Any]:
        """Return the view that is passed to the elements of the other stream."""
        return ReadOnlyView(self)


class ReadOnlyView(ReadOnlyBroadcastState[Any, Any]):
    """A broadcast state without methods that write."""

    __slots__ = ("_state",)

    def __init__(self, state: BroadcastHandle) -> None:
        self._state = state

    def get(self, key: Any) -> Any:
        return self._state.get(key)

    def contains(self, key: Any) -> bool:
        return self._state.contains(key)

    def items(self) -> Iterator[tuple[Any, Any]]:
        return self._state.items()

    def keys(self) -> Iterator[Any]:
        return self._state.keys()

    def values(self) -> Iterator[Any]:
        return self._state.values()

    def is_empty(self) -> bool:
        return self._state.is_empty()

    def clear(self) -> None:
        self._state.clear()


def _as_it_is(value: Any) -> Any:
    return value
