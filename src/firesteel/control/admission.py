"""How much input an epoch takes: the back-pressure of the system.

An epoch of `n` records is expected to last `floor + cost * n` milliseconds, and the next one gets as many records as
fit into the target duration. So a slow sink makes epochs smaller, never memory larger, and a burst is worked off in
epochs near the target. An epoch takes what is there, up to that limit: below it epochs are as short as the floor
allows.

- **Floor and cost** come from the last epochs ([`Cost`](cost.py)). One that is far off what was expected makes
  the earlier ones void: a sink that turns slow is believed at once.
- **The target** is at least twice the floor, once epochs of different sizes have shown it. Where the floor alone is
  above what the user asks for, half of an epoch is for its records.
- **Trials.** Epochs of equal size do not tell the floor, whatever it is. So after `_LEVEL` epochs of about the same
  size that all took their limit and lasted about the target or longer, one takes half as many records. If that changes
  little, the floor is what they cost, and the limit grows.
- **Growth** is careful: to twice the last epoch's records, or to what would reach the target if records were all that
  it cost, and at most eight-fold. So an epoch that was sized by a wrong floor is at most twice as long as the one
  before it, and shows the error.
- **Bytes** bound the limit, too: `budget` is what one subtask may take in or send in an epoch, by the mean size of the
  last epoch's records.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Final

from firesteel.control.cost import Cost, Load, different

FIRST: Final = 20_000
LEAST: Final = 500
_UP: Final = 8.0
_CAREFUL: Final = 2.0
_DOWN: Final = 0.1
_SHORTEST: Final = 1e-3
"""Milliseconds below which a duration is a clock's mistake."""

_LEVEL: Final = 6
_NEAR: Final = 0.75
"""The part of the target from which on it is worth while to look for the floor."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The record limit of the next epoch. Immutable: `after` returns the controller for the epoch that follows.

    Contract: `limit` is in `[1, most]`, and at least `LEAST` (half of it in a trial) where `most` and the bytes allow
    it; it moves at most eight-fold up, or to a tenth of what the last epoch took, at a time, but at once where bytes
    demand it. `cost` is what was learnt; `sizes` are the last epochs' records.

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
    cost: Cost = field(default_factory=Cost)
    sizes: tuple[int, ...] = ()

    def after(self, load: Load) -> Admission:
        """Adapt to an epoch that has been committed."""
        if load.records <= 0 or load.duration_ms < _SHORTEST:
            return self
        if load.first:
            return self._bounded(self.limit, load)
        sizes = (*self.sizes, load.records)[-_LEVEL:]
        learnt = replace(self, cost=self.cost.after(load), sizes=sizes)
        # An epoch well below its limit and its target tells the floor, but not what fits.
        if load.records < self.limit // 2 and load.duration_ms < self.target_ms / 2:
            return learnt._bounded(self.limit, load)
        aimed = learnt._aimed(load)
        if learnt._should_try(load):
            return learnt._bounded(min(aimed, load.records / 2), load, LEAST // 2)
        return learnt._bounded(aimed, load)

    def _target(self) -> float:
        return max(self.target_ms, 2 * self.cost.floor_ms) if self.cost.certain else self.target_ms

    def _aimed(self, load: Load) -> float:
        """What fits into the target by what was learnt, within the bounds of a step."""
        cost, target = self.cost, self._target()
        floor = min(cost.floor_ms, target / 2)
        told = max(load.duration_ms - floor, 0.0) / load.records
        each = max(cost.record_ms, sqrt(told * cost.record_ms))
        growth = min(max(_CAREFUL, self.target_ms / load.duration_ms), _UP)
        # An epoch that was below its limit shows how far the limit is off; one below the target does not deny it.
        fast = load.duration_ms <= self.target_ms
        most = growth * (max(self.limit, load.records) if fast else load.records)
        return max(
            min((target - floor) / each, most, self.limit * _UP), min(self.limit, load.records) * _DOWN
        )

    def _should_try(self, load: Load) -> bool:
        """Whether epochs that are as long as the target, or longer, have been of one size for a while."""
        return (
            load.duration_ms > _NEAR * self.target_ms
            and load.records >= _NEAR * self.limit
            and len(self.sizes) == _LEVEL
            and not different(self.sizes)
        )

    def _bounded(self, aimed: float, load: Load, least: int = LEAST) -> Admission:
        limit = min(max(aimed, least), self.most)
        if load.bytes > 0:
            limit = min(limit, self.budget * load.records / load.bytes)
        return replace(self, limit=max(int(limit), 1))


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
