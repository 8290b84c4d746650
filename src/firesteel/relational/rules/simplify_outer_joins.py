"""An outer join whose rows without a partner do not pass the next filter is not one.

    Filter(r > 1) over LEFT JOIN of l and r  =>  Filter(r > 1) over INNER JOIN

Source: Calcite's RelOptUtil.simplifyJoin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from firesteel.functions.columns.joins import KEEPING, JoinKind
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import conjuncts, refs

_STRICT: Final = frozenset({"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "CAST", "LIKE", "NOT"})
"""Functions that are NULL if an operand is."""

_KINDS: Final[dict[tuple[bool, bool], JoinKind]] = {
    KEEPING[kind]: kind for kind in ("INNER", "LEFT", "RIGHT", "FULL")
}


def simplify_outer_joins(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Simplify all joins below filters."""
    return transformed(plan, _simplified)


def _simplified(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, Filter) or not isinstance(node.input, Join) or not node.input.pairs:
        return node
    join, width = node.input, len(node.input.left.row.fields)
    rejected = set().union(*(_needed(part) for part in conjuncts(node.condition)))
    keeps_left, keeps_right = KEEPING[join.kind]
    keeps_left = keeps_left and not any(place >= width for place in rejected)
    keeps_right = keeps_right and not any(place < width for place in rejected)
    kind = _KINDS[keeps_left, keeps_right]
    if kind == join.kind:
        return node
    made = Filter(replace(join, kind=kind), node.condition, place=node.place)
    if made.row == node.row:
        return made
    # Columns that can no longer be NULL are said to be nullable still, as whoever reads them says.
    return Project(made, refs(node.row, range(len(node.row.fields))), tuple(node.row.field_names))


def _needed(part: Expression) -> set[int]:
    """Return the columns that cannot be NULL if the condition is TRUE."""
    if isinstance(part, Call) and part.function == "IS NOT NULL":
        return _strict_columns(part.arguments[0])
    if isinstance(part, Call) and part.function == "IS TRUE":
        return _needed(part.arguments[0])
    if isinstance(part, Call) and part.function == "AND":
        return set().union(*map(_needed, part.arguments))
    if isinstance(part, Call) and part.function == "OR":
        return set.intersection(*map(_needed, part.arguments))
    return _strict_columns(part)


def _strict_columns(value: Expression) -> set[int]:
    """Return the columns that make a value NULL if they are."""
    match value:
        case InputRef(index=index):
            return {index}
        case Literal():
            return set()
        case Call(function=function, arguments=arguments) if function in _STRICT:
            return set().union(*map(_strict_columns, arguments))
    return set()
