"""What neighbouring inner joins ask of their rows, in whatever order they are done.

Equality is transitive: with ``a.x = b.x AND b.x = c.x`` a may be joined with c first, by ``a.x = c.x``. So values that
equal each other are a class, and a join asks for as many equalities of a class as make its values on both sides equal.
Source: the equivalence classes of PostgreSQL's planner.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

from firesteel.common.logical_types import BooleanType
from firesteel.relational.estimates.formulas import equal_pairs
from firesteel.relational.estimates.join_orders import Link
from firesteel.relational.estimates.selectivity import selectivity
from firesteel.relational.estimates.sizes import Column, Estimate, width_of
from firesteel.relational.expressions import Call, Expression, InputRef, references
from firesteel.relational.logical.joins import EQUALITIES

Known = tuple[tuple[tuple[Expression, ...], ...], ...]
"""For each class, its values of some relations: those are together that are known to be equal there."""


Value = TypeVar("Value", bound=Hashable)


class _Equal(NamedTuple):
    """Two values that are equal; those of one number are all equal to each other."""

    number: int
    values: tuple[Expression, Expression]
    written: bool = True


class JoinConditions:
    """The parts of the conditions of joins, over the columns of all relations, one after the other.

    `owners` says which relation a column is of. Sets of relations are bits of a mask.
    """

    def __init__(self, parts: Sequence[Expression], owners: Sequence[int]) -> None:
        self._owners = owners
        self._written = {frozenset(part.operands): part for part in parts if self._is_transitive(part)}
        self._classes = equal_values(part.operands for part in self._written.values())
        self._others = [part for part in parts if not self._is_transitive(part)]

    def of_relation(self, number: int) -> Known:
        """Return the values of a relation; nothing makes them equal there."""
        return tuple(
            tuple((value,) for value in values if self._mask(value) == 1 << number)
            for values in self._classes
        )

    def asked(self, left: tuple[int, Known], right: tuple[int, Known]) -> tuple[list[Expression], Known]:
        """Return what a join of relations asks for, and what is known of the values of both sides together."""
        both = left[0] | right[0]
        parts = [
            part
            for part in self._others
            if self._can_be_asked(part, both)
            and not any(self._can_be_asked(part, side) for side, _ in (left, right))
        ]
        known: list[tuple[tuple[Expression, ...], ...]] = []
        for one, other in zip(left[1], right[1], strict=True):
            if not (one and other):
                known.append(one or other)
                continue
            first, *more = one
            for values in (*other, *more):
                parts.append(self._equality(first, values, left[0]))
                first = (*first, *values)
            known.append((first,))
        return parts, tuple(known)

    def links(self, sizes: Sequence[Estimate], *, closed: bool) -> list[Link]:
        """Return the parts with how many pairs they let pass, also those that follow from others if `closed`.

        Columns that equal those of one relation are one key.
        """
        columns = [column for size in sizes for column in size.columns]
        keys: dict[tuple[int, int], list[tuple[int, Column, Column]]] = {}
        said: set[tuple[int, int]] = set()
        for number, values, written in self._equalities():
            if written or closed:
                pair = tuple((self._mask(value), _column(value, columns)) for value in values)
                (first, one), (second, other) = sorted(pair, key=lambda side: side[0])
                keys.setdefault((first, second), []).append((number, one, other))
                said |= {(first, second)} if written else set()
        links = [
            Link((self._mask(part), 0), selectivity([part], columns), equality=False)
            for part in self._others
            if self._sides(part) is None
        ]
        for both, key in keys.items():
            shares = [
                (number, _share([one for one in key if one[0] == number]))
                for number in dict.fromkeys(number for number, _, _ in key)
            ]
            links.append(Link(both, _share(key), keys=tuple(shares), follows=both not in said))
        return links

    def _equalities(self) -> Iterator[_Equal]:
        """Yield the pairs of values of different relations that are equal."""
        for number, values in enumerate(self._classes):
            for one, other in combinations(values, 2):
                if self._mask(one) != self._mask(other):
                    yield _Equal(number, (one, other), frozenset((one, other)) in self._written)
        for number, part in enumerate(self._others, len(self._classes)):
            if (sides := self._sides(part)) is not None:
                yield _Equal(number, sides)

    def _equality(self, first: Sequence[Expression], second: Sequence[Expression], left: int) -> Expression:
        """Return that values are equal: as it is written, if it is, and of both sides of the join."""
        pairs = [
            (one, other)
            for one in first
            for other in second
            if bool(self._mask(one) & left) != bool(self._mask(other) & left)
        ]
        for pair in pairs:
            if (part := self._written.get(frozenset(pair))) is not None:
                return part
        one, other = pairs[0]
        return Call(BooleanType(nullable=one.type.nullable or other.type.nullable), "=", (one, other))

    def _is_transitive(self, part: Expression) -> bool:
        """Return whether a part is an equality of values of two relations that are compared as they are."""
        if not (isinstance(part, Call) and part.function == "="):
            return False
        one, other = part.arguments
        return (
            one.type.copy(nullable=True) == other.type.copy(nullable=True)
            and self._mask(one) != self._mask(other)
            and all(self._mask(side).bit_count() == 1 for side in (one, other))
        )

    def _can_be_asked(self, part: Expression, mask: int) -> bool:
        """Return whether a part can be asked of a join of some relations; one that needs none comes last."""
        needed = self._mask(part)
        return not needed & ~mask if needed else mask == (1 << self._owners[-1] + 1) - 1

    def _mask(self, part: Expression) -> int:
        return sum(1 << owner for owner in {self._owners[place] for place in references(part)})

    def _sides(self, part: Expression) -> tuple[Expression, Expression] | None:
        """Return the values that a part compares, if it is an equality of something of different relations."""
        if not (isinstance(part, Call) and part.function in EQUALITIES):
            return None
        first, second = part.arguments
        one, other = self._mask(first), self._mask(second)
        return (first, second) if one and other and not one & other else None


def equal_values(pairs: Iterable[Iterable[Value]]) -> list[list[Value]]:
    """Return the values that pairs of equal ones make equal to each other, in classes.

    >>> equal_values(["ab", "cd", "be"])
    [['c', 'd'], ['a', 'b', 'e']]
    """
    classes: list[list[Value]] = []
    for pair in map(list, pairs):
        met = [known for known in classes if any(value in known for value in pair)]
        classes = [known for known in classes if known not in met]
        classes.append([*dict.fromkeys([*(value for known in met for value in known), *pair])])
    return classes


def _share(key: Iterable[tuple[int, Column, Column]]) -> float:
    _, ones, others = zip(*key, strict=True)
    return equal_pairs(ones, others)


def _column(value: Expression, columns: Sequence[Column]) -> Column:
    """Return what is known of a value of some columns."""
    if isinstance(value, InputRef):
        return columns[value.index]
    base = max(columns[place].base for place in references(value))
    return Column(width_of(value.type), base)
