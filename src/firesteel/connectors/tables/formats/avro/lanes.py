"""Places in a block of bytes at which values are read together, one of each record."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Places = npt.NDArray[np.int64]
Longs = npt.NDArray[np.int64]

_PADDING: Final = 16
_SHORT: Final = 0x80
_SEVEN: Final = 0x7F
_WIDE: Final = 64
_STOPS: Final = np.uint64(0x8080808080808080)


class Malformed(Exception):  # noqa: N818 - it says that one of several messages is bad; the reader finds out which
    """What is read is no value of its type."""


class Lanes:
    """Readers at different places in a block that move together; `pos` is where each is, `end` where it must end.

    Lanes are in the order of their places.
    """

    __slots__ = ("_words", "block", "data", "end", "pos")

    def __init__(self, data: npt.NDArray[np.uint8], pos: Places, end: Places) -> None:
        self.data = data
        self.block = pa.py_buffer(data)
        self._words = np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))
        self.pos = pos
        self.end = end

    @staticmethod
    def of(messages: pa.Array, skipped: int = 0) -> Lanes:
        """Return lanes at the beginnings of binary values, none of them NULL, after some bytes of each."""
        _, offsets, data = messages.buffers()
        ends = np.frombuffer(offsets, np.int32, len(messages) + 1, messages.offset * 4).astype(np.int64)
        first, last = (int(ends[0]), int(ends[-1])) if len(messages) else (0, 0)
        padded = np.zeros(last - first + _PADDING, np.uint8)
        if last > first:
            padded[: last - first] = np.frombuffer(data, np.uint8, last - first, first)
        return Lanes(padded, ends[:-1] - first + skipped, ends[1:] - first)

    def __len__(self) -> int:
        return len(self.pos)

    def only(self, chosen: Any) -> Lanes:
        """Return some of the lanes, which move by themselves; `merge` takes over where they got to."""
        found = object.__new__(Lanes)
        found.data, found.block, found._words = self.data, self.block, self._words
        found.pos, found.end = self.pos[chosen], self.end[chosen]
        return found

    def merge(self, chosen: Any, moved: Lanes) -> None:
        """Move the chosen lanes to where they got to."""
        self.pos[chosen] = moved.pos

    def finish(self) -> None:
        """Raise Malformed if a lane is behind its end."""
        if (self.pos > self.end).any():
            raise Malformed("it ends within a value")

    def skip(self, count: int | Longs) -> None:
        """Move all lanes by some bytes."""
        self.pos = self.pos + count

    def bytes(self) -> npt.NDArray[np.uint8]:
        """Return the byte of each lane."""
        found = self.data[self.pos]
        self.pos = self.pos + 1
        return np.asarray(found)

    def words(self, dtype: str) -> npt.NDArray[Any]:
        """Return a number of fixed size, at most 8 bytes, of each lane."""
        kind = np.dtype(dtype)
        found = self._words[self.pos].view(np.uint8).reshape(-1, 8)[:, : kind.itemsize]
        self.pos = self.pos + kind.itemsize
        return np.ascontiguousarray(found).view(kind).reshape(-1)

    def longs(self) -> Longs:
        """Return the whole number of each lane, as Avro writes int and long: zigzag, seven bits a byte."""
        return _unzigzag(self.unsigned())

    def unsigned(self) -> npt.NDArray[np.uint64]:
        """Return the number of each lane whose bytes have seven bits each, the lowest first."""
        first = self.data[self.pos]
        if (first < _SHORT).all():
            self.pos = self.pos + 1
            return first.astype(np.uint64)
        word = self._words[self.pos]
        stops = ~word & _STOPS
        if not stops.all():
            return self._long_ones()
        stop = stops & (~stops + np.uint64(1))
        size = np.ones(len(word), np.int64)
        for place in range(1, 8):
            size += stop > np.uint64(0x80 << 8 * (place - 1))
        self.pos = self.pos + size
        return _compressed(word & (stop ^ (stop - np.uint64(1))))

    def _long_ones(self) -> npt.NDArray[np.uint64]:
        """Return numbers of which some have more than eight bytes."""
        values = np.zeros(len(self), np.uint64)
        pos = self.pos.copy()
        left = np.arange(len(self))
        for shift in range(0, _WIDE + 6, 7):
            byte = self.data[pos[left]]
            values[left] |= (byte & _SEVEN).astype(np.uint64) << np.uint64(shift)
            pos[left] += 1
            left = left[byte >= _SHORT]
            if not len(left):
                self.pos = pos
                return values
        raise Malformed("a number has more than ten bytes")

    def lengths(self) -> Longs:
        """Return the number of bytes that follow, and that are there, of each lane."""
        found = self.longs()
        if ((found < 0) | (found > self.end - self.pos)).any():
            raise Malformed("a length goes beyond the end")
        return found

    def values(self) -> pa.Array:
        """Return the bytes of each lane, whose number is before them."""
        return self.pieces(self.lengths())

    def pieces(self, lengths: int | Longs) -> pa.Array:
        """Return so many bytes of each lane."""
        ends = np.empty((len(self), 2), np.int32)
        ends[:, 0] = self.pos
        self.pos = self.pos + lengths
        ends[:, 1] = self.pos
        if (self.pos > self.end).any():
            raise Malformed("it ends within a value")
        if not len(ends):
            return pa.array([], pa.binary())
        # The bytes between two values are values, too, which are left out.
        both = pa.BinaryArray.from_buffers(pa.binary(), ends.size - 1, [None, pa.py_buffer(ends), self.block])
        return both.take(pa.array(np.arange(0, ends.size, 2)))


def _unzigzag(found: npt.NDArray[np.uint64]) -> Longs:
    one = np.uint64(1)
    return ((found >> one) ^ (~(found & one) + one)).view(np.int64)


def _compressed(word: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the lower seven bits of each byte, put together."""
    word = word & ~_STOPS
    for low, high, shift in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    ):
        word = (word & np.uint64(low)) | ((word & np.uint64(high)) >> np.uint64(shift))
    return word
