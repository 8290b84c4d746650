"""Keeps the memory of one backend's states within its limits.

Contract: `begin` at the start of each epoch, `relax` between blocks of records, as often as you like: most calls do
nothing. Memory is measured so often that it exceeds its limit by little, and so seldom that measuring costs little.

If the limit is exceeded, the older half of the entries that can be read again is dropped. If the rest is still too
much, the epoch's changes are moved into a file (`spill`), and what can then be read again is dropped until memory is
half empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from firesteel.state.live.memory import Memory
from firesteel.state.live.place import StatePart
from firesteel.state.live.weights import Weight

CACHE_LIMIT: Final = 1_000_000
"""Entries that can be read again, by default: their number is exact, while their weight is estimated from samples."""

_LONGEST_PAUSE: Final = 16
"""Blocks between two measurements at most: growth may change at any time, for example when a job has caught up."""

_OBJECTS_PER_BLOCK: Final = 4096
"""Objects that a measurement may look at for each block until the next. So its cost for each block stays a few percent
of that of a block, which has some thousand records, however many lists and maps there are.
"""

_LENGTHENING: Final = 2
"""A pause is at most twice as long as the one before: the first blocks may be empty, and say nothing of growth."""

_PART_OF_THE_REST: Final = 2
"""The next measurement comes before 1 / 2 of what is free can be used at the present growth, so growth may double."""

_LEAST_GROWTH: Final = 1e-9
"""The share of memory by which a block is taken to fill it at least, so that it can be a divisor."""

_LASTING: Final = 2
"""With each measurement, former growth counts for 1 / 2 as much: a burst is remembered over a few measurements."""

_KEPT_AFTER_SPILL: Final = 2
"""After a spill 1 / 2 of the limit may stay in use, so that the next spill comes after as much again has changed."""


class MemoryWatch:
    """The watch over the memory that `parts` take.

    `cache_limit` bounds the number of entries in memory that can be read again. `memory_limit` bounds the bytes of all
    entries; None: what the other users of `memory` leave free. `spill` moves all changes out of the parts.
    """

    def __init__(
        self,
        parts: Sequence[StatePart],
        spill: Callable[[], None],
        memory: Memory,
        *,
        cache_limit: int = CACHE_LIMIT,
        memory_limit: int | None = None,
    ) -> None:
        self._parts = parts
        self._spill = spill
        self._memory = memory
        self._cache_limit = cache_limit
        self._memory_limit = memory_limit
        self._pause = self._left = 1
        self._filled = self._growth = 0.0

    def begin(self) -> None:
        """Start an epoch; the first `relax` measures."""
        self._memory.join(self)
        self._pause = self._left = 1

    def relax(self) -> None:
        """Count a block, and measure when its turn has come."""
        self._left -= 1
        if self._left <= 0:
            self._measure()

    @property
    def kept(self) -> int:
        """The bytes that all entries took when they were last measured."""
        return self._memory.kept_by(self)

    def weigh(self) -> Weight:
        """Return an estimate of the memory that the parts take."""
        weights = [part.weigh() for part in self._parts]
        return Weight(*map(sum, zip(*weights, strict=True))) if weights else Weight(0, 0, 0)

    def clean_entries(self) -> int:
        """Return how many cached entries can be read again."""
        return sum(part.clean_entries() for part in self._parts)

    def shrink(self) -> None:
        """Drop what can be read again until the limits are kept; at the start of an epoch that is always enough."""
        limit, weight = self._limit(), self.weigh()
        while self.clean_entries() and (weight.kept > limit or self.clean_entries() > self._cache_limit):
            weight = self._drop()
        self._memory.note(self, weight.kept)

    def _limit(self) -> int:
        return self._memory_limit or self._memory.share(self)

    def _measure(self) -> None:
        limit = self._limit()
        weight = self.weigh()
        growth = (self._fill(weight, limit) - self._filled) / self._pause
        self._growth = max(growth, self._growth / _LASTING)
        if weight.kept > limit or self.clean_entries() > self._cache_limit:
            weight = self._drop()
            if weight.kept > limit:
                self._spill()
                while weight.kept > limit // _KEPT_AFTER_SPILL and self.clean_entries():
                    weight = self._drop()
        self._memory.note(self, weight.kept)
        self._filled = self._fill(weight, limit)
        self._pause = self._left = self._next_pause(weight.scanned)

    def _next_pause(self, scanned: int) -> int:
        """Return the number of blocks until the next measurement; `scanned` is what this one cost, in objects."""
        until_filled = (1 - self._filled) / (_PART_OF_THE_REST * self._growth + _LEAST_GROWTH)
        longest = min(_LENGTHENING * self._pause, _LONGEST_PAUSE)
        blocks = int(min(until_filled, longest, self._cache_limit))  # each may add an entry
        return max(1, blocks, scanned // _OBJECTS_PER_BLOCK)

    def _fill(self, weight: Weight, limit: int) -> float:
        """Return how full memory is; 1 is its limit, in bytes or in entries."""
        return max(weight.kept / limit, self.clean_entries() / max(1, self._cache_limit))

    def _drop(self) -> Weight:
        for part in self._parts:
            part.relax()
        return self.weigh()
