"""Timers of one domain (event or processing time) of one operator subtask, kept as keyed state in time order.

Flink: InternalTimerServiceImpl. A timer is a time and the value of a scope's `current`: a state key, or a pair of state
key and namespace. Stored timers are in the order of their times (see `timer_keys`): those that are due are the first of
their key group, and nothing else is read. Within a time, timers fire in the order of their keys' and namespaces' bytes,
independent of the epoch in which they were registered.

Many timers may have the same time, as those of a window that ends for all keys: stored ones are loaded some thousand at
a time, merged over all key groups.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterator
from operator import index, itemgetter
from typing import Any, Final

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.runtime.timer_keys import BODY, TimerKeys, time_of
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.live.weights import ENTRY, Weight
from firesteel.state.values.chunks import Entry

_SIGN: Final = 1 << 63
_PLAIN: Final = frozenset({str, int})
_NONE_DELETED: Final[frozenset[Any]] = frozenset()

_DRAWN_AT_ONCE: Final = 1 << 14
"""The least number of stored timers of one time that are loaded together."""

_FIRED_BETWEEN_LOOKS: Final = 256
"""The number of timers that fire between two checks of the memory that the state takes."""

_BUCKET_BYTES: Final = 400
_CONSUMED_BYTES: Final = 100
"""The approximate memory of a time with timers, without the timers, and of the key of a stored timer that has fired."""

_Head = tuple[int, bytes, bytes, Iterator[tuple[bytes, bytes]]]
"""The first stored timer of a key group: time, key and namespace, its whole key, and the timers that follow."""


class _Buckets(dict[int, dict[Any, None]]):
    """Time -> the timers of that time; a new time also goes on the heap of times."""

    __slots__ = ("times",)

    def __init__(self) -> None:
        super().__init__()
        self.times: list[int] = []

    def __missing__(self, time: int) -> dict[Any, None]:
        try:
            time = index(time)
        except TypeError:
            raise TypeMismatchError(
                "requires a time as an int, in milliseconds",
                who="a timer",
                got=f"a {type(time).__name__}: {time!r:.80}",
            ) from None
        if not -_SIGN <= time < _SIGN:
            raise ProgramError(
                "requires a time in milliseconds that fits 64 bits", who="a timer", got=repr(time)
            )
        heapq.heappush(self.times, time)
        bucket: dict[Any, None] = {}
        self[time] = bucket
        return bucket


class TimerQueue:
    """The timers of one domain, deduplicated by key, namespace and time.

    Contract: `begin` after the backend's `begin` (which calls it, too); then `register`, `delete`, `pop_due` and
    `next_due` in any order, also while `pop_due` is being consumed. The remaining timers are part of
    `backend.changes()`. Times are milliseconds.
    """

    __slots__ = (
        "_backend", "_buckets", "_consumed", "_deleted", "_disturbed", "_drawn", "_firing", "_heads", "_keys",
        "state_id",
    )  # fmt: skip

    def __init__(self, backend: KeyedStateBackend, name: str) -> None:
        self._backend = backend
        self.state_id = backend.register("timers", name, "timers", {})
        self._keys = TimerKeys(self.state_id, backend.max_parallelism, backend.namespace_codec)
        self._buckets = _Buckets()
        self._deleted: dict[int, set[Any]] = {}
        self._consumed: list[bytes] = []
        self._drawn: dict[int, bytes] = {}
        self._firing: tuple[int | None, dict[Any, None]] = (None, {})
        self._disturbed = False
        self._heads: list[_Head] | None = None
        backend.add_part(self)

    def begin(self, _keep: bool = True) -> None:
        """Start an epoch: the timers of the last one are in the store now, or void; either way none are cached."""
        self._buckets.clear()
        self._buckets.times.clear()
        self._deleted.clear()
        self._consumed.clear()
        self._drawn.clear()
        self._firing[1].clear()  # so that `pop_due`, if it is being consumed, starts over
        self._firing = (None, {})
        self._heads = None

    def register(self, time: int, current: Any) -> None:
        """Set a timer; setting it again changes nothing."""
        self._buckets[time][current] = None  # wins over a deletion of the same timer, here and in `changes`

    def delete(self, time: int, current: Any) -> None:
        """Remove a timer, if it is set."""
        bucket = self._buckets.get(time)
        firing = time == self._firing[0]
        if bucket is not None and current in bucket:
            del bucket[current]
            self._disturbed = firing or self._disturbed
        if firing and not self._is_stored(time, current):
            return
        deleted = self._deleted.get(time)
        if deleted is None:
            self._deleted[time] = {current}
        else:
            deleted.add(current)

    def next_due(self) -> int | None:
        """Return the time of the earliest timer; None if there is none."""
        times, buckets = self._buckets.times, self._buckets
        while times and not buckets[times[0]]:
            del buckets[heapq.heappop(times)]
        heads = self._open() if self._heads is None else self._heads
        while heads and heads[0][0] in self._deleted and self._head_is_deleted(heads[0]):
            self._consume(heads)
        if heads and (not times or heads[0][0] < times[0]):
            return heads[0][0]
        return times[0] if times else None

    def pop_due(self, upto: int) -> Iterator[tuple[int, Any]]:
        """Remove and yield the timers with time <= `upto` in time order, including those registered in the meantime."""
        buckets = self._buckets
        times = buckets.times
        fired = 0
        while True:
            time = self.next_due()
            if time is None or time > upto:
                self._firing = (None, {})
                return
            heads, waiting = self._heads, 0
            if heads and heads[0][0] == time and time not in buckets and time not in self._deleted:
                self._firing = (None, {})
                yield from self._pop_stored(upto)
                continue
            bucket = buckets[time]
            self._firing = (time, bucket)
            if (heads and heads[0][0] == time) or len(bucket) > 1 or self._deleted:
                waiting = self._prepare(time, bucket)
            left = len(bucket)
            while left > waiting and times[0] == time:
                left -= 1
                yield time, bucket.popitem()[0]
                fired += 1
                if not fired % _FIRED_BETWEEN_LOOKS:
                    self._backend.relax()
                if len(bucket) != left or self._disturbed:
                    self._disturbed = False
                    break  # timers of this time were set or removed in the meantime: sort again

    def _pop_stored(self, upto: int) -> Iterator[tuple[int, Any]]:
        """Remove and yield timers as long as the earliest ones are only stored, as `pop_due` does.

        The heap of key groups has their order already, so they need no bucket, which would be sorted.
        """
        times, deleted = self._buckets.times, self._deleted
        fired = 0
        while heads := self._heads:
            time, _, key, _ = heads[0]
            if time > upto or time in deleted or (times and times[0] <= time):
                return
            self._consume(heads)
            yield time, self._keys.current_of(key)
            fired += 1
            if not fired % _FIRED_BETWEEN_LOOKS:
                self._backend.relax()

    def changes(self) -> Iterator[Entry]:
        """Return the timers set and removed in this epoch, sorted by composite key."""
        return self._keys.changes(self._buckets, self._deleted, self._consumed)

    def adopt(self, currents: list[Any], values: list[Any] | None) -> None:
        """Do nothing: no timers are cached at the start of an epoch."""

    def clean_entries(self) -> int:
        """Return 0: waiting timers are not cached."""
        return 0

    def relax(self) -> None:
        """Do nothing: there is no cache to drop."""

    def weigh(self) -> Weight:
        buckets = self._buckets
        timers = sum(map(len, buckets.values())) + sum(map(len, self._deleted.values()))
        size = len(buckets) * _BUCKET_BYTES + timers * ENTRY + len(self._consumed) * _CONSUMED_BYTES
        return Weight(0, size, len(buckets) + len(self._deleted))

    def _prepare(self, time: int, bucket: dict[Any, None]) -> int:
        """Sort the bucket of a time in reverse, because the last one fires first, and load stored timers into it.

        Return the number of first ones in the bucket that must wait for stored timers that are not in it yet.
        """
        waiting = self._order(time, bucket)
        while waiting == len(bucket) and self._draw(time, bucket):
            waiting = self._order(time, bucket)
        return waiting

    def _order(self, time: int, bucket: dict[Any, None]) -> int:
        if len(bucket) > 1:
            ordered = sorted(bucket, key=self._order_of(bucket), reverse=True)
            bucket.clear()
            bucket.update(dict.fromkeys(ordered))
        if not self._has_stored(time):
            self._drawn.pop(time, None)
            self._deleted.pop(time, None)
            return 0
        drawn = self._drawn.get(time)
        if drawn is None:
            return len(bucket)
        kept = list(bucket)
        kept.reverse()
        return len(kept) - bisect_left(kept, True, key=lambda current: self._keys.body(current) > drawn)

    def _draw(self, time: int, bucket: dict[Any, None]) -> bool:
        """Load the next stored timers of a time into its bucket; return whether there were any."""
        if not self._has_stored(time):
            return False
        heads, deleted = self._heads or [], self._deleted.get(time, _NONE_DELETED)
        # In proportion to the bucket, because all of it is sorted after each load.
        left = max(_DRAWN_AT_ONCE, len(bucket) // 4)
        while left and heads and heads[0][0] == time:
            left -= 1
            _, last, key, _ = heads[0]
            current = self._keys.current_of(key)
            if current not in deleted:
                bucket[current] = None
            self._consume(heads)
        self._drawn[time] = last
        return True

    def _has_stored(self, time: int) -> bool:
        """Return whether there are stored timers of the earliest time that are not in its bucket yet."""
        heads = self._heads
        return bool(heads) and heads[0][0] == time  # type: ignore[index]

    def _is_stored(self, time: int, current: Any) -> bool:
        """Return whether a timer of the time that fires may be stored but not in its bucket yet."""
        if not self._has_stored(time):
            return False
        drawn = self._drawn.get(time)
        return drawn is None or self._keys.body(current) > drawn

    def _order_of(self, bucket: dict[Any, None]) -> Callable[[Any], Any] | None:
        """Return the sort key that orders timers of one time as their bytes do; plain keys order themselves, faster."""
        kinds = set(map(type, bucket))
        if len(kinds) == 1 and kinds <= _PLAIN:
            return None
        if kinds == {tuple}:
            window = next(iter(bucket))[1]
            kinds = {type(key) for key, _ in bucket}
            if len(kinds) == 1 and kinds <= _PLAIN and all(other == window for _, other in bucket):
                return itemgetter(0)
        return self._keys.body

    def _open(self) -> list[_Head]:
        """Find the first stored timer of every key group: a seek for each group that has one, and one more."""
        heads: list[_Head] = []
        start: bytes | None = None
        while True:
            entries = iter(self._backend.reader.scan(self._keys.prefix, start))
            first = next(entries, None)
            if first is None:
                break
            group = int.from_bytes(first[0][2:4], "big")
            heads.append((time_of(first[0]), first[0][BODY:], first[0], entries))
            start = self._keys.prefix + (group + 1).to_bytes(2, "big")
        heapq.heapify(heads)
        self._heads = heads
        return heads

    def _consume(self, heads: list[_Head]) -> None:
        """Remove the earliest stored timer and put the next one of its key group in its place."""
        _, _, key, entries = heads[0]
        self._consumed.append(key)
        following = next(entries, None)
        if following is None or following[0][:4] != key[:4]:
            heapq.heappop(heads)
        else:
            after = following[0]
            heapq.heapreplace(heads, (time_of(after), after[BODY:], after, entries))

    def _head_is_deleted(self, head: _Head) -> bool:
        return self._keys.current_of(head[2]) in self._deleted[head[0]]
