"""How much input an epoch takes: the back-pressure of the system.

The controller aims epochs at a target duration. From the records and the duration of the last epoch it
estimates what fits, and moves there at most eight-fold up or ten-fold down at a time; so a slow sink makes
epochs smaller, never memory larger, and a burst is worked off in epochs near the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FIRST: Final = 20_000
LEAST: Final = 500
_UP: Final = 8.0
_DOWN: Final = 0.1


@dataclass(frozen=True, slots=True)
class Admission:
    """The record limit of the next epoch. Immutable: `after` returns the controller for the epoch that follows.

    >>> Admission(target_ms=1000, most=10**6, limit=1000).after(records=1000, duration_ms=100.0).limit
    8000
    >>> Admission(target_ms=1000, most=10**6, limit=1000).after(records=1000, duration_ms=2000.0).limit
    500
    """

    target_ms: int
    most: int
    limit: int = FIRST

    def after(self, records: int, duration_ms: float) -> Admission:
        """Adapt to an epoch that took `duration_ms` for `records`.

        An epoch well below its limit and its target says nothing about what fits.
        """
        if records <= 0 or duration_ms <= 0:
            return self
        fits = records * self.target_ms / duration_ms
        if records < self.limit // 2 and duration_ms < self.target_ms:
            return self
        bounded = min(max(fits, self.limit * _DOWN), self.limit * _UP)
        return Admission(self.target_ms, self.most, int(min(max(bounded, min(LEAST, self.most)), self.most)))


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
