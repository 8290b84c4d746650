"""Sets of whole numbers of 32 bits as bytes, in the portable format of Roaring bitmaps.

Contract: equal sets have equal bytes. As in Java's `RoaringBitmap.runOptimize`, the numbers that have their upper 16
bits in common are kept as runs where these need the fewest bytes, else as a list of up to 4,096 numbers, else as 65,536
bits. Numbers are unsigned and ascend.

Source: https://github.com/RoaringBitmap/RoaringFormatSpec
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Members = npt.NDArray[np.uint32]
"""The members of a set, each once, in ascending order."""

_PLAIN: Final = 12346
_WITH_RUNS: Final = 12347
_FEW: Final = 4
"""Sets with runs and fewer containers than this have no offsets."""
_LIST: Final = 4096
"""The most numbers of a container that is a list."""
_BITS: Final = 8192
"""The bytes of a container that is bits."""
_LOW: Final = np.dtype("<u2")


def bitmap_of(members: npt.NDArray[np.integer]) -> bytes:
    """Return the set of whole numbers, in any order; negative ones are taken for what they are without a sign.

    >>> bitmap_of(np.array([3, 1, 2, 1])).hex()
    '3a300000010000000000020010000000010002000300'
    """
    unsigned = np.unique(members.astype(np.int64).astype(np.uint32))
    highs, starts = np.unique(unsigned >> 16, return_index=True)
    lows = [part.astype(_LOW) for part in np.split(unsigned & 0xFFFF, starts[1:])] if len(highs) else []
    packed = [_container(part) for part in lows]
    keys = np.empty((len(highs), 2), _LOW)
    keys[:, 0] = highs
    keys[:, 1] = [len(part) - 1 for part in lows]
    flags = [is_run for is_run, _ in packed]
    header = _header(flags) + keys.tobytes()
    if not any(flags) or len(highs) >= _FEW:
        sizes = np.array([len(data) for _, data in packed], np.int64)
        first = len(header) + 4 * len(highs)
        offsets = first + np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(highs) else sizes
        header += offsets.astype("<u4").tobytes()
    return header + b"".join(data for _, data in packed)


def _header(flags: list[bool]) -> bytes:
    if not any(flags):
        return np.array([_PLAIN, len(flags)], "<u4").tobytes()
    cookie = _WITH_RUNS | (len(flags) - 1) << 16
    return np.array([cookie], "<u4").tobytes() + np.packbits(flags, bitorder="little").tobytes()


def _container(lows: npt.NDArray[np.uint16]) -> tuple[bool, bytes]:
    """Return whether a container is one of runs, and its bytes."""
    values = lows.astype(np.int64)
    breaks = np.flatnonzero(np.diff(values) != 1) + 1
    starts = np.concatenate(([0], breaks))
    size = 2 * len(lows) if len(lows) <= _LIST else _BITS
    if 2 + 4 * len(starts) < size:
        runs = np.empty((len(starts), 2), _LOW)
        runs[:, 0] = values[starts]
        runs[:, 1] = np.diff(np.concatenate((starts, [len(lows)]))) - 1
        return True, np.array([len(starts)], _LOW).tobytes() + runs.tobytes()
    if len(lows) <= _LIST:
        return False, lows.tobytes()
    bits = np.zeros(1 << 16, np.uint8)
    bits[values] = 1
    return False, np.packbits(bits, bitorder="little").tobytes()


def members_of(bitmap: bytes) -> Members:
    """Return the members of a set. Raises ValueError if the bytes are none.

    >>> members_of(bitmap_of(np.array([70_000, -1, 5]))).tolist()
    [5, 70000, 4294967295]
    """
    reader = _Reader(bitmap)
    cookie = reader.number(4)
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        flags = np.unpackbits(reader.array((count + 7) // 8, np.dtype(np.uint8)), bitorder="little")
    elif cookie == _PLAIN:
        count = reader.number(4)
        flags = np.zeros(count, np.uint8)
    else:
        raise ValueError(f"{bitmap[:4].hex()} begins no bitmap")
    keys = reader.array(2 * count, _LOW).reshape(count, 2)
    if cookie == _PLAIN or count >= _FEW:
        reader.array(count, np.dtype("<u4"))
    parts = [
        _lows(reader, int(size) + 1, bool(is_run)) | int(high) << 16
        for (high, size), is_run in zip(keys, flags, strict=False)
    ]
    return np.concatenate(parts).astype(np.uint32) if parts else np.empty(0, np.uint32)


def _lows(reader: _Reader, count: int, is_run: bool) -> npt.NDArray[np.int64]:
    if is_run:
        runs = reader.array(2 * reader.number(2), _LOW).reshape(-1, 2).astype(np.int64)
        return np.concatenate([np.arange(start, start + more + 1) for start, more in runs])
    if count <= _LIST:
        return reader.array(count, _LOW).astype(np.int64)
    return np.flatnonzero(np.unpackbits(reader.array(_BITS, np.dtype(np.uint8)), bitorder="little"))


class _Reader:
    """Reads bytes from the left."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def array(self, count: int, kind: np.dtype[Any]) -> npt.NDArray[Any]:
        end = self._place + count * kind.itemsize
        if end > len(self._data):
            raise ValueError(f"a bitmap of {len(self._data)} bytes ends too early")
        found = np.frombuffer(self._data, kind, count, self._place)
        self._place = end
        return found

    def number(self, size: int) -> int:
        return int(self.array(1, np.dtype(f"<u{size}"))[0])


def bitmap_text(bitmap: bytes) -> str:
    """Return the members of a set as Flink shows them.

    >>> bitmap_text(bitmap_of(np.array([-1, 7])))
    '{7,4294967295}'
    """
    return f"{{{','.join(map(str, members_of(bitmap).tolist()))}}}"
