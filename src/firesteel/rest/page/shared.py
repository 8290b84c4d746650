"""Answers that many pages ask for at the same time, computed once for all of them."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_MOST: Final = 256
_FAST: Final = 1


class Shared(Generic[T]):
    """Values by key, each used for `seconds` after it was computed.

    Those who ask for a new one at the same moment may compute it twice. At most 256 are kept.

    >>> lengths = Shared[int](seconds=60)
    >>> lengths.at_hand("spark") is None, lengths.of("spark", lambda: 5), lengths.at_hand("spark")
    (True, 5, 5)
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._turn = threading.Lock()
        self._values: dict[str, tuple[float, T]] = {}

    def at_hand(self, key: str) -> T | None:
        """Return a value that is fresh; None if there is none."""
        until, value = self._values.get(key, (float("-inf"), None))
        return value if self._clock() < until else None

    def of(self, key: str, compute: Callable[[], T]) -> T:
        """Return a fresh value, a new one if there is none."""
        found = self.at_hand(key)
        if found is not None:
            return found
        made = compute()
        with self._turn:
            if len(self._values) >= _MOST:
                self._values.clear()
            self._values[key] = self._clock() + self._seconds, made
        return made


class Packed:
    """The bytes of an answer; they are compressed once for all who ask for it.

    >>> answer = Packed(b'{"jobs":2}', "application/json")
    >>> gzip.decompress(answer.compressed)
    b'{"jobs":2}'
    """

    def __init__(self, body: bytes, media_type: str) -> None:
        self.body = body
        self.media_type = media_type

    @cached_property
    def compressed(self) -> bytes:
        """The body as gzip has it."""
        return gzip.compress(self.body, _FAST, mtime=0)
