"""Events that wait until their time has come: until the watermark has passed it, and they can be put in order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cmp_to_key
from itertools import chain, compress, pairwise
from operator import itemgetter, not_
from typing import Any, Final, cast

from firesteel.runtime.batch import RowBatch
from firesteel.runtime.patterns.group_keys import GroupKeys
from firesteel.runtime.timers import TimerQueue
from firesteel.state.descriptors import MapStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend

_MOST: Final = 1 << 16
"""The number of events that wait in memory before they go to state, and above which no more are read from there."""

_PER_EPOCH: Final = 1 << 40

Due = tuple[Sequence[int], Sequence[Any], Sequence[Any]]
"""Times, keys and events."""


class _Block:
    """Events in the order of their numbers, which is that of their arrival; `least` and `most` bound their times."""

    __slots__ = ("keys", "least", "most", "numbers", "times", "values")

    def __init__(
        self, times: Sequence[int], numbers: Sequence[int], keys: Sequence[Any], values: Sequence[Any]
    ) -> None:
        self.times = times
        self.numbers = numbers
        self.keys = keys
        self.values = values
        self.least = min(times)
        self.most = max(times)

    def __len__(self) -> int:
        return len(self.times)

    def taken(self, positions: Sequence[int]) -> _Block:
        """Return the events at these positions, of which there are some."""
        return _Block(*([*map(column.__getitem__, positions)] for column in self._columns()))

    def where(self, chosen: Sequence[bool]) -> _Block:
        """Return the events that are chosen, of which there are some."""
        return _Block(*([*compress(column, chosen)] for column in self._columns()))

    def _columns(self) -> tuple[Sequence[Any], ...]:
        return self.times, self.numbers, self.keys, self.values

    @staticmethod
    def joined(blocks: Sequence[_Block]) -> _Block:
        """Return the events of all blocks; there are some."""
        if len(blocks) == 1:
            return blocks[0]
        whole = _Block(*map(_chained, zip(*(block._columns() for block in blocks), strict=True)))
        if all(one.numbers[-1] < other.numbers[0] for one, other in pairwise(blocks)):
            return whole
        return whole.taken(sorted(range(len(whole)), key=whole.numbers.__getitem__))

    def encoded(self) -> tuple[bytes, bytes]:
        """Return the events as bytes."""
        _, data = RowBatch([*self.values], [*self.times], [*self.keys]).encode()
        return array("q", self.numbers).tobytes(), data

    @staticmethod
    def decoded(stored: tuple[bytes, bytes]) -> _Block:
        """Return the events that `encoded` turned into bytes."""
        numbers = array("q")
        numbers.frombytes(stored[0])
        batch = RowBatch.decode(memoryview(stored[1]))
        assert batch.keys is not None
        return _Block(cast(list[int], batch.stamps()), numbers, batch.keys, batch.values)


class WaitingEvents:
    """The events of all keys of a subtask that wait.

    Within an epoch they wait in memory, in the blocks in which they came. Those that are left at its end are stored in
    a block for each key group, under a key of the group and by the least time in it, with a timer of that time; so an
    event costs its share of a block. Each event has a number in the order of arrival. `comparator` orders events of one
    key and time.

    Contract: `begin_epoch` first; then `add` and `due` in any order; `settle` at the end of the epoch.
    """

    def __init__(
        self, backend: KeyedStateBackend, comparator: Callable[[Any, Any], int] | None = None
    ) -> None:
        self._scope = backend.keyed
        self._group_keys = GroupKeys(backend.max_parallelism)
        self._stored_times = TimerQueue(backend, "waiting")
        self._stored = backend.map_state(MapStateDescriptor("waiting-events", None, None))
        self._order = None if comparator is None else cmp_to_key(comparator)
        self._next = 0
        self._waiting: list[_Block] = []
        self._size = 0

    def begin_epoch(self, number: int) -> None:
        """Number events after those of all earlier epochs."""
        self._next = number * _PER_EPOCH

    def add(self, times: Sequence[int], keys: Sequence[Any], values: Sequence[Any]) -> None:
        """Take events of a batch, in the order of their arrival; the lists must not change afterwards."""
        if not times:
            return
        first, self._next = self._next, self._next + len(times)
        self._keep(_Block(times, range(first, self._next), keys, values))
        if self._size > _MOST:
            self.settle()

    def due(self, upto: int) -> Iterator[Due]:
        """Forget and yield the events with a time of at most `upto`, in the order of time and arrival."""
        room = _MOST
        while True:
            stored = self._read_stored(upto, room)
            found = self._take(upto if stored is None else min(upto, stored - 1))
            if found:
                yield self._in_order(_Block.joined(found))
            if stored is None or stored > upto:
                return
            room = _MOST if found else 2 * room

    def next_due(self) -> int | None:
        """Return the time of the first event that waits, or one that is not later; None if none waits."""
        stored = self._stored_times.next_due()
        first = min((block.least for block in self._waiting), default=None)
        return min((time for time in (stored, first) if time is not None), default=None)

    def settle(self) -> None:
        """Write the events in memory to state."""
        if not self._waiting:
            return
        whole = _Block.joined(self._waiting)
        self._waiting, self._size = [], 0
        for key, positions in self._group_keys.places(whole.keys).items():
            self._scope.current = key
            block = whole.taken(positions)
            stored = self._stored.get(block.least)
            if stored is not None:
                block = _Block.joined([_Block.decoded(stored), block])
            self._stored.put(block.least, block.encoded())
            self._stored_times.register(block.least, key)

    def _keep(self, block: _Block) -> None:
        self._waiting.append(block)
        self._size += len(block)

    def _take(self, upto: int) -> list[_Block]:
        """Forget and return the events in memory with a time of at most `upto`."""
        found, left = [], []
        for block in self._waiting:
            if block.most <= upto:
                found.append(block)
            elif block.least > upto:
                left.append(block)
            else:
                due = [time <= upto for time in block.times]
                found.append(block.where(due))
                left.append(block.where([*map(not_, due)]))
        self._waiting, self._size = left, sum(map(len, left))
        return found

    def _read_stored(self, upto: int, room: int) -> int | None:
        """Read blocks that begin at `upto` or before until `room` events wait; return where the next one begins."""
        while True:
            begins = self._stored_times.next_due()
            if begins is None or begins > upto or self._size >= room:
                return begins
            for time, key in self._stored_times.pop_due(begins):
                self._scope.current = key
                self._keep(_Block.decoded(self._stored.get(time)))
                self._stored.remove(time)

    def _in_order(self, events: _Block) -> Due:
        order = self._compared(events, sorted(range(len(events)), key=events.times.__getitem__))
        if len(order) == 1:
            return [*events.times], [*events.keys], [*events.values]
        pick = itemgetter(*order)
        return pick(events.times), pick(events.keys), pick(events.values)

    def _compared(self, events: _Block, order: list[int]) -> list[int]:
        """Return positions in the order of time with those of one key and time in the order of the comparator."""
        compared = self._order
        if compared is None:
            return order
        together: dict[tuple[int, Any], list[int]] = {}
        for position in order:
            together.setdefault((events.times[position], events.keys[position]), []).append(position)
        values = events.values
        return [
            position
            for same in together.values()
            for position in sorted(same, key=lambda one: compared(values[one]))
        ]


def _chained(columns: tuple[Sequence[Any], ...]) -> list[Any]:
    return [*chain.from_iterable(columns)]
