"""How timers are stored: their composite keys, in bulk where keys are plain integers.

A timer's composite key is ``state id | key group | time | key | namespace``, so the timers of a key group are in the
order of their times. A timer has no value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, Final

import numpy as np
from xxhash import xxh3_64_intdigest

from firesteel.state.keys.composite import (
    GroupHeads,
    NamespaceCodec,
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
from firesteel.state.keys.integers import integer_composites, integer_groups, integers
from firesteel.state.live.spill import overlaid
from firesteel.state.values.chunks import Entry

BODY: Final = 12
"""The number of bytes of state id, key group and time, before key and namespace."""

_SIZE: Final = 4
"""The number of bytes of the length before a namespace."""

_NAMESPACE_MEMO: Final = 1 << 12
"""The number of namespaces kept as objects, so that they are not decoded for every timer."""

Timers = Mapping[int, Collection[Any]]
"""Time -> the timers of that time, each the value of a scope's `current`."""


class TimerKeys:
    """The composite keys of the timers of one state."""

    __slots__ = ("_group_heads", "_max_parallelism", "_namespace", "_segment_of", "prefix")

    def __init__(self, state_id: int, max_parallelism: int, namespaces: NamespaceCodec) -> None:
        self.prefix = state_prefix(state_id)
        self._group_heads = GroupHeads(state_id)
        self._max_parallelism = max_parallelism
        self._segment_of = namespace_segments(namespaces)
        self._namespace = lru_cache(_NAMESPACE_MEMO)(namespaces.decode)

    def body(self, current: Any) -> bytes:
        """Return the part of a composite key after the time; timers of one time fire in the order of their bodies."""
        if type(current) is tuple:
            return key_segment(current[0]) + self._segment_of(current[1])
        return key_segment(current)

    def current_of(self, key: bytes) -> Any:
        """Return the `current` of the timer with a composite key."""
        state_key, end = read_key_segment(key, BODY)
        return state_key if end == len(key) else (state_key, self._namespace(key[end + _SIZE :]))

    def changes(self, registered: Timers, deleted: Timers, fired: Iterable[bytes]) -> Iterator[Entry]:
        """Return the entries of an epoch, in order: puts of registered timers, deletes of others.

        `fired` are composite keys of stored timers. A timer that was registered wins over the same one that was deleted
        or fired. Raises ProgramError for a timer without a current key.
        """
        gone = dict.fromkeys(fired)
        for time, currents in deleted.items():
            gone.update(zip(self._composites(time, currents), repeat(None)))
        puts: Iterator[Entry] = zip(self._in_bulk(registered) or self._one_by_one(registered), repeat(b""))
        return overlaid(puts, zip(_sorted(gone), repeat(None))) if gone else puts

    def _in_bulk(self, timers: Timers) -> list[bytes] | None:
        """Return the composite keys in order if all keys are plain integers that fit 64 bits, None otherwise."""
        if set(map(type, chain.from_iterable(timers.values()))) != {int}:
            return None
        keys = integers(chain.from_iterable(timers.values()))
        if keys is None:
            return None
        counts = list(map(len, timers.values()))
        times = np.repeat(np.fromiter(timers, np.int64), counts)
        groups = integer_groups(keys, self._max_parallelism)
        order = np.lexsort((keys, times, groups))
        return integer_composites(self.prefix, groups[order], keys[order], times=times[order])

    def _one_by_one(self, timers: Timers) -> Iterator[bytes]:
        # New timers are in the order of their times within a group then, which is quick to sort.
        return _sorted(chain.from_iterable(self._composites(time, timers[time]) for time in sorted(timers)))

    def _composites(self, time: int, currents: Iterable[Any]) -> Iterator[bytes]:
        stamp, heads, max_parallelism = encode_time(time), self._group_heads, self._max_parallelism
        for current in currents:
            key = current[0] if type(current) is tuple else current
            if key is None:
                raise no_key_error()
            encoded = state_key_bytes(key)
            composite = heads[xxh3_64_intdigest(encoded) % max_parallelism] + stamp + delimited(encoded)
            yield composite if key is current else composite + self._segment_of(current[1])


def time_of(key: bytes) -> int:
    """Return the time of the timer with a composite key (milliseconds)."""
    return decode_time(key[4:BODY])


def _sorted(keys: Iterable[bytes]) -> Iterator[bytes]:
    groups: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for key in keys:
        groups[key[:4]].append(key)
    for head in sorted(groups):
        members = groups.pop(head)
        members.sort()
        yield from members
