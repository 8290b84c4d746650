"""Integer keys in bulk, with numpy: the same bytes and key groups as `encode_key` and `key_group`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from firesteel.state.keys.encoding import NATURAL_TAG, NEGATIVE_TAG

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Octets = npt.NDArray[np.uint8]

_WORD: Final = np.uint64
_SECRET: Final = bytes.fromhex("7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248e")
"""Bytes 24 to 55 of XXH3's default secret, which hash inputs of 9 to 16 bytes."""
_FLIPS: Final = np.frombuffer(_SECRET, "<u8")
_FLIP_LOW: Final = _FLIPS[0] ^ _FLIPS[1]
_FLIP_HIGH: Final = _FLIPS[2] ^ _FLIPS[3]
_AVALANCHE: Final = _WORD(0x165667919E3779F9)
_HALF: Final = _WORD(0xFFFFFFFF)
_32, _37, _8, _9 = _WORD(32), _WORD(37), _WORD(8), _WORD(9)
_KEY: Final = 9
_TIME: Final = 8
_SIGN_BIT: Final = _WORD(1 << 63)


def integers(keys: Iterable[int]) -> Integers | None:
    """Return plain ints as an array, None if one of them needs more than 64 bits."""
    try:
        return np.fromiter(keys, np.int64)
    except OverflowError:
        return None


def integer_groups(keys: Integers, max_parallelism: int) -> Integers:
    """Return the key group of each key.

    >>> from firesteel.state.keys.groups import key_group
    >>> integer_groups(np.array([5, -7]), 128).tolist() == [key_group(5, 128), key_group(-7, 128)]
    True
    """
    return (_digests(keys) % _WORD(max_parallelism)).astype(np.int64)


def integer_composites(
    state_prefix: bytes,
    groups: Integers,
    keys: Integers,
    *,
    times: Integers | None = None,
    namespaces: Octets | None = None,
) -> list[bytes]:
    """Return the composite keys: prefix of the state (2 bytes), key group, a timer's time if given, encoded key, and
    the segment of the namespace if given, a row of bytes for each.
    """
    key = 4 if times is None else 4 + _TIME
    end = key + _KEY
    size = end if namespaces is None else end + namespaces.shape[1]
    rows = np.empty((len(keys), size), np.uint8)
    rows[:, 0:2] = np.frombuffer(state_prefix, np.uint8)
    rows[:, 2:4] = groups.astype(">u2").view(np.uint8).reshape(-1, 2)
    if times is not None:
        shifted = (times.view(_WORD) ^ _SIGN_BIT).astype(">u8")
        rows[:, 4 : 4 + _TIME] = shifted.view(np.uint8).reshape(-1, _TIME)
    rows[:, key] = _tags(keys)
    rows[:, key + 1 : end] = keys.astype(">i8").view(np.uint8).reshape(-1, 8)
    if namespaces is not None:
        rows[:, end:] = namespaces
    composites: list[bytes] = rows.view(f"V{size}").ravel().tolist()
    return composites


def _tags(keys: Integers) -> Words:
    return np.where(keys < 0, _WORD(NEGATIVE_TAG), _WORD(NATURAL_TAG))


def _digests(keys: Integers) -> Words:
    """Return the XXH3 hash (64 bits, seed 0) of each encoded key of 9 bytes (XXH3_len_9to16_64b of xxhash.h)."""
    swapped = keys.view(_WORD).byteswap()
    low = ((swapped << _8) | _tags(keys)) ^ _FLIP_LOW
    high = swapped ^ _FLIP_HIGH
    digest: Words = _9 + low.byteswap() + high + _folded(low, high)
    digest ^= digest >> _37
    digest *= _AVALANCHE
    digest ^= digest >> _32
    return digest


def _folded(left: Words, right: Words) -> Words:
    """Return the two halves of the 128 bit product, combined (XXH3_mul128_fold64)."""
    left_low, left_high = left & _HALF, left >> _32
    right_low, right_high = right & _HALF, right >> _32
    lowest, cross = left_low * right_low, left_low * right_high
    middle = (lowest >> _32) + (cross & _HALF) + left_high * right_low
    highest = (middle >> _32) + (cross >> _32) + left_high * right_high
    folded: Words = ((lowest & _HALF) | (middle << _32)) ^ highest
    return folded
