"""Whether what was measured over time drifts: the slope of a robust line, against a tolerance that is stated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isinf
from statistics import median
from typing import Final

Series = Sequence[tuple[float, float]]
"""Pairs of seconds and a value."""

_POINTS: Final = 120
"""Points of a series that are compared to each other, at most: neighbours become one, their median."""

FEWEST: Final = 4
"""Points that are needed to judge a series."""


@dataclass(frozen=True)
class Limit:
    """How much a quantity may grow over the time that is measured: `part` of its median, plus `beyond`.

    An infinite `part` means that the quantity is shown and not judged. `unit` is what a shown figure is divided by, and
    its name. Shrinking is allowed.
    """

    name: str
    part: float
    beyond: float
    unit: float = 1.0
    unit_name: str = ""


@dataclass(frozen=True)
class Verdict:
    """What came of a quantity: its median, its growth over the time measured, and the growth that was allowed."""

    limit: Limit
    median: float
    growth: float
    allowed: float

    @property
    def drifts(self) -> bool:
        """Whether it grew more than it may."""
        return self.growth > self.allowed

    def __str__(self) -> str:
        unit, name = self.limit.unit, self.limit.unit_name
        said = "not judged" if isinf(self.allowed) else "DRIFTS" if self.drifts else "ok"
        return (
            f"{self.limit.name:<28}{self.median / unit:12,.1f}{self.growth / unit:+12,.1f}"
            f"{self.allowed / unit:12,.1f} {name:<6}{said}"
        )


def judged(limit: Limit, series: Series, warm_up_s: float) -> Verdict:
    """Judge a series from `warm_up_s` on. Raises ValueError if fewer than four points are left.

    >>> steady = [(second, 100.0 + second % 3) for second in range(100)]
    >>> judged(Limit("things", 0.1, 0.0), steady, 20).drifts
    False
    >>> judged(Limit("things", 0.1, 0.0), [(at, value + at) for at, value in steady], 20).drifts
    True
    """
    points = thinned([(at, value) for at, value in series if at >= warm_up_s])
    if len(points) < FEWEST:
        raise ValueError(f"{limit.name}: {len(points)} points after {warm_up_s:g} s are too few to judge")
    middle = median(value for _, value in points)
    growth = slope(points) * (points[-1][0] - points[0][0])
    return Verdict(limit, middle, growth, limit.part * middle + limit.beyond)


def slope(points: Series) -> float:
    """The median of the slopes between any two points (Theil and Sen): a few outliers do not move it.

    >>> slope([(0, 1.0), (1, 3.0), (2, 5.0), (3, 700.0), (4, 9.0)])
    2.0
    """
    return median(
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for earlier, later in combinations(points, 2)
        if later[0] > earlier[0]
    )


def thinned(points: Series) -> list[tuple[float, float]]:
    """Neighbours put together until there are few: the median of their times and of their values."""
    size = -(-len(points) // _POINTS) or 1
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [(median(at for at, _ in group), median(value for _, value in group)) for group in groups]
