"""Timers of one domain (event or processing time) of one operator subtask, kept as keyed state in time order.

Flink: InternalTimerServiceImpl. A timer is a time and the value of a scope's `current`: a state key, or a pair of state
key and namespace. Entries are ``state id | key group | time | key | namespace``: timers that are due are the first of
their key group, and nothing else is read. Within a time, timers fire in the order of their keys' and namespaces' bytes,
independent of the epoch in which they were registered.

Many timers may have the same time, as those of a window that ends for all keys: stored ones are loaded some thousand at
a time, merged over all key groups.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import index, itemgetter
from typing import Any, Final

from xxhash import xxh3_64_intdigest

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.state.keys.composite import (
    GroupHeads,
    decode_time,
    delimited,
    encode_time,
    key_segment,
    namespace_segments,
    no_key_error,
    read_key_segment,
    state_prefix,
)
from firesteel.state.keys.groups import state_key_bytes
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.live.weights import ENTRY, Weight
from firesteel.state.values.chunks import Entry

_SIGN: Final = 1 << 63
_BODY: Final = 12
"""The number of bytes of state id, key group and time, before key and namespace."""

_SIZE: Final = 4
"""The number of bytes of the length before a namespace."""

_NAMESPACE_MEMO: Final = 1 << 12
"""The number of namespaces kept as objects, so that they are not decoded for every timer."""

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
        "_backend", "_buckets", "_consumed", "_deleted", "_disturbed", "_drawn", "_firing", "_group_heads", "_heads",
        "_max_parallelism", "_namespace", "_prefix", "_segment_of", "state_id",
    )  # fmt: skip

    def __init__(self, backend: KeyedStateBackend, name: str) -> None:
        self._backend = backend
        self._segment_of = namespace_segments(backend.namespace_codec)
        self._namespace = lru_cache(_NAMESPACE_MEMO)(backend.namespace_codec.decode)
        self.state_id = backend.register("timers", name, "timers", {})
        self._prefix = state_prefix(self.state_id)
        self._group_heads = GroupHeads(self.state_id)
        self._max_parallelism = backend.max_parallelism
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
            bucket = buckets[time]
            self._firing = (time, bucket)
            heads, waiting = self._heads, 0
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

    def changes(self) -> Iterator[Entry]:
        """Return the timers set and removed in this epoch, sorted by composite key."""
        composite = self._composite
        changed: dict[bytes, bytes | None] = dict.fromkeys(self._consumed)
        for time, deleted in self._deleted.items():
            stamp = encode_time(time)
            changed.update((composite(stamp, current), None) for current in deleted)
        for time in sorted(self._buckets):
            stamp = encode_time(time)
            for current in self._buckets[time]:
                changed[composite(stamp, current)] = b""
        groups: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for key in changed:  # new timers are already in order within a group, which is quick to sort
            groups[key[:4]].append(key)
        for head in sorted(groups):
            keys = groups[head]
            keys.sort()
            yield from zip(keys, [changed[key] for key in keys], strict=True)

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
        return len(kept) - bisect_left(kept, True, key=lambda current: self._body(current) > drawn)

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
            current = self._current_of(key)
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
        return drawn is None or self._body(current) > drawn

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
        return self._body

    def _open(self) -> list[_Head]:
        """Find the first stored timer of every key group: a seek for each group that has one, and one more."""
        heads: list[_Head] = []
        start: bytes | None = None
        while True:
            entries = iter(self._backend.reader.scan(self._prefix, start))
            first = next(entries, None)
            if first is None:
                break
            group = int.from_bytes(first[0][2:4], "big")
            heads.append((decode_time(first[0][4:_BODY]), first[0][_BODY:], first[0], entries))
            start = self._prefix + (group + 1).to_bytes(2, "big")
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
            heapq.heapreplace(heads, (decode_time(after[4:_BODY]), after[_BODY:], after, entries))

    def _head_is_deleted(self, head: _Head) -> bool:
        return self._current_of(head[2]) in self._deleted[head[0]]

    def _current_of(self, key: bytes) -> Any:
        state_key, end = read_key_segment(key, _BODY)
        return state_key if end == len(key) else (state_key, self._namespace(key[end + _SIZE :]))

    def _body(self, current: Any) -> bytes:
        if type(current) is tuple:
            return key_segment(current[0]) + self._segment_of(current[1])
        return key_segment(current)

    def _composite(self, stamp: bytes, current: Any) -> bytes:
        key = current[0] if type(current) is tuple else current
        if key is None:
            raise no_key_error()
        encoded = state_key_bytes(key)
        composite = (
            self._group_heads[xxh3_64_intdigest(encoded) % self._max_parallelism] + stamp + delimited(encoded)
        )
        return composite if key is current else composite + self._segment_of(current[1])
