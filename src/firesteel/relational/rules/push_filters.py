"""Conditions move towards the sources: fewer rows reach what comes after them.

A condition moves through projections and unions, and its parts move through aggregates and window tables if they read
nothing but keys. It stops at a watermark, which must see all rows, and at a table.
"""

from __future__ import annotations

from firesteel.relational.expressions import Expression, references
from firesteel.relational.logical.derived import Expand
from firesteel.relational.logical.nodes import (
    Aggregate,
    Filter,
    LogicalNode,
    Over,
    Project,
    UnionAll,
    WindowTable,
    transformed,
)
from firesteel.relational.logical.windows import Session
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import (
    all_of,
    can_be_inlined,
    conjuncts,
    is_deterministic,
    moved,
    substituted,
)


def push_filters(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Move each filter as far down as it goes."""
    return transformed(plan, _pushed)


def _pushed(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, Filter):
        return node
    below, condition = node.input, node.condition
    if isinstance(below, Filter):
        return _pushed(Filter(below.input, all_of([*conjuncts(below.condition), *conjuncts(condition)])))
    if isinstance(below, Project) and can_be_inlined(below.expressions, [*below.expressions, condition]):
        inner = _pushed(Filter(below.input, substituted(condition, below.expressions)))
        return below.with_inputs((inner,))
    if isinstance(below, UnionAll):
        return below.with_inputs(tuple(_pushed(Filter(part, condition)) for part in below.parts))
    places = _passing(below)
    return node if places is None else _parted(node, places)


def _passing(node: LogicalNode) -> dict[int, int] | None:
    """Return the columns a condition on which may as well be checked before the node, with their places there.

    None if no condition may.
    """
    if isinstance(node, Aggregate) and node.keys and node.sets is None:
        return dict(enumerate(node.keys))
    if isinstance(node, WindowTable):
        if isinstance(node.window, Session):
            return {place: place for place in node.window.partition}
        return {place: place for place in range(len(node.input.row.fields))}
    if isinstance(node, Over):
        return {place: place for place in node.partition}
    if isinstance(node, Expand):
        return {place: place for place in range(len(node.input.row.fields)) if place not in node.keys}
    return None


def _parted(node: Filter, places: dict[int, int]) -> LogicalNode:
    """Return the filter with those of its parts moved below its input that may go there."""
    first: list[Expression] = []
    rest: list[Expression] = []
    for part in conjuncts(node.condition):
        may = set(references(part)) <= places.keys() and is_deterministic(part)
        (first if may else rest).append(part)
    if not first:
        return node
    (source,) = node.input.inputs
    inner = _pushed(Filter(source, all_of([moved(part, places) for part in first])))
    below = node.input.with_inputs((inner,))
    return Filter(below, all_of(rest), place=node.place) if rest else below
