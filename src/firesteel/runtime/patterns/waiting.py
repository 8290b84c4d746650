"""Events that wait until their time has come: until the watermark has passed it, and they can be put in order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cmp_to_key
from itertools import count
from typing import Any, Final

from firesteel.runtime.batch import RowBatch
from firesteel.runtime.timers import TimerQueue
from firesteel.state.descriptors import MapStateDescriptor
from firesteel.state.keys.groups import key_group, key_groups
from firesteel.state.live.backend import KeyedStateBackend

_MOST: Final = 1 << 16
"""The number of events that wait in memory before they go to state, and above which no more are read from there."""

_PER_EPOCH: Final = 1 << 40

_Event = tuple[int, int, Any, Any]
"""Time, number, key and event."""

Due = tuple[list[int], list[Any], list[Any]]
"""Times, keys and events."""


class WaitingEvents:
    """The events of all keys of a subtask that wait.

    Within an epoch they wait in memory. Those that are left at its end are stored in a block for each key group, under
    a key of the group and by the least time in it, with a timer of that time; so an event costs its share of a block.
    Each event has a number in the order of arrival. `comparator` orders events of one key and time.

    Contract: `begin_epoch` first; then `add` and `due` in any order; `settle` at the end of the epoch.
    """

    def __init__(
        self, backend: KeyedStateBackend, comparator: Callable[[Any, Any], int] | None = None
    ) -> None:
        self._scope = backend.keyed
        self._groups = backend.max_parallelism
        self._block_times = TimerQueue(backend, "waiting")
        self._blocks = backend.map_state(MapStateDescriptor("waiting-events", None, None))
        self._order = None if comparator is None else cmp_to_key(comparator)
        self._keys_of_groups: dict[int, int] = {}
        self._keys = count()
        self._next = 0
        self._waiting: list[_Event] = []

    def begin_epoch(self, number: int) -> None:
        """Number events after those of all earlier epochs."""
        self._next = number * _PER_EPOCH

    def add(self, times: Sequence[int], keys: Sequence[Any], values: Sequence[Any]) -> None:
        """Take events of a batch, in the order of their arrival."""
        first, self._next = self._next, self._next + len(times)
        self._waiting.extend(zip(times, range(first, self._next), keys, values, strict=True))
        if len(self._waiting) > _MOST:
            self.settle()

    def due(self, upto: int) -> Iterator[Due]:
        """Forget and yield the events with a time of at most `upto`, in the order of time and arrival."""
        room = _MOST
        while True:
            block = self._read_blocks(upto, room)
            limit = upto if block is None else min(upto, block - 1)
            found = [event for event in self._waiting if event[0] <= limit]
            if found:
                if len(found) == len(self._waiting):
                    self._waiting = []
                else:
                    self._waiting = [event for event in self._waiting if event[0] > limit]
                found.sort()  # by time and number, which no two events share
                if self._order is not None:
                    found = self._compared(found)
                times, _, keys, values = zip(*found, strict=True)
                yield [*times], [*keys], [*values]
            if block is None or block > upto:
                return
            room = _MOST if found else 2 * room

    def next_due(self) -> int | None:
        """Return the time of the first event that waits, or one that is not later; None if none waits."""
        stored = self._block_times.next_due()
        first = min((event[0] for event in self._waiting), default=None)
        return min((time for time in (stored, first) if time is not None), default=None)

    def settle(self) -> None:
        """Write the events in memory to state."""
        groups: dict[int, list[_Event]] = {}
        for group, event in zip(
            key_groups([event[2] for event in self._waiting], self._groups), self._waiting, strict=True
        ):
            groups.setdefault(group, []).append(event)
        self._waiting = []
        for group, events in groups.items():
            self._scope.current = key = self._key_of(group)
            least = min(events)[0]
            stored = self._blocks.get(least)
            if stored is not None:
                events = [*_read(stored), *events]
            self._blocks.put(least, _written(events))
            self._block_times.register(least, key)

    def _read_blocks(self, upto: int, room: int) -> int | None:
        """Read blocks that begin at `upto` or before until `room` events wait; return where the next one begins."""
        while True:
            begins = self._block_times.next_due()
            if begins is None or begins > upto or len(self._waiting) >= room:
                return begins
            for time, key in self._block_times.pop_due(begins):
                self._scope.current = key
                self._waiting += _read(self._blocks.get(time))
                self._blocks.remove(time)

    def _compared(self, events: list[_Event]) -> list[_Event]:
        together: dict[tuple[int, Any], list[_Event]] = {}
        for event in events:
            together.setdefault((event[0], event[2]), []).append(event)
        order = self._order
        assert order is not None
        return [event for same in together.values() for event in sorted(same, key=lambda one: order(one[3]))]

    def _key_of(self, group: int) -> int:
        """Return a key of the key group."""
        keys = self._keys_of_groups
        while group not in keys:
            key = next(self._keys)
            keys.setdefault(key_group(key, self._groups), key)
        return keys[group]


def _written(events: list[_Event]) -> tuple[bytes, bytes]:
    times, numbers, keys, values = zip(*events, strict=True)
    _, data = RowBatch([*values], [*times], [*keys]).encode()
    return array("q", numbers).tobytes(), data


def _read(stored: tuple[bytes, bytes]) -> Iterator[_Event]:
    numbers = array("q")
    numbers.frombytes(stored[0])
    batch = RowBatch.decode(memoryview(stored[1]))
    times: list[Any] = batch.stamps()
    assert batch.keys is not None
    return zip(times, numbers, batch.keys, batch.values, strict=True)
