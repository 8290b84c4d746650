"""The logical node of joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from firesteel.common.logical_types import BooleanType, Field, RowType
from firesteel.functions.columns.joins import KEEPING, JoinKind
from firesteel.relational.expressions import Call, Expression, InputRef, references, shifted
from firesteel.relational.logical.nodes import LogicalNode

EQUALITIES: Final = ("=", "IS NOT DISTINCT FROM")
"""The functions that say that two values are equal."""


@dataclass(frozen=True)
class Join(LogicalNode):
    """The pairs of rows of two relations for which the condition is TRUE, and rows without a partner.

    `condition` is over the left columns and then the right ones. SEMI and ANTI have the left columns only.
    `times_to_live` are those of the hint STATE_TTL for each side (milliseconds, 0: for ever, None: as the session
    says).
    """

    left: LogicalNode
    right: LogicalNode
    kind: JoinKind
    condition: Expression
    times_to_live: tuple[int | None, int | None] = (None, None)

    def __post_init__(self) -> None:
        assert isinstance(self.condition.type, BooleanType)
        width = len(self.left.row.fields) + len(self.right.row.fields)
        assert all(0 <= index < width for index in references(self.condition))

    @property
    def inputs(self) -> tuple[LogicalNode, ...]:
        """Return both sides."""
        return self.left, self.right

    def with_inputs(self, inputs: tuple[LogicalNode, ...]) -> Join:
        """Return the join of other relations."""
        left, right = inputs
        return replace(self, left=left, right=right)

    @property
    def pairs(self) -> bool:
        """Return whether the result has columns of both sides."""
        return self.kind not in ("SEMI", "ANTI")

    @property
    def row(self) -> RowType:
        """Return the columns of the result, each with a name of its own."""
        return joined_row(self.left.row, self.right.row, self.kind)


def joined_row(left: RowType, right: RowType, kind: JoinKind) -> RowType:
    """Return the columns of a join; those of a side can be NULL if rows of the other one are kept.

    >>> from firesteel.common.logical_types import IntType
    >>> row = RowType.of({"id": IntType(nullable=False)}, nullable=False)
    >>> [(field.name, str(field.type)) for field in joined_row(row, row, "LEFT").fields]
    [('id', 'INT NOT NULL'), ('id0', 'INT')]
    """
    if kind in ("SEMI", "ANTI"):
        return left
    keeps_left, keeps_right = KEEPING[kind]
    fields = [
        *(_field(field, nullable=keeps_right) for field in left.fields),
        *(_field(field, nullable=keeps_left) for field in right.fields),
    ]
    names = different_names([field.name for field in fields])
    return RowType(
        tuple(Field(name, field.type) for name, field in zip(names, fields, strict=True)), nullable=False
    )


class Equality(NamedTuple):
    """A part of a condition that says that two values are equal, one of each side, over the columns of its side."""

    left: Expression
    right: Expression
    null_safe: bool


def equality(part: Expression, width: int) -> Equality | None:
    """Return the equality that a part of a condition is, if it is one; the left side has `width` columns."""
    if not (isinstance(part, Call) and part.function in EQUALITIES):
        return None
    first, second = part.arguments
    if _side(first, width) == 1 and _side(second, width) == 0:
        first, second = second, first
    if _side(first, width) != 0 or _side(second, width) != 1:
        return None
    return Equality(first, shifted(second, -width), part.function == "IS NOT DISTINCT FROM")


def key_condition(key: tuple[int, int, bool], left: RowType, right: RowType) -> Expression:
    """Return the equality of a column of each side, which are places; with TRUE behind them, NULL equals itself."""
    mine, theirs, null_safe = key
    first, second = left.fields[mine].type, right.fields[theirs].type
    nullable = not null_safe and (first.nullable or second.nullable)
    function = "IS NOT DISTINCT FROM" if null_safe else "="
    columns = InputRef(first, mine), InputRef(second, len(left.fields) + theirs)
    return Call(BooleanType(nullable=nullable), function, columns)


def _side(value: Expression, width: int) -> int | None:
    """Return which side a value reads; None if it reads none or both."""
    sides = {int(place >= width) for place in references(value)}
    return sides.pop() if len(sides) == 1 else None


def _field(field: Field, *, nullable: bool) -> Field:
    return Field(field.name, field.type.copy(True)) if nullable else field


def different_names(names: Sequence[str]) -> list[str]:
    """Return names of which those that have been there before get a number, as in Flink.

    >>> different_names(["id", "name", "id", "id"])
    ['id', 'name', 'id0', 'id1']
    """
    taken: set[str] = set()
    found = []
    for name in names:
        unique, number = name, 0
        while unique in taken:
            unique, number = f"{name}{number}", number + 1
        taken.add(unique)
        found.append(unique)
    return found
