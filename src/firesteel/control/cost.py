"""The duration of an epoch, estimated from earlier epochs: `floor + cost * records` milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SEEN: Final = 8
_FADING: Final = 0.8
"""The weight of an epoch relative to that of the next one."""

_CHANGED: Final = 1.8
"""An epoch this many times longer or shorter than expected makes the earlier epochs doubtful."""

_EXPLAINED: Final = 1.5
"""Such an epoch may be this many times longer or shorter than a line that includes it says."""

_UNSEEN: Final = 0.4
"""The part of an epoch that may be its floor until epochs of different sizes were compared."""

_DIFFERENT: Final = 1.9
"""The smallest ratio of the sizes of two epochs at which the line through them has a meaning."""

_LEAST_COST: Final = 1e-6
"""The least cost of a record in milliseconds."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load of an epoch: its records, its duration, and the bytes that went through its busiest subtask.

    Of several sources, `records` are those of the one that gave most, since the limit is the same for each of them.
    `first` marks the first epoch of a run, which starts workers and opens operators: it does not show the cost.
    """

    records: int
    duration_ms: float
    bytes: int = 0
    first: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """The floor of an epoch and the cost of a record, in milliseconds. Immutable: `after` returns the next one.

    Contract: `seen` are the last epochs that fit together, newest last. The line through them is the one with the least
    relative errors; newer epochs count more. If their sizes are about the same they say nothing about the floor, and it
    does not change. The floor is `certain` if different sizes were compared. An epoch that differs a lot from the
    expectation makes earlier ones void, oldest first, until a line explains it. The floor stays certain if epochs
    became slower, but not if they became faster.

    >>> cost = Cost().after(Load(1000, 300.0)).after(Load(4000, 600.0))
    >>> round(cost.floor_ms), round(cost.record_ms, 3), cost.certain
    (200, 0.1, True)
    """

    floor_ms: float = 0.0
    record_ms: float = 0.0
    certain: bool = False
    seen: tuple[Load, ...] = ()

    def of(self, records: int) -> float:
        """Return the expected duration of an epoch with this number of records, in milliseconds."""
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
        """Return the line's duration at zero records; the mean duration if larger epochs took no longer."""
        rising = self.y * self.xx - self.x * self.xy
        spread = self.xx * self.yy - self.xy * self.xy
        if rising <= 0 or spread <= 0:
            return self.x / self.xx
        return (self.x * self.yy - self.y * self.xy) / spread

    def cost(self, floor: float) -> float:
        """Return the cost of a record if this is the floor."""
        return (self.y - floor * self.xy) / self.yy


def different(sizes: Iterable[int]) -> bool:
    """Return whether sizes differ enough to separate floor and cost."""
    known = tuple(sizes)
    return max(known) >= _DIFFERENT * min(known)


def _ratio(one: float, other: float) -> float:
    return max(one, other) / min(one, other)
