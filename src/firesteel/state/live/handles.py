"""State handles with one value per key: thin views on a cache that is read and written once per epoch.

A handle's cache maps the scope's `current` to the value. The first access reads the entry from the store; a change
marks the key dirty. Caches are cleared in place and never replaced, so you may keep a reference to one.

The objects in a cache belong to the state. Mutable objects are copied on their way in and out, as if they were
serialised each time (Flink: RocksDBValueState; its heap backend and PyFlink's cache return the object itself, and leave
the effect of a change in place undefined). Otherwise the same program would see such a change within an epoch and miss
it afterwards. `held` and `hold` are for operators that let nobody change the objects they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, compress
from typing import Any, Final

from firesteel.common.sealing import ATOMS, seal
from firesteel.state.api import AggregatingState, ReducingState, ValueState
from firesteel.state.keys.composite import KEY_START, read_key_segment, state_prefix
from firesteel.state.live.caching import CachedState, LoadingCache, oldest_clean
from firesteel.state.live.place import StatePlace
from firesteel.state.live.weights import ENTRY, Weight, ends, mean_size
from firesteel.state.values.chunks import Entry
from firesteel.state.values.codecs import ValueCodec

_ENCODED: Final = 512
"""Values that are encoded together: enough that the call costs nothing, and few enough to be kept in memory twice."""
_READ_TOGETHER: Final = 4 * _ENCODED
"""Values that are read together once it is known how large they are."""
_FIRST_READ: Final = 32
"""Values that are read together at first, to see how large they are."""
_MOSTLY: Final = 4
"""Reading ahead begins when more than 1 / 4 of the keys of a block were read one by one."""
_READ_AHEAD: Final = 15
"""Blocks that are read ahead before one is not, to see whether that is still needed."""
_AT_ONCE: Final = 1 << 17
"""Bytes of values after which reading ahead stops: the first few values show whether values are small."""
_REMEMBERED: Final = 1 << 17
"""Up to so many keys a cache remembers those that have lost their values: their next records look up nothing."""


class SingleValue(CachedState):
    """The cache of a state with one value per key; None stands for no value.

    `_fresh` holds the keys that the store is known not to have: an entry that is added and removed within an epoch
    leaves no trace.
    """

    __slots__ = ("_cache", "_dirty", "_fresh", "_gone", "_loads", "_readahead")

    def __init__(self, place: StatePlace, codec: ValueCodec) -> None:
        super().__init__(place, codec)
        self._cache = LoadingCache(self._load)
        self._loads = self._readahead = 0
        self._dirty: set[Any] = set()
        self._gone: set[Any] = set()
        self._fresh: set[Any] | None = set() if place.scope.namespaced else None

    def clear(self) -> None:
        """Remove the value of the current key."""
        self._remove(self._scope.current)

    def begin(self, keep: bool) -> None:
        cache = self._cache
        if not keep:
            cache.clear()
        else:
            self._forget(self._gone)
        if self._fresh:
            if keep:
                self._fresh -= self._dirty
            else:
                self._fresh.clear()
        self._dirty.clear()
        self._gone.clear()

    def expect(self, keys: list[Any]) -> None:
        """Read the values of `keys` that are not cached, all at once, if the last keys were mostly read one by one.

        From time to time it skips this, to see whether the keys are still read one by one.
        """
        if self._loads * _MOSTLY > len(keys):
            self._readahead = _READ_AHEAD
        self._loads = 0
        if self._readahead:
            self._readahead -= 1
            missing = {current for current in keys if current not in self._cache}
            if missing:
                self._load_all(missing)

    def currents(self) -> Iterator[Any]:
        """Yield the keys that have a value, in a scope without namespaces; values may change meanwhile."""
        dirty = frozenset(self._dirty)
        yield from [current for current in dirty if self._cache[current] is not None]
        for composite, _ in self.store.reader.scan(state_prefix(self.state_id)):
            current, _ = read_key_segment(composite, KEY_START)
            if current not in dirty:
                yield current

    def changes(self) -> Iterator[Entry]:
        return chain.from_iterable(self._change_batches())

    def adopt(self, currents: list[Any], values: list[Any] | None) -> None:
        cache = self._cache
        if values is None:
            for current in currents:
                cache.pop(current, None)
        else:
            cache.update(zip(currents, values, strict=True))
            if None in values:
                self._forget(compress(currents, [value is None for value in values]))
        if self._fresh:
            self._fresh.difference_update(currents)

    def clean_entries(self) -> int:
        return len(self._cache) - len(self._dirty)

    def relax(self) -> None:
        evicted = oldest_clean(self._cache, self._dirty)
        for current in evicted:
            del self._cache[current]
        if self._fresh:
            self._fresh.difference_update(evicted)

    def weigh(self) -> Weight:
        dirty = len(self._dirty)
        size = ENTRY + mean_size(ends(self._cache), self._codec.encode)
        return Weight((len(self._cache) - dirty) * size, dirty * size, 0)

    def _change_batches(self) -> Iterator[Iterable[Entry]]:
        cache, encode_all = self._cache, self._codec.encode_all
        self.store.key_kinds.note(self._dirty)
        for keys, currents in self._in_order(self._dirty):
            values = [*map(cache.__getitem__, currents)]
            self.store.handover.note(self.state_id, currents, values)
            if self._gone:
                yield self._with_deletes(keys, currents, values)
            else:
                for start in range(0, len(keys), _ENCODED):
                    end = start + _ENCODED
                    yield zip(keys[start:end], encode_all(values[start:end]), strict=True)

    def _with_deletes(self, keys: list[bytes], currents: list[Any], values: list[Any]) -> Iterator[Entry]:
        fresh, encode = self._fresh or (), self._codec.encode
        for key, current, value in zip(keys, currents, values, strict=True):
            if value is not None:
                yield key, encode(value)
            elif current not in fresh:
                yield key, None

    def _load_all(self, missing: set[Any]) -> None:
        cache, decode, get_many = self._cache, self._codec.decode, self.store.reader.get_many
        step, size = _FIRST_READ, 0
        for keys, currents in self._in_order(missing):
            start = 0
            while start < len(keys):
                part = keys[start : start + step]
                found = get_many(part)
                values = [decode(data) if data is not None else None for data in map(found.get, part)]
                cache.update(zip(currents[start : start + step], values, strict=True))
                start += step
                size += sum(map(len, found.values()))
                if size > _AT_ONCE:
                    return
                step = _READ_TOGETHER

    def _load(self, current: Any) -> Any:
        self._loads += 1
        data = self.store.reader.get(self._compose(current))
        if data is not None:
            return self._codec.decode(data)
        if self._fresh is not None:
            self._fresh.add(current)
        return None

    def _forget(self, currents: Iterable[Any]) -> None:
        """Drop keys that have lost their values. Few are remembered: those of windows do not come again, others may."""
        cache = self._cache
        if self._fresh is not None or len(cache) > _REMEMBERED:
            for current in currents:
                if cache[current] is None:
                    del cache[current]

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
        """Fold the values of the source namespaces into the target's value (Flink:
        InternalMergingState.mergeNamespaces).
        """
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
        """Return the value of the current key, a copy if it is mutable; None if there is none."""
        value = self._cache[self._scope.current]
        lend = self._lend
        return value if lend is None or type(value) in ATOMS else lend(value)

    def update(self, value: Any) -> None:
        """Set the value of the current key; None removes it."""
        current = self._scope.current
        if value is None:
            self._gone.add(current)
        elif self._coerce is not None or type(value) not in ATOMS:
            value = self._own(value)
        self._cache[current] = value
        self._dirty.add(current)

    def held(self) -> Any:
        """Return the value of the current key itself: change it only if `hold` follows, and pass it to nobody."""
        return self._cache[self._scope.current]

    def hold(self, value: Any) -> None:
        """Set the value of the current key to an object that nobody else refers to; None removes it."""
        current = self._scope.current
        if value is None:
            self._gone.add(current)
        elif self._coerce is not None:
            value = self._coerce(value)
        self._cache[current] = value
        self._dirty.add(current)

    def reader(self) -> Callable[[Any], Any]:
        """Return a function that returns what `held` would if its argument were current."""
        return self._cache.__getitem__

    def hold_each(self, currents: list[Any], values: Collection[Any]) -> None:
        """Do for each current what `hold` would if it were current."""
        self._gone.update([current for current, value in zip(currents, values, strict=True) if value is None])
        coerce = self._coerce
        if coerce is not None:
            values = [None if value is None else coerce(value) for value in values]
        self._cache.update(zip(currents, values, strict=True))
        self._dirty.update(currents)

    def reduce_each(
        self, keys: list[Any], values: Iterable[Any], reduce: Callable[[Any, Any], Any]
    ) -> Iterator[Any]:
        """Make each key current in turn, reduce the value beside it into its value, and yield the result.

        Exhaust it before you do anything else with this state.
        """
        cache, scope, coerce = self._cache, self._scope, self._coerce
        self._dirty.update(keys)
        for key, value in zip(keys, values, strict=True):
            scope.current = key
            before = cache[key]
            after = value if before is None else reduce(before, value)
            if after is None:
                self._gone.add(key)
            cache[key] = after if coerce is None or after is None else coerce(after)
            yield after

    def merge_namespaces(
        self, target: Any, sources: Iterable[Any], function: Callable[[Any, Any], Any]
    ) -> None:
        """Fold the values of the current key in the source namespaces into the target's value by `function`."""
        self._merge(target, sources, function)


class ReducingHandle(SingleValue, ReducingState[Any]):
    """A ReducingState."""

    __slots__ = ("_reduce",)

    def __init__(self, place: StatePlace, codec: ValueCodec, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(place, codec)
        self._reduce = reduce

    def get(self) -> Any:
        """Return the reduced value of the current key, a copy if it is mutable; None if there is none."""
        value = self._cache[self._scope.current]
        lend = self._lend
        return value if lend is None or type(value) in ATOMS else lend(value)

    def add(self, value: Any) -> None:
        """Reduce a value into the value of the current key; None clears it (Flink: HeapReducingState.add)."""
        if value is None:
            self.clear()
            return
        if type(value) not in ATOMS:
            value = seal(value)
        self._add(value)

    def _add(self, value: Any) -> None:
        current = self._scope.current
        cache = self._cache
        present = cache[current]
        if present is not None:
            value = self._reduce(present, value)
        cache[current] = value if self._coerce is None else self._coerce(value)
        self._dirty.add(current)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Reduce the values of the current key in the source namespaces into the target's value."""
        self._merge(target, sources, self._reduce)


class AggregatingHandle(SingleValue, AggregatingState[Any, Any]):
    """An AggregatingState: it stores the accumulator."""

    __slots__ = ("_add", "_create", "_merge_two", "_result")

    def __init__(self, place: StatePlace, codec: ValueCodec, function: Any) -> None:
        super().__init__(place, codec)
        self._create = function.create_accumulator
        self._add = function.add
        self._result = function.get_result
        self._merge_two = function.merge

    def get(self) -> Any:
        """Return the result for the accumulator of the current key; None if there is none."""
        accumulator = self._cache[self._scope.current]
        return None if accumulator is None else seal(self._result(accumulator))

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
        if type(value) not in ATOMS:
            value = seal(value)
        accumulator = self._add(value, accumulator)
        cache[current] = accumulator if self._coerce is None else self._coerce(accumulator)
        self._dirty.add(current)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Merge the accumulators of the current key in the source namespaces into the target's accumulator."""
        self._merge(target, sources, self._merge_two)
