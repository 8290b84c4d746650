"""What an epoch costs, learnt from the epochs themselves: `floor + cost * records` milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SEEN: Final = 8
_FADING: Final = 0.8
"""The weight of an epoch beside that of the next one."""

_CHANGED: Final = 1.8
"""How many times longer or shorter than expected an epoch is if it is worth while to ask what still holds."""

_EXPLAINED: Final = 1.5
"""How many times longer or shorter such an epoch may be than a line that counts it in says."""

_UNSEEN: Final = 0.4
"""The part of an epoch that may be its floor as long as no sizes have been compared."""

_DIFFERENT: Final = 1.9
"""The ratio of the sizes of two epochs from which on the line through them says something."""

_LEAST_COST: Final = 1e-6
"""Milliseconds a record takes at least."""


@dataclass(frozen=True, slots=True)
class Load:
    """What an epoch was: its records, how long it took, and the bytes that went through its busiest subtask.

    `first` is the first one of a run, for which workers were started and operators opened: it shows no cost.
    """

    records: int
    duration_ms: float
    bytes: int = 0
    first: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """The floor of an epoch and the cost of a record, in milliseconds. Immutable: `after` returns what follows.

    Contract: `seen` are the last epochs that fit together, newest last. The line through them is the one with the
    least relative errors, newer ones counting more. Where their sizes are about the same they say nothing about the
    floor, and it stays what it was. `certain` is the floor if different sizes were compared. An epoch that is far off
    what was expected makes those before it void, as many as it takes until a line explains it; the floor outlives that
    if epochs became slower, and is open again if they became faster.

    >>> cost = Cost().after(Load(1000, 300.0)).after(Load(4000, 600.0))
    >>> round(cost.floor_ms), round(cost.record_ms, 3), cost.certain
    (200, 0.1, True)
    """

    floor_ms: float = 0.0
    record_ms: float = 0.0
    certain: bool = False
    seen: tuple[Load, ...] = ()

    def of(self, records: int) -> float:
        """Return how long an epoch of so many records is expected to take, in milliseconds."""
        return self.floor_ms + self.record_ms * records

    def after(self, load: Load) -> Cost:
        """Learn from a committed epoch, which must have records and a duration."""
        seen = (*self.seen, load)[-_SEEN:]
        learnt = self._through(seen)
        if self.seen and _ratio(load.duration_ms, self.of(load.records)) > _CHANGED:
            while len(seen) > 1 and _ratio(load.duration_ms, learnt.of(load.records)) > _EXPLAINED:
                seen = seen[1:]
                learnt = self._through(seen)
        return learnt

    def _through(self, seen: tuple[Load, ...]) -> Cost:
        """Return the line through these epochs; their last one is new."""
        last, shortest = seen[-1], min(load.duration_ms for load in seen)
        fit = _Sums.of(seen)
        if different(load.records for load in seen):
            floor = max(fit.floor(), 0.0)
            return Cost(floor, max(fit.cost(floor), _LEAST_COST), True, seen)
        faster = len(seen) == 1 and bool(self.seen) and last.duration_ms < self.of(last.records)
        certain = self.certain and not faster
        floor = min(self.floor_ms, shortest if certain else _UNSEEN * shortest)
        return Cost(floor, max(fit.cost(floor), _LEAST_COST), certain, seen)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Weighted sums over epochs of `1 / duration` (x), `records / duration` (y), and their products."""

    x: float
    y: float
    xx: float
    xy: float
    yy: float

    @classmethod
    def of(cls, seen: tuple[Load, ...]) -> _Sums:
        x = y = xx = xy = yy = 0.0
        for age, load in enumerate(reversed(seen)):
            weight, per_ms = _FADING**age, 1 / load.duration_ms
            rate = load.records * per_ms
            x += weight * per_ms
            y += weight * rate
            xx += weight * per_ms * per_ms
            xy += weight * per_ms * rate
            yy += weight * rate * rate
        return cls(x, y, xx, xy, yy)

    def floor(self) -> float:
        """Where the line meets no records; the mean duration if larger epochs did not take longer."""
        rising = self.y * self.xx - self.x * self.xy
        spread = self.xx * self.yy - self.xy * self.xy
        if rising <= 0 or spread <= 0:
            return self.x / self.xx
        return (self.x * self.yy - self.y * self.xy) / spread

    def cost(self, floor: float) -> float:
        """What a record costs if this is the floor."""
        return (self.y - floor * self.xy) / self.yy


def different(sizes: Iterable[int]) -> bool:
    """Whether sizes differ enough to tell floor and cost apart."""
    known = tuple(sizes)
    return max(known) >= _DIFFERENT * min(known)


def _ratio(one: float, other: float) -> float:
    return max(one, other) / min(one, other)
