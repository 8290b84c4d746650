"""The share of the rows of a relation that meet a condition.

Where bounds or numbers of values are known, values are taken to be spread evenly and conditions on different columns to
have nothing to do with each other (Selinger et al.: Access Path Selection in a Relational Database Management System,
SIGMOD 1979). Where nothing is known, the shares are Flink's (SelectivityEstimator).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Final, NamedTuple

from firesteel.relational.estimates.sizes import Column, number
from firesteel.relational.expressions import Call, Expression, InputRef, Literal

_EQUAL: Final = 0.15
_COMPARED: Final = 0.5
_NULL: Final = 0.1
_LIKE: Final = 0.05
_OTHER: Final = 0.25
_COMPARISONS: Final = frozenset(["<", "<=", ">", ">="])


class _Range(NamedTuple):
    """A comparison of a column with a constant; `above` is whether larger values meet it."""

    column: int
    above: bool
    value: float


def selectivity(parts: Iterable[Expression], columns: Sequence[Column]) -> float:
    """Return the share of the rows for which all parts of a condition are TRUE; those on one column count together.

    >>> from firesteel.common.logical_types import BooleanType, IntType
    >>> column, truth = InputRef(IntType(), 0), BooleanType()
    >>> below = Call(truth, "<", (column, Literal(IntType(), 30)))
    >>> above = Call(truth, ">", (column, Literal(IntType(), 10)))
    >>> known = [Column(4, 1000, distinct=100, low=0, high=100)]
    >>> selectivity([below], known), selectivity([above, below], known)
    (0.3, 0.2)
    >>> selectivity([Call(truth, "=", (column, Literal(IntType(), 7)))], known)
    0.01
    """
    ranges: dict[int, list[_Range]] = {}
    share = 1.0
    for part in parts:
        found = _range(part, columns)
        if found is None:
            share *= _of_part(part, columns)
        else:
            ranges.setdefault(found.column, []).append(found)
    return share * prod(_within(columns[place], found) for place, found in ranges.items())


def _range(part: Expression, columns: Sequence[Column]) -> _Range | None:
    """Return a comparison of a column, whose bounds are known, with a constant; None for other conditions."""
    match part:
        case Call(function=sign, arguments=(InputRef(index=place), Literal() as given)) if (
            sign in _COMPARISONS
        ):
            above = sign.startswith(">")
        case Call(function=sign, arguments=(Literal() as given, InputRef(index=place))) if (
            sign in _COMPARISONS
        ):
            above = sign.startswith("<")
        case _:
            return None
    value = number(given.value)
    known = columns[place]
    if value is None or known.low is None or known.high is None:
        return None
    return _Range(place, above, value)


def _within(column: Column, ranges: Sequence[_Range]) -> float:
    assert column.low is not None
    assert column.high is not None
    low = max([column.low, *(one.value for one in ranges if one.above)])
    high = min([column.high, *(one.value for one in ranges if not one.above)])
    if low > high:
        return 0.0
    least = 1 / column.distinct if column.distinct else 0.0
    return max((high - low) / ((column.high - column.low) or 1.0), least) if column.high > column.low else 1.0


def _of_part(part: Expression, columns: Sequence[Column]) -> float:
    match part:
        case Literal(value=value):
            return 1.0 if value is True else 0.0
        case InputRef():
            return _COMPARED
        case Call(function="AND", arguments=parts):
            return selectivity(parts, columns)
        case Call(function="OR", arguments=parts):
            return 1 - prod(1 - _of_part(one, columns) for one in parts)
        case Call(function="NOT", arguments=(inner,)):
            return 1 - _of_part(inner, columns)
        case Call(function="=" | "IS NOT DISTINCT FROM", arguments=(first, second)):
            return _equal(first, second, columns)
        case Call(function="<>" | "IS DISTINCT FROM", arguments=(first, second)):
            return 1 - _equal(first, second, columns)
        case Call(function="IN", arguments=(value, *others)):
            return min(1.0, sum(_equal(value, other, columns) for other in others))
        case Call(function="<" | "<=" | ">" | ">="):
            return _compared(part, columns)
        case Call(function="IS NULL", arguments=(inner,)):
            return _null(inner, columns)
        case Call(function="IS NOT NULL", arguments=(inner,)):
            return 1 - _null(inner, columns)
        case Call(function="LIKE"):
            return _LIKE
    return _OTHER


def _compared(part: Expression, columns: Sequence[Column]) -> float:
    found = _range(part, columns)
    return _COMPARED if found is None else _within(columns[found.column], [found])


def _equal(first: Expression, second: Expression, columns: Sequence[Column]) -> float:
    """Return the share for an equality: one of so many values."""
    known = [columns[one.index].distinct for one in (first, second) if isinstance(one, InputRef)]
    numbers = [values for values in known if values]
    if not numbers:
        return _EQUAL
    column, constant = (first, second) if isinstance(first, InputRef) else (second, first)
    if (
        isinstance(constant, Literal)
        and isinstance(column, InputRef)
        and _is_beyond(columns[column.index], constant)
    ):
        return 0.0
    return 1 / max(numbers)


def _is_beyond(column: Column, constant: Literal) -> bool:
    value = number(constant.value)
    if value is None or column.low is None or column.high is None:
        return False
    return not column.low <= value <= column.high


def _null(value: Expression, columns: Sequence[Column]) -> float:
    if not value.type.nullable:
        return 0.0
    known = columns[value.index].nulls if isinstance(value, InputRef) else None
    return _NULL if known is None else known
