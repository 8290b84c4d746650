"""The matches of the keys that an epoch touches, between the matcher and keyed state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from firesteel.runtime.patterns.matches import KeyMatches, Summary
from firesteel.runtime.patterns.shelves import Tables, Young
from firesteel.state.descriptors import MapStateDescriptor, ValueStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.values.codecs import decode_untyped, untyped_encoder

SUMMARIES: Final = "partial-matches"
TABLES: Final = ("match-links", "match-events", "match-link-counts", "match-event-counts")
"""The names of the keyed states: what is read of a key at once, and the tables in the order of `Tables`."""
SHAPE: Final = "pattern-shape"
"""The name of the operator state that has the shape of the pattern."""

_MOST: Final = 1 << 15
"""The number of keys whose matches are kept in memory before they are written to state."""

MOST_EVENTS: Final = 1 << 18
"""The number of events after which that is done, too: each may be a part of a match."""

YOUNG: Final = Young(8, untyped_encoder("a state of events in matches"), decode_untyped)
"""A few links and their events are one value with what is read of a key at once."""


class LiveMatches:
    """Matches by key, read when they are first needed and written by `settle`.

    `by_key` are those in memory; `stored` returns what is stored of a key that is not there.

    Contract: the key must be current in the backend's scope while its matches are used.
    """

    def __init__(self, backend: KeyedStateBackend) -> None:
        self._scope = backend.keyed
        self._summaries = backend.value_state(ValueStateDescriptor(SUMMARIES, None))
        self.stored: Callable[[Any], Summary | None] = self._summaries.reader()
        links, events, link_counts, event_counts = (
            backend.map_state(MapStateDescriptor(name, None, None)) for name in TABLES
        )
        self._tables = Tables(links, events, link_counts, event_counts)
        self.by_key: dict[Any, KeyMatches] = {}
        self._taken = 0

    def load(self, key: Any, summary: Summary) -> KeyMatches:
        """Return the matches of a key that are not in memory, from what is stored of them."""
        loaded = self.by_key[key] = KeyMatches(self._tables, summary, YOUNG)
        return loaded

    def end(self, keys: list[Any]) -> None:
        """End all matches of keys that are not in memory; `last_start` must have an answer for them."""
        self._summaries.hold_each(keys, [None] * len(keys))

    def make(self, key: Any) -> KeyMatches:
        """Return the matches of a key that has none yet."""
        made = self.by_key[key] = KeyMatches(self._tables, young=YOUNG)
        return made

    def settle(self) -> None:
        """Write all changes to state, and forget what is in memory."""
        keys: list[Any] = []
        summaries: list[Summary | None] = []
        for key, matches in self.by_key.items():
            self._scope.current = key
            before = matches.summary
            summary = matches.settle()
            if summary is not before:
                keys.append(key)
                summaries.append(summary)
        self._summaries.hold_each(keys, summaries)
        self.by_key.clear()
        self._taken = 0

    def relax(self, taken: int = 0) -> None:
        """Keep memory within limits; `taken` events have been taken since the last call."""
        self._taken += taken
        if len(self.by_key) > _MOST or self._taken > MOST_EVENTS:
            self.settle()
