"""How much input an epoch takes: the back-pressure of the system.

An epoch of `n` records is taken to last `floor + cost * n` milliseconds. Both are measured from the epochs
themselves, and the next epoch is given as many records as fit into the target duration: so a slow sink makes epochs
smaller, never memory larger, and a burst is worked off in epochs near the target. An epoch takes what is there, up to
that limit: below it epochs are as short as the floor allows.

- The **cost** of a record is what the last epoch tells where that is more than the one before did, else the geometric
  mean of both: a sink that turns slow is believed at once, as the next epoch would be long otherwise; one that was
  slow for an epoch (a pause of a collector, a compaction beside it) is made up for within three.
- The **floor** is where the line through two successive epochs of different sizes meets no records; the lowest of
  the last three counts. A wrong one does no harm: at the target duration the limit stays where it is for any floor,
  which only decides how fast it gets there. No floor above `_TRUSTED` of the target is used, or the limit would swing.
- The target is at least twice the floor, once it was seen twice: where the floor alone is above what the user asks for,
  epochs of half floor and half records are better than a limit that shrinks without end.
- Bytes bound the limit, too: `budget` is what one subtask may take in or send in an epoch, by the mean size of the
  last epoch's records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

FIRST: Final = 20_000
LEAST: Final = 500
_UP: Final = 8.0
_DOWN: Final = 0.1
_TRUSTED: Final = 0.4
_FLOORS: Final = 3
_SHARE: Final = 0.05
"""The part of an epoch that is for its records at least, whatever the floor."""

_LEAST_COST: Final = 1e-6
"""Milliseconds a record takes at least."""

_DIFFERENT: Final = 1.4
"""The ratio of the records of two epochs from which on the line through them says something."""


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
class Admission:
    """The record limit of the next epoch. Immutable: `after` returns the controller for the epoch that follows.

    Contract: `limit` is in `[1, most]`, and at least `LEAST` where `most` and the bytes allow it; it moves at most
    eight-fold up, or to a tenth of what the last epoch took, at a time, but at once where bytes demand it. `floors_ms`
    are the last floors that were seen; `cost_ms` (a record's) is None as long as no epoch has counted.

    >>> Admission(target_ms=1000, most=10**6, limit=1000).after(Load(records=1000, duration_ms=100.0)).limit
    8000
    >>> Admission(target_ms=1000, most=10**6, limit=8000).after(Load(records=8000, duration_ms=2000.0)).limit
    4000
    >>> Admission(target_ms=1000, most=10**6, limit=8000, budget=10**6).after(Load(8000, 1000.0, 4 * 10**6)).limit
    2000
    """

    target_ms: int
    most: int
    limit: int = FIRST
    budget: int = 1 << 62
    floors_ms: tuple[float, ...] = ()
    cost_ms: float | None = None
    last: Load | None = None

    def after(self, load: Load) -> Admission:
        """Adapt to an epoch that has been committed."""
        if load.records <= 0 or load.duration_ms <= 0:
            return self
        if load.first:
            return self._bounded(self.limit, load)
        floors = self._floors(load)
        learned = replace(self, floors_ms=floors, last=self._anchor(load))
        # An epoch well below its limit and its target tells the floor, but not what fits.
        if load.records < self.limit // 2 and load.duration_ms < self.target_ms / 2:
            return learned._bounded(self.limit, load)
        target = self._target(floors)
        trusted = min(min(floors, default=0.0), _TRUSTED * target)
        rest = max(load.duration_ms - trusted, load.duration_ms * _SHARE)
        cost = max(rest / load.records, _LEAST_COST)
        expected = cost if self.cost_ms is None else max(cost, sqrt(cost * self.cost_ms))
        fits = (target - trusted) / expected
        # An epoch that was below its limit shows how far the limit is off.
        aimed = min(max(fits, min(self.limit, load.records) * _DOWN), self.limit * _UP)
        return replace(learned, cost_ms=cost)._bounded(aimed, load)

    def _target(self, floors: tuple[float, ...]) -> float:
        certain = min(floors) if len(floors) > 1 else 0.0
        return max(self.target_ms, 2 * certain)

    def _floors(self, load: Load) -> tuple[float, ...]:
        """The last floors that were seen, with what `load` tells: never above what an epoch has taken."""
        floors, last = self.floors_ms, self.last
        if last is not None and _differ(load.records, last.records):
            slope = (load.duration_ms - last.duration_ms) / (load.records - last.records)
            # A record that seems to cost less than nothing comes of noise, or of a cost that has changed in between.
            if slope >= 0:
                floors = (*floors, max(load.duration_ms - slope * load.records, 0.0))[-_FLOORS:]
        return tuple([min(floor, load.duration_ms) for floor in floors])

    def _anchor(self, load: Load) -> Load:
        """What the next epoch is compared to: sizes that change little by little differ in the end."""
        last = self.last
        return load if last is None or _differ(load.records, last.records) else last

    def _bounded(self, aimed: float, load: Load) -> Admission:
        limit = min(max(aimed, LEAST), self.most)
        if load.bytes > 0:
            limit = min(limit, self.budget * load.records / load.bytes)
        return replace(self, limit=max(int(limit), 1))


def _differ(records: int, others: int) -> bool:
    return max(records, others) >= _DIFFERENT * min(records, others)


def share(budget: int, wants: dict[str, int]) -> dict[str, int]:
    """Divide `budget` among those who want at most so much each, as evenly as their wants allow.

    >>> share(10, {"a": 2, "b": 100, "c": 100})
    {'a': 2, 'b': 4, 'c': 4}
    """
    given: dict[str, int] = {}
    left, count = budget, len(wants)
    for name, want in sorted(wants.items(), key=lambda item: item[1]):
        part = min(want, max(left // count, 1)) if left > 0 else 0
        given[name] = part
        left -= part
        count -= 1
    return {name: given[name] for name in wants}
