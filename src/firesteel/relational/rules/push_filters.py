"""Conditions move towards the sources: fewer rows reach what comes after them.

A condition moves through projections and unions, and its parts move through aggregates and window tables if they read
nothing but keys. It stops at a watermark, which must see all rows, and at a table. Of a join, parts that read one side
move to this side, unless its rows stay without a partner; the others become part of the condition of an inner join.
"""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types import RowType
from firesteel.common.places import Place
from firesteel.functions.columns.joins import KEEPING
from firesteel.relational.expressions import Expression, InputRef, references, rewritten
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.derived import Expand
from firesteel.relational.logical.joins import Join
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
from firesteel.relational.logical.temporal_joins import TemporalJoin
from firesteel.relational.logical.windows import Session
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import (
    ALWAYS,
    all_of,
    can_be_inlined,
    conjuncts,
    is_deterministic,
    moved,
    refs,
    substituted,
)


def push_filters(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Move each filter as far down as it goes."""
    return transformed(plan, _pushed)


def _pushed(node: LogicalNode) -> LogicalNode:
    if isinstance(node, Join):
        return _sifted(node)
    if not isinstance(node, Filter):
        return node
    below, condition = node.input, node.condition
    if isinstance(below, Filter):
        both = all_of([*conjuncts(below.condition), *conjuncts(condition)])
        return _pushed(Filter(below.input, both, place=node.place or below.place))
    if isinstance(below, Project):
        return _through_project(node, below)
    if isinstance(below, UnionAll):
        return below.with_inputs(
            tuple(_pushed(Filter(part, condition, place=node.place)) for part in below.parts)
        )
    if isinstance(below, Join):
        return _through(node, below)
    if isinstance(below, TemporalJoin) and below.looks_up:
        return _looking_up(node, below)
    places = _passing(below)
    return node if places is None else _parted(node, places)


def _through_project(node: Filter, below: Project) -> LogicalNode:
    """Return a projection of those rows for which a condition is TRUE that reads no column that is computed once."""
    every = refs(below.row, range(len(below.names)))
    parts = conjuncts(node.condition)
    first = [part for part in parts if can_be_inlined(below.expressions, [*every, part])]
    if not first:
        return node
    inner = Filter(below.input, substituted(all_of(first), below.expressions), place=node.place)
    made = below.with_inputs((_pushed(inner),))
    rest = [part for part in parts if part not in first]
    return Filter(made, all_of(rest), place=node.place) if rest else made


def _through(node: Filter, join: Join) -> LogicalNode:
    """Return the join with what may go to a side, or into its condition; the rest stays above it."""
    keeps_left, keeps_right = KEEPING[join.kind]
    left, right, rest = _by_side(
        conjuncts(node.condition), join, to_left=not keeps_right, to_right=not keeps_left and join.pairs
    )
    if rest and join.kind == "INNER":
        both = [part for part in rest if is_deterministic(part) and {*references(part)}]
        rest = [part for part in rest if part not in both]
        join = replace(join, condition=all_of([*conjuncts(join.condition), *both]))
    made = _sifted(_filtered(join, left, right, node.place))
    return Filter(made, all_of(rest), place=node.place) if rest else made


def _looking_up(node: Filter, join: TemporalJoin) -> LogicalNode:
    """Return the lookup join with what reads the left side alone before it, and if it is INNER the rest within it."""
    width = len(join.left.row.fields)
    parts = conjuncts(node.condition)
    first = [part for part in parts if _may_go(part) and max(references(part)) < width]
    within = [part for part in parts if part not in first and _may_go(part)] if join.kind == "INNER" else []
    rest = [part for part in parts if part not in (*first, *within)]
    if first:
        join = replace(join, left=_pushed(Filter(join.left, all_of(first), place=node.place)))
    if within:
        join = replace(join, condition=all_of([*conjuncts(join.condition), *within]))
    return Filter(join, all_of(rest), place=node.place) if rest else join


def _may_go(part: Expression) -> bool:
    return is_deterministic(part) and bool({*references(part)})


def _sifted(join: Join) -> Join:
    """Return the join with those parts of its condition at a side that decide only which of its rows have partners."""
    keeps_left, keeps_right = KEEPING[join.kind]
    left, right, rest = _by_side(
        conjuncts(join.condition), join, to_left=not keeps_left, to_right=not keeps_right
    )
    return replace(_filtered(join, left, right, join.place), condition=all_of(rest or [ALWAYS]))


def _by_side(
    parts: list[Expression], join: Join, *, to_left: bool, to_right: bool
) -> tuple[list[Expression], list[Expression], list[Expression]]:
    """Return the parts that read nothing but the left side, or the right one, if they may go there; and the rest."""
    width = len(join.left.row.fields)
    left: list[Expression] = []
    right: list[Expression] = []
    rest: list[Expression] = []
    for part in parts:
        read = {*references(part)}
        if not read or not is_deterministic(part):
            rest.append(part)
        elif to_left and max(read) < width:
            left.append(part)
        elif to_right and min(read) >= width:
            right.append(part)
        else:
            rest.append(part)
    return left, right, [part for part in rest if part != ALWAYS]


def _filtered(join: Join, left: list[Expression], right: list[Expression], place: Place | None) -> Join:
    """Return the join of the rows for which parts are TRUE, which are over the columns of the join's condition.

    They are written at `place`.
    """
    width = len(join.left.row.fields)
    made = join
    if left:
        # The columns of a side that can be NULL in the result are not NULL there.
        kept = all_of([_typed(part, join.left.row, 0) for part in left])
        made = replace(made, left=_pushed(Filter(join.left, kept, place=place)))
    if right:
        kept = all_of([_typed(part, join.right.row, width) for part in right])
        made = replace(made, right=_pushed(Filter(join.right, kept, place=place)))
    return made


def _typed(part: Expression, row: RowType, first: int) -> Expression:
    """Return an expression over the columns of a join as one over those of a side, which begin at place `first`."""
    columns = {place + first: ref for place, ref in enumerate(refs(row, range(len(row.fields))))}
    return rewritten(part, lambda inner: columns[inner.index] if isinstance(inner, InputRef) else inner)


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
    if isinstance(node, Correlate):
        return dict(enumerate(node.kept))
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
    inner = _pushed(Filter(source, all_of([moved(part, places) for part in first]), place=node.place))
    below = node.input.with_inputs((inner,))
    return Filter(below, all_of(rest), place=node.place) if rest else below
