"""The partial matches of the keys that an epoch touches, by pattern, between the matcher and keyed state."""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import Any, Final

from firesteel.functions.windows import CountWindow
from firesteel.runtime.patterns.live import MOST_EVENTS, TABLES, YOUNG
from firesteel.runtime.patterns.matches import KeyMatches, Summary
from firesteel.runtime.patterns.shelves import Tables
from firesteel.runtime.timers import TimerQueue
from firesteel.state.descriptors import MapStateDescriptor, ValueStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend

PATTERNS_OF_KEY: Final = "patterns-of-key"
"""The name of the keyed state with what is read of a key at once. `TABLES` are kept by key and pattern."""

_MOST: Final = 1 << 15
"""The number of keys whose matches are kept in memory before they are written to state."""

_BETWEEN_LOOKS: Final = 1 << 10
"""The number of keys between two checks of the memory that the state takes."""

Stored = tuple[tuple[int, int | None, Summary], ...]
"""What is read of a key at once: for each pattern its number, its timer (milliseconds), and its matches."""


@cache
def namespace_of(number: int) -> CountWindow:
    """Return the namespace in state of what belongs to a pattern."""
    return CountWindow(number)


class PatternsOfKey:
    """The matches of one key by the number of the pattern, and the timer that each pattern has set."""

    __slots__ = ("matches", "timers")

    def __init__(self) -> None:
        self.matches: dict[int, KeyMatches] = {}
        self.timers: dict[int, int] = {}


class LivePatterns:
    """Matches by key and pattern, read when they are first needed and written by `settle`.

    Contract: while the matches of a pattern are used, the pair of key and `namespace_of` its number must be current in
    the backend's scope `windowed`.
    """

    def __init__(self, backend: KeyedStateBackend, timers: TimerQueue) -> None:
        self._backend = backend
        self._keyed, self._scope = backend.keyed, backend.windowed
        self._timers = timers
        self._stored = backend.value_state(ValueStateDescriptor(PATTERNS_OF_KEY, None))
        self._read = self._stored.reader()
        self._parts = [
            backend.map_state(MapStateDescriptor(name, None, None), backend.windowed) for name in TABLES
        ]
        self._tables = Tables(*self._parts)
        self.by_key: dict[Any, PatternsOfKey] = {}
        self._taken = 0

    def find(self, key: Any) -> PatternsOfKey | None:
        """Return the matches of a key; None if it has none."""
        found = self.by_key.get(key)
        if found is None:
            stored: Stored | None = self._read(key)
            if stored is not None:
                found = self.make(key)
                for number, timer, summary in stored:
                    found.matches[number] = KeyMatches(self._tables, summary, YOUNG)
                    if timer is not None:
                        found.timers[number] = timer
        return found

    def make(self, key: Any) -> PatternsOfKey:
        """Return the matches of a key that has none yet."""
        made = self.by_key[key] = PatternsOfKey()
        return made

    def begin(self, of_key: PatternsOfKey, number: int) -> KeyMatches:
        """Return the matches of a pattern that has none yet for this key."""
        made = of_key.matches[number] = KeyMatches(self._tables, young=YOUNG)
        return made

    def settle(self) -> None:
        """Write all changes to state, and forget what is in memory."""
        for key, of_key in self.by_key.items():
            stored = tuple(self._settled(key, of_key)) or None
            for number, timer in of_key.timers.items():
                self._timers.delete(timer, (key, namespace_of(number)))
            if stored != self._read(key):
                self._keyed.current = key
                self._stored.hold(stored)
        self.by_key.clear()
        self._taken = 0

    def relax(self, taken: int = 0) -> None:
        """Keep memory within limits; `taken` events have been taken since the last call."""
        self._taken += taken
        if len(self.by_key) > _MOST or self._taken > MOST_EVENTS:
            self.settle()

    def keep_only(self, numbers: Container[int]) -> None:
        """Remove what all other patterns have in state, for all keys; nothing may be in memory."""
        for place, key in enumerate(self._stored.currents()):
            stored: Stored = self._read(key)
            kept = tuple(each for each in stored if each[0] in numbers)
            if len(kept) != len(stored):
                for number, timer, _ in stored:
                    if number not in numbers:
                        self._remove(key, number, timer)
                self._keyed.current = key
                self._stored.hold(kept or None)
            if not place % _BETWEEN_LOOKS:
                self._backend.relax()

    def _settled(self, key: Any, of_key: PatternsOfKey) -> Stored:
        stored = []
        for number in sorted(of_key.matches):
            self._scope.current = key, namespace_of(number)
            summary = of_key.matches[number].settle()
            if summary is not None:
                stored.append((number, of_key.timers.pop(number, None), summary))
        return tuple(stored)

    def _remove(self, key: Any, number: int, timer: int | None) -> None:
        self._scope.current = current = key, namespace_of(number)
        for part in self._parts:
            part.clear()
        if timer is not None:
            self._timers.delete(timer, current)
