"""A Bloom filter over keys, in layers, within memory that the caller provides.

Contract: `may_have` is True for every key that `add` has taken, and for few others (about 2 % for each full layer).
Bits are only ever set, so a filter that was read before keys were added is right for the keys before them. Processes
can share the memory if only one of them adds at a time. Bits of removed keys stay.

Each key sets four bits in one word of 64 bits, so a key costs one access to memory. A full filter grows by a further
layer of four times the size, and no key has to be read for that. A key is in one layer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_digest

Words = npt.NDArray[np.uint64]

KEYS_PER_WORD: Final = 6
"""The keys of a full layer for each of its words: 10.7 bits for a key."""
_WORD_BYTES: Final = 8
_GROWTH_BITS: Final = 2
_LEAST_BITS: Final = 4
_FEWEST: Final = 64
"""Keys that are looked up without the filter: numpy's calls would cost more than the searches."""
_MOSTLY_PRESENT: Final = 0.9
_BLOCKS_SKIPPED: Final = 15
_PAIRS: Final = 12
_PAIR_MASK: Final = np.uint64((1 << _PAIRS) - 1)
_SECOND_PAIR: Final = np.uint64(_PAIRS)


def _pairs_of_bits() -> Words:
    numbers = np.arange(1 << _PAIRS, dtype=np.uint64)
    one, low = np.uint64(1), np.uint64(63)
    return (one << (numbers & low)) | (one << (numbers >> np.uint64(6)))


_BITS: Final = _pairs_of_bits()


class Shape(NamedTuple):
    """The sizes of a filter: `layers` layers, the first of `2 ** bits` words, each four times as large as the last."""

    bits: int
    layers: int

    @classmethod
    def for_keys(cls, keys: int) -> Shape:
        """Return the shape of one layer that is at most half full with these keys.

        >>> Shape.for_keys(32_768).capacity
        98304
        """
        words = max(1, 2 * keys // KEYS_PER_WORD)
        return cls(max(_LEAST_BITS, (words - 1).bit_length()), 1)

    @property
    def larger(self) -> Shape:
        """The shape with one more layer."""
        return Shape(self.bits, self.layers + 1)

    @property
    def words(self) -> int:
        """The words of all layers."""
        return sum(1 << bits for bits in self.bits_of_layers())

    @property
    def size(self) -> int:
        """The bytes of all layers."""
        return self.words * _WORD_BYTES

    @property
    def capacity(self) -> int:
        """The keys with which all layers are full."""
        return self.words * KEYS_PER_WORD

    def bits_of_layers(self) -> range:
        """Return the logarithm of each layer's words."""
        return range(self.bits, self.bits + self.layers * _GROWTH_BITS, _GROWTH_BITS)


class Bloom:
    """A filter of a shape in memory of (at least) its size; all zeros is the empty filter.

    >>> shape = Shape.for_keys(2)
    >>> bloom = Bloom(bytearray(shape.size), shape)
    >>> bloom.add([b"a", b"b"]), bloom.add([b"b"])
    (2, 0)
    >>> bloom.may_have([b"b", b"c"]).tolist()
    [True, False]
    """

    def __init__(self, memory: bytearray | memoryview, shape: Shape) -> None:
        self.shape = shape
        words = np.frombuffer(memory, np.uint64, shape.words)
        self._layers: list[tuple[np.uint64, Words]] = []
        start = 0
        for bits in shape.bits_of_layers():
            end = start + (1 << bits)
            self._layers.append((np.uint64(64 - bits), words[start:end]))
            start = end
        self._layers.reverse()
        self._skipped = 0

    def add(self, keys: Collection[bytes]) -> int:
        """Add keys, each once; return how many of them it did not seem to have."""
        hashes = _hashes(keys)
        masks = _masks(hashes)
        new = ~self._found(hashes, masks)
        shift, words = self._layers[0]
        np.bitwise_or.at(words, _places(hashes, shift)[new], masks[new])
        return int(np.count_nonzero(new))

    def may_have(self, keys: Collection[bytes]) -> npt.NDArray[np.bool_]:
        """Return for each key whether it may have been added; False is certain."""
        hashes = _hashes(keys)
        return self._found(hashes, _masks(hashes))

    def possible(self, keys: Sequence[bytes]) -> Sequence[bytes]:
        """Return the keys that may have been added, perhaps with others, in their order.

        It does not look at few keys, nor for some blocks after one whose keys were nearly all there.
        """
        if len(keys) < _FEWEST:
            return keys
        if self._skipped:
            self._skipped -= 1
            return keys
        found = self.may_have(keys)
        if np.count_nonzero(found) > _MOSTLY_PRESENT * len(keys):
            self._skipped = _BLOCKS_SKIPPED
            return keys
        return list(compress(keys, found.tolist()))

    def _found(self, hashes: Words, masks: Words) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(hashes), np.bool_)
        for shift, words in self._layers:
            found |= (words.take(_places(hashes, shift)) & masks) == masks
        return found


def _hashes(keys: Collection[bytes]) -> Words:
    return np.frombuffer(b"".join(map(xxh3_64_digest, keys)), np.uint64)


def _masks(hashes: Words) -> Words:
    """Return the bits of each hash within its word, from the hash's lowest 24 bits."""
    pairs = _BITS.take((hashes & _PAIR_MASK).view(np.int64))
    pairs |= _BITS.take(((hashes >> _SECOND_PAIR) & _PAIR_MASK).view(np.int64))
    return pairs


def _places(hashes: Words, shift: np.uint64) -> npt.NDArray[np.int64]:
    """Return the word of each hash in a layer, from the hash's highest bits."""
    return (hashes >> shift).view(np.int64)
