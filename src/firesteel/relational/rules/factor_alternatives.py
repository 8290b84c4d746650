"""What every alternative of an `OR` asks is asked once, and what they ask of one side of a join is asked of this side.

    (a = x AND b = 1) OR (a = x AND b = 2)               =>  a = x AND (b = 1 OR b = 2)
    join on (l = 1 AND r = 2) OR (l = 3 AND r = 4)       =>  ... AND (l = 1 OR l = 3) AND (r = 2 OR r = 4)

So an equality within an `OR` can be the key of a join, and fewer rows reach it. A condition that follows from another
goes to a side only where the side's rows need a partner to stay.

Source: Calcite's RexUtil.pullFactors, Flink's JoinDependentConditionDerivationRule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from firesteel.functions.columns.joins import KEEPING
from firesteel.relational.expressions import Expression, references
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Filter, LogicalNode, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import all_of, alternatives, any_of, conjuncts, is_deterministic


def factor_alternatives(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Factor the conditions of all filters and joins."""
    return transformed(plan, _changed)


def _changed(node: LogicalNode) -> LogicalNode:
    if isinstance(node, Filter):
        return replace(node, condition=all_of(_factored(node.condition)))
    if isinstance(node, Join):
        parts = _factored(node.condition)
        return replace(node, condition=all_of([*parts, *_derived(parts, node)]))
    return node


def _factored(condition: Expression) -> list[Expression]:
    """Return the parts of a condition, with what all alternatives of a part have in common as parts of their own."""
    return [made for part in conjuncts(condition) for made in _without_common(part)]


def _without_common(part: Expression) -> list[Expression]:
    choices = alternatives(part)
    if len(choices) < 2 or not is_deterministic(part):
        return [part]
    asked = [conjuncts(choice) for choice in choices]
    common = [one for one in dict.fromkeys(asked[0]) if all(one in others for others in asked[1:])]
    if not common:
        return [part]
    left = [[one for one in parts if one not in common] for parts in asked]
    if not all(left):  # an alternative asks no more than what is common, so the others do not matter
        return common
    return [*common, any_of([all_of(parts) for parts in left])]


def _derived(parts: Sequence[Expression], join: Join) -> Iterator[Expression]:
    """Yield what parts that read both sides ask of each side alone."""
    width = len(join.left.row.fields)
    keeps_left, keeps_right = KEEPING[join.kind]
    sides: list[Callable[[int], bool]] = []
    sides += [] if keeps_left else [lambda place: place < width]
    sides += [] if keeps_right else [lambda place: place >= width]
    for part in parts:
        if not is_deterministic(part):
            continue
        for is_of_side in sides:
            found = _restricted(part, is_of_side)
            if found is not None and found not in parts:
                yield found


def _restricted(part: Expression, is_of_side: Callable[[int], bool]) -> Expression | None:
    """Return what each alternative of a part asks of a side, joined with `OR`; None if one asks nothing of it."""
    choices = alternatives(part)
    if len(choices) < 2 or all(map(is_of_side, references(part))):
        return None
    asked = [[one for one in conjuncts(each) if _reads_only(one, is_of_side)] for each in choices]
    return any_of([all_of(parts) for parts in asked]) if all(asked) else None


def _reads_only(part: Expression, is_of_side: Callable[[int], bool]) -> bool:
    read = [*references(part)]
    return bool(read) and all(map(is_of_side, read))
