"""Composite keys: the layout of state in the store.

``state id (2 bytes) | key group (2 bytes) | key | namespace | map key or list chunk``, all numbers big-endian. Key and
namespace are self-delimiting, so no other key (and namespace) has the same prefix. Strings are escaped and terminated,
integers have a fixed width, and other keys carry their length. So the entries of a key group have the order of their
integer or string keys, and Python's own comparison can sort a run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from operator import itemgetter
from typing import Any, Final, Protocol

from xxhash import xxh3_64_intdigest

from firesteel.common.errors import ProgramError
from firesteel.state.keys.encoding import NATURAL_TAG, NEGATIVE_TAG, STR_TAG, decode_key, encode_int
from firesteel.state.keys.groups import StateKey, state_key_bytes, state_key_of
from firesteel.state.keys.integers import integer_composites, integer_groups, integers

KEY_START: Final = 4
"""The number of bytes of state id and key group, before the key."""

BROADCAST_GROUP: Final = 0xFFFF
TERMINATOR: Final = b"\x00\x01"
_ESCAPED_ZERO: Final = b"\x00\xff"
_SIZED: Final = b"\xfe"
_INT_TAGS: Final = (NEGATIVE_TAG, NATURAL_TAG)
_pack_size: Final = struct.Struct(">I").pack
_unpack_size: Final = struct.Struct(">I").unpack_from
_SIGN: Final = 1 << 63
_NAMESPACE_MEMO: Final = 1 << 14
_namespace_of: Final = itemgetter(1)

Compose = Callable[[Any], bytes]
"""Maps a scope's `current` to the prefix of the composite key up to and including the namespace."""


class NamespaceCodec(Protocol):
    """Windows as bytes: equal windows have equal bytes, which are never empty."""

    def encode(self, namespace: Any) -> bytes:
        """Return the bytes of a namespace."""

    def decode(self, data: bytes) -> Any:
        """Return the namespace of these bytes."""


def key_segment(key: StateKey) -> bytes:
    """Return a state key as a self-delimiting segment."""
    return delimited(state_key_bytes(key))


def read_key_segment(data: bytes, start: int) -> tuple[StateKey, int]:
    """Return the state key at `start` and the position of its end."""
    tag = data[start]
    if tag == STR_TAG[0]:
        end = data.index(TERMINATOR, start)
        return decode_key(data[start:end].replace(_ESCAPED_ZERO, b"\0")), end + 2
    if tag in _INT_TAGS:
        return decode_key(data[start : start + 9]), start + 9
    body = start + 5
    end = body + _unpack_size(data, start + 1)[0]
    return state_key_of(data[body:end]), end


def delimited(encoded: bytes) -> bytes:
    """Return the canonical encoding of a key as a self-delimiting segment."""
    tag = encoded[0]
    if tag == STR_TAG[0]:
        if b"\0" in encoded:
            encoded = encoded.replace(b"\0", _ESCAPED_ZERO)
        return encoded + TERMINATOR
    if tag in _INT_TAGS:
        return encoded
    return _SIZED + _pack_size(len(encoded)) + encoded


def state_prefix(state_id: int) -> bytes:
    """Return the prefix of every composite key of a state."""
    return state_id.to_bytes(2, "big")


def group_prefix(state_id: int, group: int) -> bytes:
    """Return the prefix of every composite key in a key group of a state."""
    return state_prefix(state_id) + group.to_bytes(2, "big")


class GroupHeads(dict[int, bytes]):
    """Maps a key group to the first four bytes of its composite keys, for one state."""

    def __init__(self, state_id: int) -> None:
        super().__init__()
        self._prefix = state_prefix(state_id)

    def __missing__(self, group: int) -> bytes:
        head = self[group] = self._prefix + group.to_bytes(2, "big")
        return head


def encode_time(time: int) -> bytes:
    """Return the time of a timer (milliseconds) as bytes with the order of the times."""
    return (time + _SIGN).to_bytes(8, "big")


def decode_time(data: bytes) -> int:
    """Return the time of these bytes."""
    return int.from_bytes(data, "big") - _SIGN


def compose_broadcast(state_id: int) -> Compose:
    """Return the composer of a state without keys; it ignores `current`."""
    prefix = GroupHeads(state_id)[BROADCAST_GROUP]
    return lambda _: prefix


def compose_keyed(state_id: int, max_parallelism: int) -> Compose:
    """Return the composer of a state whose scope holds a state key."""
    heads = GroupHeads(state_id)
    digest = xxh3_64_intdigest

    def compose(key: Any) -> bytes:
        kind = type(key)
        encoded: bytes
        if kind is str:
            encoded = STR_TAG + key.encode("utf-8", "surrogatepass")
            head = heads[digest(encoded) % max_parallelism]
            if b"\0" in encoded:
                encoded = encoded.replace(b"\0", _ESCAPED_ZERO)
            return head + encoded + TERMINATOR
        if kind is int:
            encoded = encode_int(key)
        elif kind is bytes:
            encoded = key
        else:
            raise no_key_error()
        return heads[digest(encoded) % max_parallelism] + delimited(encoded)

    return compose


class WindowedComposer:
    """The composer of a state whose scope holds a pair of state key and namespace.

    >>> from firesteel.functions.windows import WINDOW_CODEC, TimeWindow
    >>> compose = WindowedComposer(7, 128, WINDOW_CODEC)
    >>> pairs = [(1, TimeWindow(0, 5)), ("a", TimeWindow(0, 5))]
    >>> compose.all_of(pairs) == [compose(pair) for pair in pairs]
    True
    """

    def __init__(self, state_id: int, max_parallelism: int, codec: NamespaceCodec) -> None:
        self._prefix = state_prefix(state_id)
        self._max_parallelism = max_parallelism
        self._of_key = compose_keyed(state_id, max_parallelism)
        self._segment_of = namespace_segments(codec)

    def __call__(self, current: Any) -> bytes:
        if type(current) is not tuple:
            raise no_key_error()
        return self._of_key(current[0]) + self._segment_of(current[1])

    def all_of(self, currents: Collection[Any]) -> list[bytes]:
        """Return the composite key of each current; each different key and namespace is encoded once."""
        if not currents or set(map(type, currents)) != {tuple}:
            return list(map(self, currents))
        heads = self._heads({key for key, _ in currents})
        segments = self.segments(currents)
        return [heads[key] + segments[space] for key, space in currents]

    def segments(self, currents: Collection[tuple[Any, Any]]) -> dict[Any, bytes]:
        """Return the segment of each namespace in pairs of state key and namespace."""
        return {space: self._segment_of(space) for space in set(map(_namespace_of, currents))}

    def _heads(self, keys: set[Any]) -> dict[Any, bytes]:
        if set(map(type, keys)) == {int}:
            numbers = integers(keys)
            if numbers is not None:
                groups = integer_groups(numbers, self._max_parallelism)
                return dict(zip(keys, integer_composites(self._prefix, groups, numbers), strict=True))
        return dict(zip(keys, map(self._of_key, keys), strict=True))


def namespace_segments(codec: NamespaceCodec) -> Callable[[Any], bytes]:
    """Return a function from a namespace to its self-delimiting segment; it caches recent ones."""
    memo: dict[Any, bytes] = {}

    def segment(namespace: Any) -> bytes:
        found = memo.get(namespace)
        if found is None:
            if len(memo) >= _NAMESPACE_MEMO:
                memo.clear()
            data = codec.encode(namespace)
            found = memo[namespace] = _pack_size(len(data)) + data
        return found

    return segment


def no_key_error() -> ProgramError:
    """Return the error for keyed state that is used without a current key."""
    return ProgramError(
        "can be used only while an element or a timer is processed",
        who="keyed state",
        got="no current key",
        hint="get the state in open(), and read or update it in process_element() or on_timer()",
    )
