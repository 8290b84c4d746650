"""Handles of states with a time to live: the plain handles over stamped values.

Flink: TtlValueState, TtlListState, TtlMapState, TtlReducingState, TtlAggregatingState. The read that finds an expired
value removes it; with `returns_expired` that read still returns it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from firesteel.common.sealing import seal
from firesteel.state.keys.groups import StateKey, user_key
from firesteel.state.live.handles import AggregatingHandle, ReducingHandle, SingleValue, ValueHandle
from firesteel.state.live.lists import ListHandle
from firesteel.state.live.maps import ABSENT, CachedMap, MapHandle
from firesteel.state.live.place import StatePlace
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.expiry import Expiry, Stamped


class _ExpiringValue(SingleValue):
    """One stamped value per key."""

    __slots__ = ()
    _expiry: Expiry

    def _read(self) -> Any:
        """Return the value of the current key itself; None if there is no visible one.

        The value gets a new stamp, or is removed.
        """
        current = self._scope.current
        stamped = self._cache[current]
        if stamped is None:
            return None
        value, stamp = stamped
        expiry = self._expiry
        if stamp <= expiry.horizon:
            self._remove(current)
            return value if expiry.returns_expired else None
        if expiry.refreshes and stamp != expiry.now:
            self._cache[current] = value, expiry.now
            self._dirty.add(current)
        return value


class TtlValueHandle(_ExpiringValue, ValueHandle):
    """A ValueState that expires."""

    __slots__ = ("_expiry",)

    def __init__(self, place: StatePlace, codec: ValueCodec, expiry: Expiry) -> None:
        super().__init__(place, codec)
        self._expiry = expiry

    def value(self) -> Any:
        """Return the value of the current key, a copy if it is mutable; None if there is none."""
        return seal(self._read())

    def update(self, value: Any) -> None:
        """Set the value of the current key; None removes it."""
        current = self._scope.current
        if value is None:
            self._remove(current)
            return
        self._cache[current] = self._own(value), self._expiry.now
        self._dirty.add(current)

    def merge_namespaces(
        self, target: Any, sources: Iterable[Any], function: Callable[[Any, Any], Any]
    ) -> None:
        """Fold the values of the current key in the source namespaces into the target's value by `function`."""
        super().merge_namespaces(target, sources, self._expiry.fold(function))


class TtlReducingHandle(_ExpiringValue, ReducingHandle):
    """A ReducingState that expires as a whole; adding gives it a new stamp."""

    __slots__ = ("_expiry",)

    def __init__(
        self, place: StatePlace, codec: ValueCodec, reduce: Callable[[Any, Any], Any], expiry: Expiry
    ) -> None:
        super().__init__(place, codec, expiry.fold(reduce))
        self._expiry = expiry

    def get(self) -> Any:
        """Return the reduced value of the current key, a copy if it is mutable; None if there is none."""
        return seal(self._read())

    def add(self, value: Any) -> None:
        """Reduce a value into the value of the current key; None clears it."""
        super().add(None if value is None else (value, self._expiry.now))


class TtlAggregatingHandle(_ExpiringValue, AggregatingHandle):
    """An AggregatingState that expires as a whole; adding gives it a new stamp."""

    __slots__ = ("_expiry",)

    def __init__(self, place: StatePlace, codec: ValueCodec, function: Any, expiry: Expiry) -> None:
        super().__init__(place, codec, _StampedAggregate(function, expiry))
        self._expiry = expiry

    def get(self) -> Any:
        """Return the result for the accumulator of the current key; None if there is none."""
        accumulator = self._read()
        return None if accumulator is None else seal(self._result(accumulator))


class _StampedAggregate:
    """An AggregateFunction whose accumulators are stamped (Flink: TtlAggregateFunction)."""

    def __init__(self, function: Any, expiry: Expiry) -> None:
        self._create = function.create_accumulator
        self._add = function.add
        self._expiry = expiry
        self.get_result = function.get_result
        self.merge = expiry.fold(function.merge)

    def create_accumulator(self) -> Stamped:
        return self._create(), self._expiry.now

    def add(self, value: Any, stamped: Stamped) -> Stamped:
        accumulator = stamped[0] if self._expiry.shows(stamped) else self._create()
        return self._add(value, accumulator), self._expiry.now


class TtlListHandle(ListHandle):
    """A ListState whose elements expire one by one."""

    __slots__ = ("_expiry",)

    def __init__(self, place: StatePlace, codec: ValueCodec, expiry: Expiry) -> None:
        super().__init__(place, codec)
        self._expiry = expiry

    def add(self, value: Any) -> None:
        """Add an element to the list of the current key."""
        self._added[self._scope.current].append((self._own(value), self._expiry.now))

    def add_all(self, values: Iterable[Any]) -> None:
        """Add several elements to the list of the current key."""
        now = self._expiry.now
        if stamped := [(self._own(value), now) for value in values]:
            self._added[self._scope.current].extend(stamped)

    def get(self) -> list[Any]:
        """Return the elements of the current key, as a new list."""
        current = self._scope.current
        kept = self._elements(current)
        horizon = self._expiry.horizon
        live = [stamped for stamped in kept if stamped[1] > horizon]
        if self._expiry.refreshes:
            self._refresh(current, kept, live)
        elif len(live) < len(kept):
            self._sweep(current, kept, live)
        return [seal(value) for value, _ in (kept if self._expiry.returns_expired else live)]

    def _refresh(self, current: Any, kept: list[Stamped], live: list[Stamped]) -> None:
        now = self._expiry.now
        if any(stamp != now for _, stamp in kept):
            self._replace(current, [(value, now) for value, _ in live])

    def _sweep(self, current: Any, kept: list[Stamped], live: list[Stamped]) -> None:
        """Remove expired elements.

        With `returns_expired`, elements are removed when all of them have expired, as in Flink. Otherwise they are
        removed once they are half of the list, so that a long list is not rewritten for each element that expires.
        """
        if not live or (not self._expiry.returns_expired and 2 * len(live) <= len(kept)):
            self._replace(current, live)

    def _replace(self, current: Any, elements: list[Stamped]) -> None:
        self._remove(current)
        if elements:
            self._added[current] = elements


class TtlMapHandle(MapHandle):
    """A MapState whose entries expire one by one."""

    __slots__ = ("_expiry",)

    def __init__(self, place: StatePlace, keys: ValueCodec, values: ValueCodec, expiry: Expiry) -> None:
        super().__init__(place, keys, values)
        self._expiry = expiry

    def get(self, key: Any) -> Any:
        """Return the value of a map key; None if there is none."""
        value = self._read(self._map_key(key))
        return None if value is ABSENT else seal(value)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a map key."""
        current = self._scope.current
        own = None if value is None else self._own(value)
        self._write(current, self._cache[current], self._map_key(key), (own, self._expiry.now))

    def contains(self, key: Any) -> bool:
        """Return whether there is an entry for the map key; this counts as a read (Flink: TtlMapState.contains)."""
        return self._read(self._map_key(key)) is not ABSENT

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield the entries in the order of the keys' canonical bytes; the map may change meanwhile."""
        current = self._scope.current
        entries = self._cache[current]
        for key, stamped in entries.live():
            value = self._seen(current, entries, key, stamped)
            if value is not ABSENT:
                yield (user_key(key) if type(key) is bytes else key), seal(value)

    def is_empty(self) -> bool:
        """Return whether there are no visible entries; this does not count as a read."""
        entries = self._cache[self._scope.current]
        if self._expiry.returns_expired:
            return not entries.has_entries()
        horizon = self._expiry.horizon
        return all(stamp <= horizon for _, (_, stamp) in entries.live())

    def _read(self, key: StateKey) -> Any:
        current = self._scope.current
        entries = self._cache[current]
        stamped = entries[key]
        return ABSENT if stamped is ABSENT else self._seen(current, entries, key, stamped)

    def _seen(self, current: Any, entries: CachedMap, key: StateKey, stamped: Stamped) -> Any:
        """Return the value of an entry, ABSENT if it is not visible; the entry gets a new stamp, or is removed."""
        value, stamp = stamped
        expiry = self._expiry
        if stamp <= expiry.horizon:
            self._write(current, entries, key, ABSENT)
            return value if expiry.returns_expired else ABSENT
        if expiry.refreshes and stamp != expiry.now:
            self._write(current, entries, key, (value, expiry.now))
        return value

    def _write(self, current: Any, entries: CachedMap, key: StateKey, stamped: Any) -> None:
        entries[key] = stamped
        entries.dirty.add(key)
        self._dirty[current] = entries
