"""Keys to look at when a time has come, which costs much less than timers of theirs.

A partial match whose end nobody is told of is ended by the next event of its key. If none comes, it only takes room,
and when that ends does not matter much. So the times are rounded up to a part of the pattern's window, and the keys
of one time are stored together, in a block for each key group and epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from firesteel.common.time import MAX_WATERMARK
from firesteel.runtime.patterns.group_keys import GroupKeys
from firesteel.runtime.timers import TimerQueue
from firesteel.state.descriptors import MapStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend

_STEPS: Final = 8
"""A key is looked at when at most 1 / 8 of the window more has passed."""

_MOST: Final = 1 << 16
"""The number of keys that are kept in memory before they are written to state."""

_PER_EPOCH: Final = 1 << 20


class Reminders:
    """The keys of a subtask that are to be looked at; `within` is the window of the pattern (milliseconds).

    Contract: `begin_epoch` first; then `add` and `due` in any order; `settle` at the end of the epoch.
    """

    def __init__(self, backend: KeyedStateBackend, within: int) -> None:
        self._scope = backend.keyed
        self._step = max(1, within // _STEPS)
        self._group_keys = GroupKeys(backend.max_parallelism)
        self._stored_times = TimerQueue(backend, "reminders")
        self._stored = backend.map_state(MapStateDescriptor("reminders", None, None))
        self._next = 0
        self._new: dict[int, dict[Any, None]] = {}
        self._size = 0

    def begin_epoch(self, number: int) -> None:
        """Number blocks after those of all earlier epochs."""
        self._next = number * _PER_EPOCH
        self._new, self._size = {}, 0

    def rounded(self, time: int) -> int:
        """Return the time at which a key is looked at that asks for `time` (milliseconds)."""
        return min(-(-time // self._step) * self._step, MAX_WATERMARK)

    def add(self, time: int, key: Any) -> None:
        """Look at a key at a rounded time."""
        self._new.setdefault(time, {})[key] = None
        self._size += 1
        if self._size > _MOST:
            self.settle()

    def due(self, upto: int) -> Iterator[tuple[int, list[Any]]]:
        """Forget and yield keys, with their time, whose time is at most `upto`, also of those added meanwhile."""
        while True:
            yield from self._stored_due(upto)
            while self._new and (time := min(self._new)) <= upto:
                added = self._new.pop(time)
                self._size -= len(added)
                yield time, [*added]
            stored = self._stored_times.next_due()
            if stored is None or stored > upto:
                return

    def _stored_due(self, upto: int) -> Iterator[tuple[int, list[Any]]]:
        for time, group_key in self._stored_times.pop_due(upto):
            self._scope.current = group_key
            for block in [block for block in self._stored.keys() if block[0] == time]:  # noqa: SIM118 - a state
                self._scope.current = group_key
                keys = self._stored.get(block)
                self._stored.remove(block)
                yield time, [*keys]

    def settle(self) -> None:
        """Write the keys in memory to state."""
        for time, added in self._new.items():
            block, keys = (time, self._next), [*added]
            for group_key, places in self._group_keys.places(keys).items():
                self._scope.current = group_key
                # A job that begins anew with a savepoint numbers its epochs anew.
                before = self._stored.get(block) or ()
                self._stored.put(block, (*before, *map(keys.__getitem__, places)))
                self._stored_times.register(time, group_key)
        self._next += 1
        self._new, self._size = {}, 0
