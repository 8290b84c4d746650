"""Keys, key groups and the subtasks that own them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from xxhash import xxh3_64_intdigest

from firesteel.state.keys.encoding import decode_key, encode_key
from firesteel.state.keys.integers import integer_groups, integers

__all__ = [
    "StateKey",
    "decode_key",
    "encode_key",
    "key_group",
    "key_group_range",
    "key_groups",
    "state_key",
    "state_key_bytes",
    "state_key_of",
    "subtask_of",
    "user_key",
]

StateKey: TypeAlias = str | int | bytes
"""A key in the form that caches use: `str` and `int` unchanged, any other key as its canonical bytes."""


def state_key(key: Any) -> StateKey:
    """Return the form of `key` under which state is kept. Raises KeyEncodingError (see `encode_key`).

    >>> state_key("a"), state_key(5), state_key(True)
    ('a', 5, b'\\x03')
    """
    kind = type(key)
    if kind is str or kind is int:
        return key  # type: ignore[no-any-return]
    if kind is tuple:
        return encode_key(key)
    return state_key_of(encode_key(key))


def user_key(key: StateKey) -> Any:
    """Return the user's key of a state key.

    >>> user_key(state_key(("a", 1)))
    ('a', 1)
    """
    return decode_key(key) if type(key) is bytes else key


def state_key_bytes(key: StateKey) -> bytes:
    """Return the canonical encoding of the key of a state key.

    >>> state_key_bytes("a") == encode_key("a")
    True
    """
    return key if type(key) is bytes else encode_key(key)


def state_key_of(data: bytes) -> StateKey:
    """Return the state key with the canonical encoding `data`."""
    return decode_key(data) if 4 <= data[0] <= 7 or data[0] == 9 else data


def key_group(key: StateKey, max_parallelism: int) -> int:
    """Return the key group of a state key, in [0, max_parallelism); it is the same on every machine.

    >>> key_group("a", 128) == key_group(state_key("a"), 128)
    True
    """
    return xxh3_64_intdigest(key if type(key) is bytes else encode_key(key)) % max_parallelism


def key_groups(keys: Sequence[StateKey], max_parallelism: int) -> list[int]:
    """Return the key group of each key.

    >>> key_groups([1, 2], 128) == [key_group(1, 128), key_group(2, 128)]
    True
    """
    if set(map(type, keys)) == {int}:
        numbers = integers(cast("Sequence[int]", keys))
        if numbers is not None:
            groups: list[int] = integer_groups(numbers, max_parallelism).tolist()
            return groups
    digest = xxh3_64_intdigest
    return [digest(key if type(key) is bytes else encode_key(key)) % max_parallelism for key in keys]


def subtask_of(group: int, parallelism: int, max_parallelism: int) -> int:
    """Return the subtask that owns a key group (Flink: KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup).

    >>> [subtask_of(group, 3, 8) for group in range(8)]
    [0, 0, 0, 1, 1, 1, 2, 2]
    """
    return group * parallelism // max_parallelism


def key_group_range(subtask: int, parallelism: int, max_parallelism: int) -> range:
    """Return the key groups that a subtask owns (Flink: KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex).

    >>> [key_group_range(subtask, 3, 8) for subtask in range(3)]
    [range(0, 3), range(3, 6), range(6, 8)]
    """
    start = (subtask * max_parallelism + parallelism - 1) // parallelism
    end = ((subtask + 1) * max_parallelism - 1) // parallelism + 1
    return range(start, end)
