"""What a source knows of its rows before it reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from firesteel.functions.columns.pushdowns import Extent


@dataclass(frozen=True)
class ColumnStatistics:
    """What is known of the values of a column (None: it is not known).

    `distinct` is the number of different ones, `low` and `high` are bounds, `nulls` is how many are NULL.
    """

    distinct: float | None = None
    low: object | None = None
    high: object | None = None
    nulls: float | None = None


@dataclass(frozen=True)
class TableStatistics:
    """About how many rows a source will give, of how many bytes, with what is known of its columns, in their order.

    `size` is in bytes as they are stored (None: not known), in so many `parts`, which have to be opened; no columns
    means that nothing is known of them. They decide how a query runs, never what its answer is.
    """

    rows: float
    size: float | None = None
    columns: tuple[ColumnStatistics, ...] = ()
    parts: int = 1


def of_extents(extents: Iterable[Extent | None]) -> ColumnStatistics:
    """Return what is known of a column of which parts are known; no bound is known if that of one part is not.

    The part with the most different values stands for all.

    >>> of_extents([Extent(10, 1, 5, nulls=0), Extent(10, 3, 9, nulls=2)])
    ColumnStatistics(distinct=None, low=1, high=9, nulls=2)
    >>> of_extents([Extent(10, distinct=4), Extent(10, distinct=8)])
    ColumnStatistics(distinct=8, low=None, high=None, nulls=None)
    >>> of_extents([Extent(10, 1, 5, nulls=0), None])
    ColumnStatistics(distinct=None, low=None, high=None, nulls=None)
    """
    parts = list(extents)
    known = [part for part in parts if part is not None and part.rows]
    if len(known) < len(parts) or not known:
        return ColumnStatistics()
    valued = [part for part in known if part.nulls != part.rows]
    lows, highs = [part.low for part in valued], [part.high for part in valued]
    nulls = [part.nulls for part in known if part.nulls is not None]
    distinct = [part.distinct for part in valued if part.distinct is not None]
    return ColumnStatistics(
        distinct=max(distinct) if distinct and len(distinct) == len(valued) else None,
        low=_bound(lows, min),
        high=_bound(highs, max),
        nulls=sum(nulls) if len(nulls) == len(known) else None,
    )


def merged(
    first: Sequence[ColumnStatistics], second: Sequence[ColumnStatistics]
) -> tuple[ColumnStatistics, ...]:
    """Return what is known of columns by either of two, by the first where both know something.

    >>> merged([ColumnStatistics(low=1)], [ColumnStatistics(distinct=7.0, low=0)])
    (ColumnStatistics(distinct=7.0, low=1, high=None, nulls=None),)
    """
    if not first:
        return tuple(second)
    pairs = ((astuple(one), astuple(other)) for one, other in zip(first, second, strict=True))
    return tuple(
        ColumnStatistics(
            *(left if left is not None else right for left, right in zip(one, other, strict=True))
        )
        for one, other in pairs
    )


def _bound(values: Sequence[Any], choose: Callable[[Sequence[Any]], object]) -> object | None:
    """Return the smallest or the largest of some bounds; None if one is not known, or they are no numbers alike."""
    if len({type(value) for value in values}) != 1 or None in values:
        return None
    return choose(values)
