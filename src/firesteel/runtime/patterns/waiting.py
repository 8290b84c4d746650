"""Events that wait until their time has come: until the watermark has passed it, and they can be put in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cmp_to_key
from typing import Any, Final

from firesteel.runtime.timers import TimerQueue
from firesteel.state.descriptors import MapStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend

_MOST: Final = 1 << 16
"""The number of events that wait in memory before they go to state."""

Due = tuple[list[int], list[Any], list[Any]]
"""Times, keys and events."""


class WaitingEvents:
    """The events of all keys that wait.

    Within an epoch they wait in memory; those that are left at its end wait in keyed state, by their time, with a timer
    each. With a `comparator` all wait in state: it orders those of one key and time.
    """

    def __init__(
        self, backend: KeyedStateBackend, comparator: Callable[[Any, Any], int] | None = None
    ) -> None:
        self._scope = backend.keyed
        self._timers = TimerQueue(backend, "waiting")
        self._order = None if comparator is None else cmp_to_key(comparator)
        self._stored = backend.map_state(MapStateDescriptor("waiting-events", None, None))
        self._times: list[int] = []
        self._keys: list[Any] = []
        self._values: list[Any] = []

    def add(self, times: Sequence[int], keys: Sequence[Any], values: Sequence[Any]) -> None:
        """Take events of a batch, in the order of their arrival."""
        self._times.extend(times)
        self._keys.extend(keys)
        self._values.extend(values)
        if self._order is not None or len(self._times) > _MOST:
            self.settle()

    def due(self, upto: int) -> Due:
        """Return, and forget, the events in memory with a time of at most `upto`, in the order of time and arrival."""
        times, keys, values = self._times, self._keys, self._values
        if not times:
            return [], [], []
        places: Sequence[int] = range(len(times))
        left: list[int] = []
        if max(times) > upto:
            left = [place for place, time in enumerate(times) if time > upto]
            places = [place for place, time in enumerate(times) if time <= upto]
        order = sorted(places, key=times.__getitem__)
        found = (
            [times[place] for place in order],
            [keys[place] for place in order],
            [values[place] for place in order],
        )
        self._times = [times[place] for place in left]
        self._keys = [keys[place] for place in left]
        self._values = [values[place] for place in left]
        return found

    def next_stored(self) -> int | None:
        """Return the time of the first event that waits in state; None if none does."""
        return self._timers.next_due()

    def take_stored(self, upto: int) -> Iterator[tuple[int, Any, list[Any]]]:
        """Make each key current that has events in state with a time of at most `upto`; yield time, key and events.

        They are in the order of time, and those of one key and time in the order of arrival or of the comparator.
        """
        for time, key in self._timers.pop_due(upto):
            self._scope.current = key
            events: list[Any] = self._stored.get(time)
            self._stored.remove(time)
            yield time, key, events if self._order is None else sorted(events, key=self._order)

    def settle(self) -> None:
        """Write the events in memory to state."""
        together: dict[tuple[Any, int], list[Any]] = {}
        for time, key, value in zip(self._times, self._keys, self._values, strict=True):
            together.setdefault((key, time), []).append(value)
        for (key, time), values in together.items():
            self._scope.current = key
            before: list[Any] = self._stored.get(time) or []
            self._stored.put(time, before + values)
            self._timers.register(time, key)
        self._times, self._keys, self._values = [], [], []
