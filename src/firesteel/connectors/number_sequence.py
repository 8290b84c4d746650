"""A bounded sequence of numbers, for tests and for streams of N events of any kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from firesteel.common.errors import ProgramError
from firesteel.functions.source import DiscoveryContext, RecordBatches, Source, Split

_BATCH = 4096
_FEWEST_PER_SPLIT = 1 << 20


class NumberSequenceSource(Source[int]):
    """The numbers from `start` to `end`, both inclusive, in one ordered sub-sequence per subtask.

    Positions are the numbers' distances from the start of their split. Raises ProgramError if `end` is less
    than `start`. Source of the semantics: Flink's NumberSequenceSource.

    >>> source = NumberSequenceSource(1, 10)
    >>> [split] = source.splits(frozenset())
    >>> list(source.read(split, 7, 10))
    [[8, 9, 10]]
    """

    def __init__(self, start: int, end: int) -> None:
        if end < start:
            raise ProgramError(
                "requires start <= end", who="NumberSequenceSource", got=f"start {start} and end {end}"
            )
        self._start = start
        self._end = end

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return one split per subtask, as Flink's enumerator does."""
        return [] if context.known else self._parts(context.parallelism)

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return splits of at least a million numbers, for callers that do not know the parallelism."""
        return [] if known else self._parts(min(64, (self._end - self._start) // _FEWEST_PER_SPLIT + 1))

    def _parts(self, count: int) -> list[Split]:
        total = self._end - self._start + 1
        bounds = [total * part // count for part in range(count + 1)]
        return [
            Split(f"{self._start + low}..{self._start + high - 1}", 0, high - low, self._start + low)
            for low, high in itertools.pairwise(bounds)
            if low < high
        ]

    def read(self, split: Split, start: int, end: int) -> RecordBatches[int]:
        first: int = split.payload
        for low in range(first + start, first + end, _BATCH):
            yield list(range(low, min(low + _BATCH, first + end)))
        return None
