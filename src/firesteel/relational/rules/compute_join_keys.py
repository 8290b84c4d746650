"""Values that a join compares become columns of its sides, of one type, so that rows can be partitioned by them.

    a JOIN b ON a.x + 1 = b.y  =>  (a with a.x + 1) JOIN b ON $k0 = b.y, without $k0 in the result

Source: Calcite's JoinPushExpressionsRule.
"""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.merging import find_common_type
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.functions import cast
from firesteel.relational.logical.joins import Equality, Join, equality, key_condition
from firesteel.relational.logical.nodes import LogicalNode, Project, transformed
from firesteel.relational.logical.temporal_joins import TemporalJoin
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.expand_grouping_sets import fresh
from firesteel.relational.rules.intervals import interval_of
from firesteel.relational.rules.substitution import all_of, conjuncts, is_deterministic, moved, refs


def compute_join_keys(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Compute the keys of all joins below them, but no times that an interval join compares."""

    def changed(node: LogicalNode) -> LogicalNode:
        if not isinstance(node, Join | TemporalJoin):
            return node
        interval = None if options.batch or isinstance(node, TemporalJoin) else interval_of(node)
        return _computed(node, () if interval is None else interval.parts)

    return transformed(plan, changed)


def _computed(node: Join | TemporalJoin, spared: tuple[Expression, ...]) -> LogicalNode:
    width = len(node.left.row.fields)
    left, right = _Keys(node.left), _Keys(node.right)
    parts: list[tuple[Expression, tuple[int, int, bool] | None]] = []
    for part in conjuncts(node.condition):
        found = None if part in spared else equality(part, width)
        pair = None if found is None else _of_one_type(found)
        keys = None if pair is None else (left.place(pair.left), right.place(pair.right), pair.null_safe)
        parts.append((part, keys))
    if not (left.added or right.added):
        return node
    sides = left.plan("$l"), right.plan("$r")
    more = len(sides[0].row.fields) - width
    places = {
        place: place + (more if place >= width else 0) for place in range(width + len(node.right.row.fields))
    }
    condition = [
        moved(part, places) if keys is None else key_condition(keys, sides[0].row, sides[1].row)
        for part, keys in parts
    ]
    made = replace(node, left=sides[0], right=sides[1], condition=all_of(condition))
    kept = [places[place] for place in range(len(node.row.fields))]
    return Project(made, refs(made.row, kept), tuple(node.row.field_names))


class _Keys:
    """A side of a join, with columns for the values that are compared."""

    def __init__(self, side: LogicalNode) -> None:
        self._side = side
        self.added: list[Expression] = []

    def place(self, value: Expression) -> int:
        """Return the place of a value's column."""
        if isinstance(value, InputRef):
            return value.index
        if value not in self.added:
            self.added.append(value)
        return len(self._side.row.fields) + self.added.index(value)

    def plan(self, prefix: str) -> LogicalNode:
        """Return the side with the columns."""
        if not self.added:
            return self._side
        row = self._side.row
        names = [*row.field_names]
        for place in range(len(self.added)):
            names.append(fresh(f"{prefix}{place}", names))
        return Project(self._side, (*refs(row, range(len(row.fields))), *self.added), tuple(names))


def _of_one_type(pair: Equality) -> Equality | None:
    """Return an equality with both sides in one form; None if they have no type in common, or change each time."""
    left, right, null_safe = pair
    if not (is_deterministic(left) and is_deterministic(right)):
        return None
    if to_arrow(left.type) == to_arrow(right.type):
        return pair
    common = find_common_type([left.type, right.type])
    if common is None:
        return None
    return Equality(
        cast(left, common.copy(left.type.nullable)), cast(right, common.copy(right.type.nullable)), null_safe
    )
