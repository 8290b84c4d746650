"""Windows, by which records are grouped besides their key, and their encoding in state.

A window is an immutable, hashable value. If you write a window class, give it `__eq__` and `__hash__` by value (as a
frozen dataclass does) and `max_timestamp`.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import lru_cache
from io import BytesIO
from typing import Any, Final, Generic, NamedTuple, TypeVar

from firesteel.common.errors import KeyEncodingError, ProgramError, StateCorruptedError
from firesteel.common.serializer import TypeSerializer
from firesteel.common.time import MAX_WATERMARK, Duration, Time
from firesteel.state.keys.groups import decode_key, encode_key
from firesteel.state.values.codecs import decode_untyped, untyped_encoder

__all__ = [
    "WINDOW_CODEC",
    "CountWindow",
    "CountWindowSerializer",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "WindowMergeCallback",
    "TimeWindow",
    "TimeWindowSerializer",
    "Window",
    "WindowCodec",
    "milliseconds",
    "time_window",
]

W = TypeVar("W")

_SIGN: Final = 1 << 63
_encode_pickled: Final = untyped_encoder("the window codec")
_LONG: Final = struct.Struct(">Q")
_LONGS: Final = struct.Struct(">QQ")
_WINDOWS_REMEMBERED: Final = 1 << 14


class Window(ABC):
    """A finite bucket of records."""

    __slots__ = ()

    @abstractmethod
    def max_timestamp(self) -> int:
        """Return the largest timestamp of a record in the window (ms): 2**63-1 if time does not bound the window."""


class WindowMergeCallback(ABC, Generic[W]):
    """Receives the windows to merge into one (PyFlink: MergingWindowAssigner.MergeCallback)."""

    @abstractmethod
    def merge(self, to_be_merged: Iterable[W], merge_result: W) -> None:
        """Merge the windows `to_be_merged` into `merge_result`."""


class _Interval(NamedTuple):
    start: int
    end: int


class TimeWindow(_Interval, Window):
    """The records of a time interval, from `start` (inclusive) to `end` (exclusive), in milliseconds.

    >>> window = TimeWindow(0, 60_000)
    >>> window.max_timestamp()
    59999
    >>> window.cover(TimeWindow(30_000, 90_000))
    TimeWindow(start=0, end=90000)
    """

    __slots__ = ()

    def max_timestamp(self) -> int:
        """Return the last millisecond of the window."""
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Return whether the windows overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """Return the smallest window that contains both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Return the start of the window of `window_size` that contains `timestamp`; starts are shifted by `offset`.

        >>> TimeWindow.get_window_start_with_offset(-1, 0, 10)
        -10
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: WindowMergeCallback[TimeWindow]) -> None:
        """Call `callback` for every group of windows that overlap or touch, with the window that covers the group."""
        group: set[TimeWindow] = set()
        cover: TimeWindow | None = None
        for window in sorted(windows):
            if cover is not None and cover.intersects(window):
                cover = cover.cover(window)
                group.add(window)
                continue
            if cover is not None and len(group) > 1:
                callback.merge(group, cover)
            cover, group = window, {window}
        if cover is not None and len(group) > 1:
            callback.merge(group, cover)

    # Hashing is the tuple's, in C. Equality is strict, so that a window never equals a pair of numbers.
    __hash__ = _Interval.__hash__

    def __eq__(self, other: object) -> bool:
        return type(other) is TimeWindow and self.start == other.start and self.end == other.end

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


@lru_cache(_WINDOWS_REMEMBERED)
def time_window(start: int, end: int) -> TimeWindow:
    """Return the same object for the same window, mostly, so that caches of state find it without comparing it.

    >>> time_window(0, 5) is time_window(0, 5)
    True
    """
    return TimeWindow(start, end)


class _Bucket(NamedTuple):
    id: int


class CountWindow(_Bucket, Window):
    """The records in bucket number `id` of a key.

    >>> CountWindow(3)
    CountWindow(id=3)
    """

    __slots__ = ()

    def max_timestamp(self) -> int:
        """Return 2**63-1: time does not bound the window."""
        return MAX_WATERMARK

    # As for TimeWindow: hashed in C, equal only to its own class.
    __hash__ = _Bucket.__hash__

    def __eq__(self, other: object) -> bool:
        return type(other) is CountWindow and self.id == other.id

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """All records of a key; all global windows are equal."""

    __slots__ = ()

    @staticmethod
    def get() -> GlobalWindow:
        """Return the global window."""
        return _GLOBAL

    def max_timestamp(self) -> int:
        """Return 2**63-1: time does not bound the window."""
        return MAX_WATERMARK

    def __eq__(self, other: object) -> bool:
        return type(other) is GlobalWindow

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


_GLOBAL: Final = GlobalWindow()


class WindowCodec:
    """Windows as keys in state: a tag byte, then bytes that sort as the windows do.

    Time windows sort by start, then end. Windows that are not built in have no order: a frozen dataclass or NamedTuple
    of an importable module is encoded by its values, as a key is; all others are pickled.

    >>> WINDOW_CODEC.decode(WINDOW_CODEC.encode(TimeWindow(-5, 5)))
    TimeWindow(start=-5, end=5)
    >>> WINDOW_CODEC.encode(TimeWindow(-5, 5)) < WINDOW_CODEC.encode(TimeWindow(0, 1))
    True
    """

    def encode(self, namespace: Any) -> bytes:
        """Return the bytes of a window."""
        kind = type(namespace)
        if kind is TimeWindow:
            return b"T" + _LONGS.pack(namespace.start + _SIGN, namespace.end + _SIGN)
        if kind is CountWindow:
            return b"C" + _LONG.pack(namespace.id + _SIGN)
        if kind is GlobalWindow:
            return b"G"
        return _encode_other(namespace)

    def decode(self, data: bytes) -> Any:
        """Return the window of these bytes. Raises StateCorruptedError for bytes that `encode` did not produce."""
        tag = data[:1]
        if tag == b"T":
            start, end = _LONGS.unpack_from(data, 1)
            return time_window(start - _SIGN, end - _SIGN)
        if tag == b"C":
            return CountWindow(_LONG.unpack_from(data, 1)[0] - _SIGN)
        if tag == b"G":
            return _GLOBAL
        if tag == b"K":
            return decode_key(data[1:])
        if tag == b"P":
            return decode_untyped(data[1:])
        raise StateCorruptedError(
            "requires the encoding of a window", who="the window codec", got=repr(data[:20])
        )


def _encode_other(window: Any) -> bytes:
    try:
        return b"K" + encode_key(window)
    except KeyEncodingError:  # a value has no unique encoding
        return b"P" + _encode_pickled(window)


WINDOW_CODEC: Final = WindowCodec()


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Writes a time window to a stream: start and end, 8 bytes each, big-endian."""

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        """Append the window to `stream`."""
        stream.write(struct.pack(">qq", element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        """Read the next window from `stream`."""
        return TimeWindow(*struct.unpack(">qq", stream.read(16)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """Writes a count window to a stream: its id, 8 bytes, big-endian."""

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        """Append the window to `stream`."""
        stream.write(struct.pack(">q", element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        """Read the next window from `stream`."""
        return CountWindow(struct.unpack(">q", stream.read(8))[0])


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Writes the global window to a stream: one zero byte."""

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        """Append the window to `stream`."""
        stream.write(b"\0")

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        """Read the next window from `stream`."""
        stream.read(1)
        return _GLOBAL


def milliseconds(length: Time | Duration, who: str) -> int:
    """Return a `Time` or `Duration` in milliseconds; raises ProgramError for anything else."""
    if isinstance(length, Time):
        return length.to_milliseconds()
    if isinstance(length, Duration):
        return length.to_millis()
    raise ProgramError(
        "requires a Time",
        who=who,
        got=f"{type(length).__name__}: {length!r}",
        hint="write Time.seconds(5), for example",
    )
