"""In BATCH mode, a semi join or an anti join looks at rows before they meet others and become more.

    (a JOIN b) SEMI JOIN c ON b.x = c.x  =>  a JOIN (b SEMI JOIN c), if b has no more rows than a JOIN b

Only with 'table.optimizer.join-reorder-enabled', and where sizes are known. Source: Flink's
FlinkSemiAntiJoinJoinTransposeRule, which does it whatever the sizes are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from firesteel.relational.expressions import InputRef, references
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import LogicalNode, Project, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import is_deterministic, moved


def push_semi_joins(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Move each semi join and anti join to the side of an inner join that it is about, if this has no more rows."""
    if not (options.batch and options.reorders_joins) or options.sizes is None:
        return plan
    return transformed(plan, lambda node: _pushed(node, options))


def _pushed(node: LogicalNode, options: PlanOptions) -> LogicalNode:
    if not (isinstance(node, Join) and node.kind in ("SEMI", "ANTI") and is_deterministic(node.condition)):
        return node
    below = node.left
    asked = {place for place in references(node.condition) if place < len(below.row.fields)}
    if isinstance(below, Project) and isinstance(below.input, Join):
        passed = {
            place: one.index for place in asked if isinstance(one := below.expressions[place], InputRef)
        }
        if passed.keys() < asked:
            return node
        inner = _over(node, below.input, passed)
        made = _pushed(inner, options)
        return node if made is inner else below.with_inputs((made,))
    if not (isinstance(below, Join) and below.kind == "INNER" and asked):
        return node
    return _to_side(node, below, asked, options)


def _to_side(node: Join, below: Join, asked: set[int], options: PlanOptions) -> LogicalNode:
    """Return the inner join with the other one at the side that it is about."""
    width = len(below.left.row.fields)
    if min(asked) < width <= max(asked):
        return node
    side, first = (below.left, 0) if max(asked) < width else (below.right, width)
    assert options.sizes is not None
    alone, joined = options.sizes(side), options.sizes(below)
    if not (alone.known and joined.known and alone.rows <= joined.rows):
        return node
    made = _pushed(_over(node, side, {place: place - first for place in asked}), options)
    return replace(below, right=made) if first else replace(below, left=made)


def _over(node: Join, left: LogicalNode, places: Mapping[int, int]) -> Join:
    """Return a semi join or an anti join of other rows, with the columns that it is about at these places."""
    old, new = len(node.left.row.fields), len(left.row.fields)
    others = {old + place: new + place for place in range(len(node.right.row.fields))}
    return replace(node, left=left, condition=moved(node.condition, {**places, **others}))
