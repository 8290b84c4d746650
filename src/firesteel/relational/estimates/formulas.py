"""What joins and groups make of the sizes of relations.

Two relations with `l` and `r` rows have ``l * r / max(values of the key on either side)`` pairs with equal keys: each
value of the side with fewer of them is there on the other side, too, and rows are spread evenly (Selinger et al. 1979).
If it is known of one side only how many values its key has, that number counts, but no more than the other side has
rows. If it is known of neither, the key is taken to be unique in the smaller relation, as that of a dimension is, which
gives as many pairs as the larger one has rows. A key of several columns has no more values than its relation has rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, prod
from typing import Final

from firesteel.relational.estimates.sizes import Column, Estimate

_SHRINKS: Final = 0.1


def equal_pairs(left: Sequence[Column], right: Sequence[Column]) -> float:
    """Return the share of the pairs of rows of two relations that are equal in some columns, none of them NULL.

    >>> fact = Column(8, base=1_000_000, distinct=100)
    >>> dimension = Column(8, base=100, distinct=100)
    >>> equal_pairs([fact], [dimension])
    0.01
    >>> guess = Column(8, base=100)
    >>> equal_pairs([Column(8, base=1_000_000)], [guess]), equal_pairs([fact, fact], [dimension, dimension])
    (0.01, 0.0001)
    """
    known = [values_of(side) for side in (left, right)]
    bases = [max(column.base for column in side) for side in (left, right)]
    match known:
        case (None, None):
            values = min(bases)
        case (None, float() | int() as one):
            values = min(one, bases[0])
        case (float() | int() as one, None):
            values = min(one, bases[1])
        case _:
            values = max(one for one in known if one is not None)
    return 1 / max(1.0, values)


def values_of(columns: Iterable[Column]) -> float | None:
    """Return how many values columns have together at most; None if it is not known of one of them."""
    columns = list(columns)
    numbers = [column.distinct for column in columns if column.distinct is not None]
    if len(numbers) < len(columns):
        return None
    return min(max((column.base for column in columns), default=1.0), prod(numbers))


def groups(given: Estimate, keys: Sequence[int]) -> float:
    """Return the number of groups by some columns: no more than there are rows.

    Where the number of values is not known it is a share of the rows that grows with the number of keys. Source:
    Flink's FlinkRelMdUtil.getAggregationRatioIfNdvUnavailable.
    """
    if not keys:
        return 1.0
    values = values_of(given.columns[key] for key in keys)
    if values is None:
        values = given.rows * (1 - exp(-_SHRINKS * len(keys)))
    return at_least_one(min(values, given.rows), given)


def at_least_one(rows: float, *given: Estimate) -> float:
    """Return a number of rows that come out of relations: none only if one of these is known to have none."""
    return max(rows, 1.0) if all(one.rows for one in given) else 0.0
