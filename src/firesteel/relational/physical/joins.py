"""What all joins have, and the regular join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Self

from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.functions.columns import joins
from firesteel.functions.columns.joins import KEEPING, JoinKind, Side
from firesteel.functions.columns.program import Program
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.logical import joins as logical
from firesteel.relational.logical.joins import different_names, equality
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import Changes, Keys, PhysicalNode, Shown, Updates
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.rules.substitution import ALWAYS, all_of, conjuncts
from firesteel.relational.translation import program

KIND_NAMES: Final[dict[JoinKind, str]] = {
    "INNER": "InnerJoin",
    "LEFT": "LeftOuterJoin",
    "RIGHT": "RightOuterJoin",
    "FULL": "FullOuterJoin",
    "SEMI": "LeftSemiJoin",
    "ANTI": "LeftAntiJoin",
}
_PAIR: Final = "$pair"
_SIDES: Final = ("left", "right")


@dataclass(frozen=True)
class AnyJoin(PhysicalNode):
    """What all joins have.

    `condition` is what plans show. `keys` are the places of columns that are equal, left and right, and whether NULL
    equals itself there; `rest` is what else must be TRUE, over the columns of both sides.
    """

    left: PhysicalNode
    right: PhysicalNode
    kind: JoinKind
    condition: Expression
    keys: tuple[tuple[int, int, bool], ...]
    rest: Expression | None
    type: RowType

    @property
    def inputs(self) -> tuple[PhysicalNode, ...]:
        """Return both sides."""
        return self.left, self.right

    def with_inputs(self, inputs: tuple[PhysicalNode, ...]) -> Self:
        """Return the join of other sides."""
        left, right = inputs
        return replace(self, left=left, right=right)

    @property
    def row(self) -> RowType:
        """Return the columns of the result."""
        return self.type

    @property
    def kind_text(self) -> str:
        """Return Flink's name of the kind."""
        return KIND_NAMES[self.kind]

    def where(self, shown: Shown) -> str:
        """Return the condition."""
        return shown(
            self.condition, different_names([*self.left.row.field_names, *self.right.row.field_names])
        )

    @property
    def upsert_keys(self) -> Keys:
        """Return a key of one side if a row of it has one partner at most, and a key of each side together."""
        left, right = self.left.upsert_keys, self.right.upsert_keys
        if self.kind in ("SEMI", "ANTI"):
            return left
        keeps_left, keeps_right = KEEPING[self.kind]
        width = len(self.left.row.fields)
        moved = {frozenset(place + width for place in key) for key in right}
        found = {one | other for one in left for other in moved}
        if covers(right, frozenset(key[1] for key in self.keys)) and not keeps_right:
            found |= left
        if covers(left, frozenset(key[0] for key in self.keys)) and not keeps_left:
            found |= moved
        return frozenset(found)

    def join(self, zone: str) -> joins.Join:
        """Return which rows belong together."""
        sides = self.left.row, self.right.row
        return joins.Join(
            self.kind,
            *sides,
            self.row,
            tuple(key[0] for key in self.keys),
            tuple(key[1] for key in self.keys),
            tuple(key[2] for key in self.keys),
            pair_condition(*sides, self.rest, zone),
        )


@dataclass(frozen=True)
class Join(AnyJoin):
    """The regular join: all rows of both sides are kept; in BATCH mode, those of the side `build`."""

    times_to_live: tuple[int | None, int | None] = (None, None)
    build: Side | None = None

    @property
    def state(self) -> str:
        """Return the rows of both sides, or of one."""
        if self.build is None:
            return "all rows of both sides"
        return f"all rows of the {_SIDES[self.build]} side"

    @property
    def is_broadcast(self) -> bool:
        """Whether each subtask has all rows of one side."""
        return any(isinstance(given, Exchange) and given.everywhere for given in self.inputs)

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the kind, the condition, the columns, and what is known of the keys of each side."""
        yield "joinType", self.kind_text
        yield "where", self.where(shown)
        yield "select", ", ".join(self.row.field_names)
        if self.build is not None:
            if self.is_broadcast:
                yield "isBroadcast", "true"
            yield "build", _SIDES[self.build]
            return
        for side, given, place in (("left", self.left, 0), ("right", self.right, 1)):
            yield (
                f"{side}InputSpec",
                _keys_text(given.upsert_keys, frozenset(key[place] for key in self.keys)),
            )

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows without a partner come and go, and others as their sides do."""
        if any(KEEPING[self.kind]):
            return Changes(update=True, delete=True)
        changing = any(one != Changes() for one in given)
        return Changes(update=changing, delete=changing)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates."""
        return Updates.BOTH if given.update else Updates.NONE

    def join(self, zone: str) -> joins.Join:
        """Return what the operator does."""
        return replace(super().join(zone), times_to_live=self.times_to_live)


def equal_columns(
    parts: Iterable[Expression], width: int
) -> tuple[tuple[tuple[int, int, bool], ...], Expression | None]:
    """Return the keys of a join and the rest of its condition, whose parts are given; the left side is so wide.

    A column is in one key only; what else it equals is a part of the rest.
    """
    keys: list[tuple[int, int, bool]] = []
    rest: list[Expression] = []
    for part in parts:
        found = equality(part, width)
        match found:
            case (InputRef(index=mine) as one, InputRef(index=theirs) as other, null_safe) if to_arrow(
                one.type
            ) == to_arrow(other.type) and not any(mine == key[0] or theirs == key[1] for key in keys):
                keys.append((mine, theirs, null_safe))
            case _ if part != ALWAYS:
                rest.append(part)
    return tuple(keys), all_of(rest) if rest else None


def regular_join(
    node: logical.Join, left: PhysicalNode, right: PhysicalNode, options: PlanOptions
) -> PhysicalNode:
    """Return the regular join of two planned sides, behind the exchanges that it needs."""
    keys, rest = equal_columns(conjuncts(node.condition), len(left.row.fields))
    hints: tuple[int | None, int | None] = (0, 0) if options.batch else node.times_to_live
    return Join(
        Exchange(left, tuple(key[0] for key in keys)),
        Exchange(right, tuple(key[1] for key in keys)),
        node.kind,
        node.condition,
        keys,
        rest,
        node.row,
        (_time_to_live(hints[0], options), _time_to_live(hints[1], options)),
    )


def _time_to_live(hint: int | None, options: PlanOptions) -> int | None:
    return (options.state_ttl if hint is None else hint) or None


def pair_condition(left: RowType, right: RowType, rest: Expression | None, zone: str) -> Program | None:
    """Return the program that finds the pairs for which a condition is TRUE, by their numbers; None for all of them."""
    if rest is None:
        return None
    return program(_pairs(left, right), [_pair(left, right)], [_PAIR], rest, zone)


def _pairs(left: RowType, right: RowType) -> RowType:
    names = different_names([*left.field_names, *right.field_names, _PAIR])
    types = [field.type for field in (*left.fields, *right.fields)]
    return RowType(tuple(map(Field, names, [*types, BigIntType(nullable=False)])), nullable=False)


def _pair(left: RowType, right: RowType) -> Expression:
    return InputRef(BigIntType(nullable=False), len(left.fields) + len(right.fields))


def covers(known: Keys, columns: frozenset[int]) -> bool:
    """Return whether columns tell all rows apart that have these keys."""
    return any(key <= columns for key in known)


def _keys_text(known: Keys, columns: frozenset[int]) -> str:
    if not known:
        return "NoUniqueKey"
    return "JoinKeyContainsUniqueKey" if covers(known, columns) else "HasUniqueKey"
