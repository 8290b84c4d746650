"""The amount of input that an epoch takes: the back-pressure of the system.

An epoch of `n` records is expected to last `floor + cost * n` milliseconds, and the next one gets as many records as
fit into the target duration. So a slow sink makes epochs smaller and never uses more memory, and a burst is processed
in epochs near the target. An epoch takes all available input up to that limit; with less input, epochs are as short as
the floor allows. Each source of a job may give as many records as the limit says, so records are those of the source
that gave most: what the others gave beside them is a part of their cost.

- **Floor and cost** come from the last epochs ([`Cost`](cost.py)). An epoch that differs a lot from the expectation
  makes the earlier ones void: a sink that becomes slow counts at once.
- **The target** is at least twice the floor, once epochs of different sizes have shown it. If the floor alone exceeds
  the target you set, half of an epoch is for its records.
- **Trials.** Epochs of equal size do not show the floor. So after `_LEVEL` epochs of about the same size that all
  reached their limit and lasted about the target or longer, one takes half as many records. If that changes the
  duration little, most of it is floor, and the limit grows.
- **Growth** is careful: to twice the last epoch's records, or to the number that would reach the target if there was no
  floor, and at most eight-fold. So an epoch that was sized by a wrong floor is at most twice as long as the one before
  it, and shows the error.
- **Bytes** bound the limit, too: `budget` is the number of bytes that one subtask may take in or send in an epoch,
  estimated from the mean size of the last epoch's records.
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
"""The shortest credible duration in milliseconds; anything below is an error of the clock."""

_LEVEL: Final = 6
_NEAR: Final = 0.75
"""The part of the target from which it is worth looking for the floor."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The record limit of the next epoch. Immutable: `after` returns the controller for the epoch that follows.

    Contract: `limit` is in `[1, most]`, and at least `LEAST` (half of it in a trial) if `most` and the bytes allow it.
    In one step it grows at most eight-fold or falls to a tenth of the last epoch's records; the bytes can lower it
    further. `cost` is the estimate so far; `sizes` are the records of the last epochs.

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
        # An epoch well below its limit and its target shows the floor, but not the number of records that fit.
        if load.records < self.limit // 2 and load.duration_ms < self.target_ms / 2:
            return learnt._bounded(self.limit, load)
        aimed = learnt._aimed(load)
        if learnt._should_try(load):
            return learnt._bounded(min(aimed, load.records / 2), load, LEAST // 2)
        return learnt._bounded(aimed, load)

    def _target(self) -> float:
        return max(self.target_ms, 2 * self.cost.floor_ms) if self.cost.certain else self.target_ms

    def _aimed(self, load: Load) -> float:
        """Return the number of records that fit into the target by the estimated cost, within the bounds of a step."""
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
        """Return whether the last epochs all had about the same size and lasted as long as the target or longer."""
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
    """Divide `budget` as evenly as possible; each name gets at most the amount it wants.

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
