"""A source whose records arrive at given times: the readable records depend on the wall clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from firesteel.functions.source import DiscoveryContext, RecordBatches, Source, Split

Pair = tuple[int, int]
Pieces = Sequence[tuple[float, float]]
"""The duration (seconds) of each rate (records per second), one piece after another."""

FIRST: Final = 200
"""Records that are there at once: the epoch that reads them starts the workers, and its commit starts the clock."""

_BATCH: Final = 2048


def offered(pieces: Pieces, seconds: float) -> int:
    """Return the number of records that arrive until a number of seconds after the start of the clock.

    >>> offered([(2.0, 100.0), (1.0, 1000.0)], 2.5) - FIRST
    700
    """
    records, left = 0.0, max(seconds, 0.0)
    for lasts, rate in pieces:
        records += min(left, lasts) * rate
        left = max(0.0, left - lasts)
    return FIRST + int(records)


def came_at(pieces: Pieces, index: int) -> float:
    """Return the arrival of the record of an index, in seconds after the start of the clock.

    >>> came_at([(2.0, 100.0), (1.0, 1000.0)], FIRST + 699)
    2.5
    """
    left, at = float(index + 1 - FIRST), 0.0
    for lasts, rate in pieces:
        if left <= lasts * rate:
            return at + max(left, 0.0) / rate if rate else at
        left -= lasts * rate
        at += lasts
    return at


class PacedSource(Source[Pair]):
    """The records `generate(0)`, `generate(1)`, ...: a few at once, all others at the times of `pieces`.

    The clock starts when the job asks for splits after its first records. Its start is written to the file `started`,
    so that other processes can follow it. Split `i` of `n` has the indices `i`, `i + n`, ...
    """

    def __init__(self, generate: Callable[[int], Pair], pieces: Pieces, started: Path) -> None:
        self._generate = generate
        self._pieces = tuple(pieces)
        self._total = offered(self._pieces, sum(lasts for lasts, _ in self._pieces))
        self._file = started
        self._started: float | None = None

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return a split for each subtask."""
        if context.known:
            return []
        stride = context.parallelism
        ends = [_below(self._total, first, stride) for first in range(stride)]
        return [Split(str(first), 0, ends[first], (first, stride)) for first in range(stride)]

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return self.discover(DiscoveryContext(known, 1, 0))

    def available(self, split: Split, position: int, now: int) -> int:
        first, stride = split.payload
        if self._started is None:
            if position == 0:
                return _below(FIRST, first, stride)
            self._started = time.time()
            self._file.write_text(repr(self._started))
        return _below(offered(self._pieces, time.time() - self._started), first, stride)

    def read(self, split: Split, start: int, end: int) -> RecordBatches[Pair]:
        first, stride = split.payload
        for low in range(start, end, _BATCH):
            high = min(low + _BATCH, end)
            yield list(map(self._generate, range(first + low * stride, first + high * stride, stride)))
        return None


def _below(index: int, first: int, stride: int) -> int:
    """Return how many of `first, first + stride, ...` are less than `index`."""
    return max(0, -(-(index - first) // stride))
