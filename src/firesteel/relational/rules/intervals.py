"""Joins within an interval of time: what their conditions say of two time attributes.

    l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts + INTERVAL '1' SECOND  =>  from -5000 to 1000

Two parts of the condition that bound the distance on both sides make such a join, or a single equality. With one bound,
or with more than two, a join is a regular one. Source: Flink's IntervalJoinUtil and StreamPhysicalIntervalJoinRule.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import LocalZonedTimestampType, LogicalType
from firesteel.common.logical_types.temporal import is_rowtime, is_time_attribute
from firesteel.common.places import errors_at
from firesteel.common.time import Instant
from firesteel.relational.expressions import Call, Expression, InputRef, Literal, references, rewritten
from firesteel.relational.folding import folded
from firesteel.relational.logical.joins import Join
from firesteel.relational.rules.substitution import conjuncts

_COMPARISONS: Final = frozenset({"=", "<", "<=", ">", ">="})
_STRICT: Final = {"<": -1, ">": 1}
_MIRRORED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_BEGIN: Final = dt.datetime(1970, 1, 1)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)


@dataclass(frozen=True)
class Interval:
    """The distance of two time attributes: the left one less the right one is from `lower` to `upper` (milliseconds).

    `left` and `right` are their places in the sides. `parts` are the parts of the condition that say so, `rest` the
    others.
    """

    lower: int
    upper: int
    left: int
    right: int
    event_time: bool
    parts: tuple[Expression, ...]
    rest: tuple[Expression, ...]


class _Part(NamedTuple):
    """What a part of a condition compares: two values that read one time attribute each, the left side's first."""

    sign: str
    values: tuple[Expression, Expression]
    left: int
    right: int


def interval_of(join: Join) -> Interval | None:
    """Return the interval of a join; None if it is another join.

    Raises ProgramError for time attributes of different types.
    """
    if not join.pairs:
        return None
    kinds = [field.type for field in (*join.left.row.fields, *join.right.row.fields)]
    width = len(join.left.row.fields)
    found = [(part, _compared(part, kinds, width)) for part in conjuncts(join.condition)]
    timed = [compared for _, compared in found if compared is not None]
    signs = [compared.sign for compared in timed]
    if signs != ["="] and (len(signs) != 2 or "=" in signs):
        return None
    bounds = _bounds(timed)
    if bounds is None:
        return None
    parts = tuple(part for part, compared in found if compared is not None)
    rest = tuple(part for part, compared in found if compared is None)
    first = timed[0]
    one, other = kinds[first.left], kinds[first.right + width]
    if one.root is not other.root:
        with errors_at(parts[0].whereabouts):
            raise ProgramError(
                "requires time attributes of one type",
                who="Interval join",
                got=f"{one.as_summary_string()} and {other.as_summary_string()}",
            )
    return Interval(*bounds, first.left, first.right, is_rowtime(one), parts, rest)


def _compared(part: Expression, kinds: Sequence[LogicalType], width: int) -> _Part | None:
    """Return what a part compares if it is two values, of which each reads the time attribute of one side alone."""
    if not isinstance(part, Call) or part.function not in _COMPARISONS:
        return None
    first, second = part.arguments
    read = [*references(first)], [*references(second)]
    if any(len(places) != 1 or not is_time_attribute(kinds[places[0]]) for places in read):
        return None
    (one,), (other,) = read
    if (one < width) is (other < width) or is_rowtime(kinds[one]) is not is_rowtime(kinds[other]):
        return None
    if one < width:
        return _Part(part.function, (first, second), one, other - width)
    return _Part(_MIRRORED[part.function], (second, first), other, one - width)


def _bounds(timed: list[_Part]) -> tuple[int, int] | None:
    """Return the lower and the upper bound; None if there are not both, or they are not constant."""
    lower = upper = None
    for part in timed:
        shifts = [_shift(value) for value in part.values]
        if shifts[0] is None or shifts[1] is None:
            return None
        bound = shifts[1] - shifts[0] + _STRICT.get(part.sign, 0)
        if part.sign in ("=", ">", ">="):
            lower = bound if lower is None else None
        if part.sign in ("=", "<", "<="):
            upper = bound if upper is None else None
    return None if lower is None or upper is None else (lower, upper)


def _shift(value: Expression) -> int | None:
    """Return how many milliseconds a value is after the time that it reads, as it is at the beginning of 1970."""

    def begun(part: Expression) -> Expression:
        if not isinstance(part, InputRef):
            return part
        zoned = isinstance(part.type, LocalZonedTimestampType)
        return Literal(part.type, Instant.of_epoch_milli(0) if zoned else _BEGIN)

    found = folded(rewritten(value, begun))
    moment = found.value if isinstance(found, Literal) else None
    if isinstance(moment, Instant):
        return moment.to_epoch_milli()
    return (moment - _BEGIN) // _MILLISECOND if isinstance(moment, dt.datetime) else None
