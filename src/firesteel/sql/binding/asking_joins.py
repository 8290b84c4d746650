"""Joins on a condition that asks queries.

An inner join asks them about its pairs. In an outer join, a query that speaks of one side alone is a column of this
side before the join. Where one speaks of both, the rows without a partner are those that no pair has:

    l LEFT JOIN r ON EXISTS (... l.a ... r.b ...)  =>  pairs UNION ALL l ANTI JOIN pairs ON all columns of l
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.joins import KEEPING, JoinKind
from firesteel.relational.expressions import Expression, InputRef, Literal, references, shifted
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import Join, joined_row
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, UnionAll
from firesteel.relational.rules.substitution import ALWAYS, all_of, conjuncts, refs
from firesteel.sql.binding.asking import answered
from firesteel.sql.binding.values import QueryValue, parts_of


def join_on(left: LogicalNode, right: LogicalNode, kind: JoinKind, condition: Expression) -> LogicalNode:
    """Return a join on a condition, which may ask queries."""
    asked = [*_outermost(condition)]
    if not asked:
        return Join(left, right, kind, condition)
    if kind == "INNER":
        return _pairs(left, right, condition)
    width = len(left.row.fields)
    sides = [{place >= width for place in references(one)} for one in asked]
    if all(len(side) < 2 for side in sides):
        return _before(left, right, kind, condition)
    return _with_others(left, right, kind, condition)


def _outermost(expression: Expression) -> list[QueryValue]:
    if isinstance(expression, QueryValue):
        return [expression]
    return [one for operand in expression.operands for one in _outermost(operand)]


def _pairs(left: LogicalNode, right: LogicalNode, condition: Expression) -> LogicalNode:
    parts = conjuncts(condition)
    asking = [part for part in parts if next(parts_of(part, QueryValue), None) is not None]
    plain = [part for part in parts if part not in asking]
    joined = Join(left, right, "INNER", all_of(plain or [ALWAYS]))
    plan, found = answered(joined, asking)
    columns = refs(joined.row, range(len(joined.row.fields)))
    return Project(Filter(plan, all_of(found)), columns, tuple(joined.row.field_names))


def _before(left: LogicalNode, right: LogicalNode, kind: JoinKind, condition: Expression) -> LogicalNode:
    """Return the join of sides that have the answers of queries, each of which speaks of one of them at most."""
    width = len(left.row.fields)
    asked = _outermost(condition)
    of_right = [any(place >= width for place in references(one)) for one in asked]
    mine, answers = answered(left, [one for one, other in zip(asked, of_right, strict=True) if not other])
    theirs, others = answered(
        right, [shifted(one, -width) for one, other in zip(asked, of_right, strict=True) if other]
    )
    wide = len(mine.row.fields)
    found, more = iter(answers), (shifted(one, wide) for one in others)
    values = iter([next(more) if other else next(found) for other in of_right])

    def moved(part: Expression) -> Expression:
        if not isinstance(part, InputRef) or part.index < width:
            return part
        return InputRef(part.type, part.index - width + wide, place=part.place)

    joined = Join(mine, theirs, kind, _moved_around(condition, moved, values))
    kept = (*range(width), *range(wide, wide + len(right.row.fields)))
    names = joined_row(left.row, right.row, kind).field_names
    return Project(joined, refs(joined.row, kept), tuple(names))


def _moved_around(
    expression: Expression, moved: Callable[[Expression], Expression], answers: Iterator[Expression]
) -> Expression:
    """Return an expression with its outermost queries replaced by their answers, and all else moved."""
    if isinstance(expression, QueryValue):
        return next(answers)
    operands = tuple(_moved_around(one, moved, answers) for one in expression.operands)
    return moved(expression.with_operands(operands) if operands else expression)


def _with_others(left: LogicalNode, right: LogicalNode, kind: JoinKind, condition: Expression) -> LogicalNode:
    """Return the pairs, and the rows of the sides that are kept that no pair has."""
    row = joined_row(left.row, right.row, kind)
    width, whole = len(left.row.fields), len(row.fields)
    pairs = _pairs(left, right, condition)
    parts: list[LogicalNode] = [Project(pairs, refs(pairs.row, range(whole)), tuple(row.field_names))]
    keeps_left, keeps_right = KEEPING[kind]
    if keeps_left:
        parts.append(_alone(left, pairs, 0, row))
    if keeps_right:
        parts.append(_alone(right, pairs, width, row))
    return UnionAll(tuple(parts), row)


def _alone(side: LogicalNode, pairs: LogicalNode, first: int, row: RowType) -> LogicalNode:
    """Return the rows of a side that no pair has, where its columns begin at place `first`, with NULLs beside them."""
    width = len(side.row.fields)
    columns = refs(pairs.row, range(first, first + width))
    theirs = Project(pairs, columns, tuple(side.row.field_names))
    same = [
        resolve("IS NOT DISTINCT FROM", (mine, shifted(other, width)))
        for mine, other in zip(refs(side.row, range(width)), refs(theirs.row, range(width)), strict=True)
    ]
    alone = Join(side, theirs, "ANTI", all_of(same))
    own = refs(side.row, range(width))
    values = [Literal(field.type, None) for field in row.fields]
    return Project(alone, (*values[:first], *own, *values[first + width :]), tuple(row.field_names))
