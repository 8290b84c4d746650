"""State handles of one value or one list per key: thin views on a cache that is read and written once per epoch.

A handle's cache maps the scope's `current` to the value. It is filled from the store on first touch; a change marks the
key dirty. Caches are cleared in place and never replaced, so that a handle may be bound anywhere.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from firesteel.state.api import AggregatingState, ListState, ReducingState, ValueState
from firesteel.state.codecs import ValueCodec
from firesteel.state.composite import Compose
from firesteel.state.ordering import in_composite_order

if TYPE_CHECKING:
    from firesteel.state.backend import Change, KeyedStateBackend, Scope

_CHUNK: Final = 512
_LAST_CHUNK: Final = (1 << 64) - 1
_pack_chunk: Final = struct.Struct(">Q").pack
_pack_size: Final = struct.Struct(">I").pack
_unpack_size: Final = struct.Struct(">I").unpack_from


class LoadingCache(dict[Any, Any]):
    """A dict that reads an entry from the store when it is first asked for."""

    __slots__ = ("load",)

    def __init__(self, load: Callable[[Any], Any]) -> None:
        super().__init__()
        self.load = load

    def __missing__(self, current: Any) -> Any:
        value = self[current] = self.load(current)
        return value


class SingleValue:
    """The cache of a state with one value per key; None is no value.

    `_fresh` are keys that the store was seen to have nothing for: what comes and goes within an epoch leaves no trace.
    """

    __slots__ = (
        "_backend",
        "_cache",
        "_codec",
        "_coerce",
        "_compose",
        "_dirty",
        "_fresh",
        "_gone",
        "_scope",
        "state_id",
    )

    def __init__(
        self, backend: KeyedStateBackend, state_id: int, scope: Scope, compose: Compose, codec: ValueCodec
    ) -> None:
        self.state_id = state_id
        self._backend = backend
        self._scope = scope
        self._compose = compose
        self._codec = codec
        self._coerce = codec.coerce
        self._cache = LoadingCache(self._load)
        self._dirty: set[Any] = set()
        self._gone: set[Any] = set()
        self._fresh: set[Any] | None = set() if scope is backend.windowed else None

    def clear(self) -> None:
        """Remove the value of the current key."""
        self._remove(self._scope.current)

    def begin(self, keep: bool) -> None:
        cache = self._cache
        if keep:
            for current in self._gone:
                if cache[current] is None:
                    del cache[current]
        else:
            cache.clear()
        if self._fresh:
            if keep:
                self._fresh -= self._dirty
            else:
                self._fresh.clear()
        self._dirty.clear()
        self._gone.clear()

    def changes(self) -> Iterator[Change]:
        return chain.from_iterable(self._change_batches())

    def clean_entries(self) -> int:
        return len(self._cache) - len(self._dirty)

    def relax(self) -> None:
        evicted = oldest_clean(self._cache, self._dirty)
        for current in evicted:
            del self._cache[current]
        if self._fresh:
            self._fresh.difference_update(evicted)

    def _change_batches(self) -> Iterator[Iterable[Change]]:
        cache, encode_all = self._cache, self._codec.encode_all
        for keys, currents in in_composite_order(self._dirty, self._compose, self.state_id, self._backend):
            values = [cache[current] for current in currents]
            if self._gone:
                yield self._with_deletes(keys, currents, values)
            else:
                yield zip(keys, encode_all(values), strict=True)

    def _with_deletes(self, keys: list[bytes], currents: list[Any], values: list[Any]) -> Iterator[Change]:
        fresh, encode = self._fresh or (), self._codec.encode
        for key, current, value in zip(keys, currents, values, strict=True):
            if value is not None:
                yield key, encode(value)
            elif current not in fresh:
                yield key, None

    def _load(self, current: Any) -> Any:
        data = self._backend.reader.get(self._compose(current))
        if data is not None:
            return self._codec.decode(data)
        if self._fresh is not None:
            self._fresh.add(current)
        return None

    def _remove(self, current: Any) -> None:
        self._cache[current] = None
        self._dirty.add(current)
        self._gone.add(current)

    def _take(self, current: Any) -> Any:
        """Return the value of any key of the scope and remove it."""
        value = self._cache[current]
        if value is not None:
            self._remove(current)
        return value

    def _merge(self, target: Any, sources: Iterable[Any], function: Callable[[Any, Any], Any]) -> None:
        """Fold the values of the source namespaces into the target's (Flink: InternalMergingState.mergeNamespaces)."""
        key = self._scope.current[0]
        merged = None
        for source in sources:
            value = self._take((key, source))
            if value is not None:
                merged = value if merged is None else function(merged, value)
        if merged is not None:
            current = (key, target)
            present = self._cache[current]
            self._cache[current] = merged if present is None else function(present, merged)
            self._dirty.add(current)


class ValueHandle(SingleValue, ValueState[Any]):
    """A ValueState."""

    __slots__ = ()

    def value(self) -> Any:
        """Return the value of the current key, None if there is none."""
        return self._cache[self._scope.current]

    def update(self, value: Any) -> None:
        """Set the value of the current key; None removes it."""
        current = self._scope.current
        if value is None:
            self._gone.add(current)
        elif self._coerce is not None:
            value = self._coerce(value)
        self._cache[current] = value
        self._dirty.add(current)

    def merge_namespaces(
        self, target: Any, sources: Iterable[Any], function: Callable[[Any, Any], Any]
    ) -> None:
        """Fold the values of the current key in the source namespaces into that of the target by `function`."""
        self._merge(target, sources, function)


class ReducingHandle(SingleValue, ReducingState[Any]):
    """A ReducingState."""

    __slots__ = ("_reduce",)

    def __init__(
        self,
        backend: KeyedStateBackend,
        state_id: int,
        scope: Scope,
        compose: Compose,
        codec: ValueCodec,
        reduce: Callable[[Any, Any], Any],
    ) -> None:
        super().__init__(backend, state_id, scope, compose, codec)
        self._reduce = reduce

    def get(self) -> Any:
        """Return the reduced value of the current key, None if there is none."""
        return self._cache[self._scope.current]

    def add(self, value: Any) -> None:
        """Reduce a value into that of the current key; None clears it (Flink: HeapReducingState.add)."""
        if value is None:
            self.clear()
            return
        current = self._scope.current
        cache = self._cache
        present = cache[current]
        if present is not None:
            value = self._reduce(present, value)
        cache[current] = value if self._coerce is None else self._coerce(value)
        self._dirty.add(current)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Reduce the values of the current key in the source namespaces into that of the target."""
        self._merge(target, sources, self._reduce)


class AggregatingHandle(SingleValue, AggregatingState[Any, Any]):
    """An AggregatingState: it keeps the accumulator."""

    __slots__ = ("_add", "_create", "_merge_two", "_result")

    def __init__(
        self,
        backend: KeyedStateBackend,
        state_id: int,
        scope: Scope,
        compose: Compose,
        codec: ValueCodec,
        function: Any,
    ) -> None:
        super().__init__(backend, state_id, scope, compose, codec)
        self._create = function.create_accumulator
        self._add = function.add
        self._result = function.get_result
        self._merge_two = function.merge

    def get(self) -> Any:
        """Return the result for the accumulator of the current key, None if there is none."""
        accumulator = self._cache[self._scope.current]
        return None if accumulator is None else self._result(accumulator)

    def add(self, value: Any) -> None:
        """Add a value to the accumulator of the current key; None clears it (Flink: HeapAggregatingState.add)."""
        if value is None:
            self.clear()
            return
        current = self._scope.current
        cache = self._cache
        accumulator = cache[current]
        if accumulator is None:
            accumulator = self._create()
        accumulator = self._add(value, accumulator)
        cache[current] = accumulator if self._coerce is None else self._coerce(accumulator)
        self._dirty.add(current)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Merge the accumulators of the current key in the source namespaces into that of the target."""
        self._merge(target, sources, self._merge_two)


class ListHandle(ListState[Any]):
    """A ListState.

    What an epoch adds to a list is stored as chunks of up to 512 elements of their own. Chunks are numbered downwards,
    so the first entry of a scan tells the number of the next chunk, and adding never reads the list. `_stored` is what
    is in the store (or will be, once `_cleared` is done), `_added` what comes after it.
    """

    __slots__ = (
        "_added", "_backend", "_cleared", "_codec", "_coerce", "_compose", "_emptied", "_scope", "_stored", "state_id",
    )  # fmt: skip

    def __init__(
        self, backend: KeyedStateBackend, state_id: int, scope: Scope, compose: Compose, codec: ValueCodec
    ) -> None:
        self.state_id = state_id
        self._backend = backend
        self._scope = scope
        self._compose = compose
        self._codec = codec
        self._coerce = codec.coerce
        self._stored = LoadingCache(self._load)
        self._added: defaultdict[Any, list[Any]] = defaultdict(list)
        self._cleared: set[Any] = set()
        self._emptied: set[Any] = set()

    def add(self, value: Any) -> None:
        """Add an element to the list of the current key."""
        self._added[self._scope.current].append(value if self._coerce is None else self._coerce(value))

    def add_all(self, values: Iterable[Any]) -> None:
        """Add several elements to the list of the current key."""
        values = list(values) if self._coerce is None else list(map(self._coerce, values))
        if values:
            self._added[self._scope.current].extend(values)

    def get(self) -> list[Any]:
        """Return the elements of the current key, as a list of the caller's own."""
        return self._elements(self._scope.current)

    def update(self, values: Iterable[Any]) -> None:
        """Put `values` in the place of the list of the current key."""
        values = list(values)
        self.clear()
        self.add_all(values)

    def clear(self) -> None:
        """Remove the list of the current key."""
        self._remove(self._scope.current)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Move the elements of the current key in the source namespaces to the end of the target's."""
        key = self._scope.current[0]
        moved: list[Any] = []
        for source in sources:
            current = (key, source)
            moved += self._elements(current)
            self._remove(current)
        if moved:
            self._added[(key, target)].extend(moved)

    def begin(self, keep: bool) -> None:
        stored = self._stored
        if keep:
            for current in self._cleared | self._emptied:
                if not stored[current] and current not in self._added:
                    del stored[current]
            for current, values in self._added.items():
                if current in stored:
                    stored[current].extend(values)
        else:
            stored.clear()
        self._added.clear()
        self._cleared.clear()
        self._emptied.clear()

    def changes(self) -> Iterator[Change]:
        dirty = self._cleared.union(self._added)
        for prefixes, currents in in_composite_order(dirty, self._compose, self.state_id, self._backend):
            for prefix, current in zip(prefixes, currents, strict=True):
                yield from self._changes_of(current, prefix)

    def clean_entries(self) -> int:
        return len(self._stored)

    def relax(self) -> None:
        for current in oldest_clean(self._stored, self._cleared | self._emptied):
            del self._stored[current]

    def _elements(self, current: Any) -> list[Any]:
        stored: list[Any] = self._stored[current]
        added = self._added.get(current)
        return stored + added if added else stored.copy()

    def _remove(self, current: Any) -> None:
        self._added.pop(current, None)
        if self._stored.get(current) == [] and current not in self._cleared:
            self._emptied.add(current)
        else:
            self._stored[current] = []
            self._cleared.add(current)

    def _load(self, current: Any) -> list[Any]:
        chunks = [data for _, data in self._backend.reader.scan(self._compose(current))]
        decode = self._codec.decode
        return [decode(item) for data in reversed(chunks) for item in _split(data)]

    def _changes_of(self, current: Any, prefix: bytes) -> Iterator[Change]:
        scan = self._backend.reader.scan(prefix)
        changed: dict[bytes, bytes | None] = {}
        number = _LAST_CHUNK
        if current in self._cleared:
            changed = {key: None for key, _ in scan}
        elif (newest := next(iter(scan), None)) is not None:
            number = int.from_bytes(newest[0][len(prefix) :], "big") - 1
        elements = iter(map(self._codec.encode, self._added.get(current, ())))
        while chunk := list(islice(elements, _CHUNK)):
            changed[prefix + _pack_chunk(number)] = _join(chunk)
            number -= 1
        for key in sorted(changed):
            yield key, changed[key]


def oldest_clean(cache: dict[Any, Any], dirty: set[Any]) -> list[Any]:
    """Return the older half of the keys of a cache that are not dirty."""
    clean = [current for current in cache if current not in dirty]
    return clean[: (len(clean) + 1) // 2]


def _join(items: list[bytes]) -> bytes:
    parts = []
    for item in items:
        parts.append(_pack_size(len(item)))
        parts.append(item)
    return b"".join(parts)


def _split(data: bytes) -> list[bytes]:
    items, position = [], 0
    while position < len(data):
        start = position + 4
        position = start + _unpack_size(data, position)[0]
        items.append(data[start:position])
    return items
