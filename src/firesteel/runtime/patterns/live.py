"""The matches of the keys that an epoch touches, between the matcher and keyed state."""

from __future__ import annotations

from typing import Any, Final

from firesteel.runtime.patterns.matches import KeyMatches, Summary, Tables
from firesteel.state.descriptors import MapStateDescriptor, ValueStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend

SUMMARIES: Final = "partial-matches"
TABLES: Final = ("match-links", "match-events", "match-link-counts", "match-event-counts")
"""The names of the keyed states: what is read of a key at once, and the tables in the order of `Tables`."""
SHAPE: Final = "pattern-shape"
"""The name of the operator state that has the shape of the pattern."""

_MOST: Final = 1 << 15
"""The number of keys whose matches are kept in memory before they are written to state."""


class LiveMatches:
    """Matches by key, read when they are first needed and written by `settle`.

    Contract: the key must be current in the backend's scope while its matches are used.
    """

    def __init__(self, backend: KeyedStateBackend) -> None:
        self._scope = backend.keyed
        self._summaries = backend.value_state(ValueStateDescriptor(SUMMARIES, None))
        self._read = self._summaries.reader()
        links, events, link_counts, event_counts = (
            backend.map_state(MapStateDescriptor(name, None, None)) for name in TABLES
        )
        self._tables = Tables(links, events, link_counts, event_counts)
        self.by_key: dict[Any, KeyMatches] = {}

    def find(self, key: Any) -> KeyMatches | None:
        """Return the matches of a key; None if it has none."""
        found = self.by_key.get(key)
        if found is None:
            summary: Summary | None = self._read(key)
            if summary is not None:
                found = self.by_key[key] = KeyMatches(self._tables, summary)
        return found

    def make(self, key: Any) -> KeyMatches:
        """Return the matches of a key that has none yet."""
        made = self.by_key[key] = KeyMatches(self._tables)
        return made

    def settle(self) -> None:
        """Write all changes to state, and forget what is in memory."""
        for key, matches in self.by_key.items():
            self._scope.current = key
            summary = matches.settle()
            if summary != self._read(key):
                self._summaries.hold(summary)
        self.by_key.clear()

    def relax(self) -> None:
        """Keep memory within limits."""
        if len(self.by_key) > _MOST:
            self.settle()
