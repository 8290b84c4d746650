"""Conditions of WHERE that ask a query: IN and EXISTS are semi joins, NOT IN and NOT EXISTS anti joins.

A subquery may speak of columns of the query around it in its own WHERE: those conditions become part of the join's, and
what they read of the subquery becomes further columns of it. Source: Calcite's SubQueryRemoveRule and
RelDecorrelator, which Flink applies (FlinkSubQueryRemoveRule).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from firesteel.functions.columns.joins import JoinKind
from firesteel.relational.expressions import Expression, InputRef, rewritten
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Aggregate, Filter, LogicalNode, Project
from firesteel.relational.rules.substitution import ALWAYS, all_of, conjuncts
from firesteel.sql.binding.conditions import as_condition
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.functions import called
from firesteel.sql.binding.sources import columns_of
from firesteel.sql.binding.values import OuterRef, parts_of


class _Question(NamedTuple):
    """A condition that asks a query, or (`negated`) the opposite."""

    node: exp.In | exp.Exists
    negated: bool


def filtered(plan: LogicalNode, binder: Expressions, condition: exp.Expr) -> LogicalNode:
    """Return the rows of a plan for which a condition is TRUE, whose parts joined by AND may ask queries."""
    parts = list(_parts(condition))
    questions = [found for part in parts if (found := _question(part)) is not None]
    if not questions:
        place = binder.context.text.place(condition)
        return Filter(plan, as_condition(binder, condition), place=place)
    plain = [part for part in parts if _question(part) is None]
    if plain:
        bound = [as_condition(binder, part) for part in plain]
        plan = Filter(plan, all_of(bound), place=binder.context.text.place(plain[0]))
    for question in questions:
        plan = _asked(plan, binder, question)
    return plan


def _parts(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.Paren):
        yield from _parts(condition.this)
    elif isinstance(condition, exp.And):
        yield from _parts(condition.this)
        yield from _parts(condition.expression)
    else:
        yield condition


def _question(part: exp.Expr) -> _Question | None:
    negated = False
    while isinstance(part, exp.Not | exp.Paren):
        negated ^= isinstance(part, exp.Not)
        part = part.this
    if isinstance(part, exp.Exists) or (isinstance(part, exp.In) and part.args.get("query") is not None):
        return _Question(part, negated)
    return None


def _asked(plan: LogicalNode, binder: Expressions, question: _Question) -> LogicalNode:
    """Return the rows of a plan for which the answer is TRUE."""
    node, text = question.node, binder.context.text
    query = node.this if isinstance(node, exp.Exists) else node.args["query"]
    given = binder.context.around(binder.scope).query(query)
    if isinstance(given, Aggregate) and len(given.keys) == len(given.row.fields) and given.sets is None:
        given = given.input  # of several equal rows one is enough, and no more is asked
    visible = len(given.row.fields)
    inner, lifted = _lifted(given)
    if any(_has_outer(value) for value in _values(inner)):
        raise text.unsupported(query, "a subquery that speaks of the query around it outside of its WHERE")
    width = len(plan.row.fields)
    conditions = [_joined(part, width) for part in lifted]
    if isinstance(node, exp.In):
        operands = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        if len(operands) != visible:
            raise text.wrong(
                query,
                f"requires as many columns as there are values before IN ({len(operands)})",
                got=str(visible),
            )
        for operand, column in zip(operands, columns_of(inner), strict=False):
            mine, other = binder.bind(operand), _joined(column, width)
            conditions.append(_equal(mine, other, called("=", [mine, other], node, text), question.negated))
    kind: JoinKind = "ANTI" if question.negated else "SEMI"
    return Join(plan, inner, kind, all_of(conditions or [ALWAYS]), place=text.place(node))


def _equal(mine: Expression, other: Expression, same: Expression, negated: bool) -> Expression:
    """Return that two values are equal, or for NOT IN that they may be: a NULL on either side is not in and not out."""
    if not negated:
        return same
    unknown = [resolve("IS NULL", (value,)) for value in (mine, other) if value.type.nullable]
    return resolve("OR", (*unknown, same)) if unknown else same


def _lifted(plan: LogicalNode) -> tuple[LogicalNode, list[Expression]]:
    """Return a plan without its conditions on the query around, and these, over its columns, of which some are new."""
    if isinstance(plan, Filter):
        below, lifted = _lifted(plan.input)
        parts = conjuncts(plan.condition)
        own = [part for part in parts if not _has_outer(part)]
        lifted = [*lifted, *(part for part in parts if _has_outer(part))]
        return (Filter(below, all_of(own), place=plan.place) if own else below), lifted
    if isinstance(plan, Project):
        below, lifted = _lifted(plan.input)
        if not lifted:
            return plan, []
        columns = [*plan.expressions]
        names = [*plan.names]

        def moved(part: Expression) -> Expression:
            if not isinstance(part, InputRef):
                return part
            if part not in columns:
                columns.append(part)
                names.append(f"$c{len(columns)}")
            return InputRef(part.type, columns.index(part))

        conditions = [rewritten(part, moved) for part in lifted]
        return Project(below, tuple(columns), tuple(names)), conditions
    return plan, []


def _joined(value: Expression, width: int) -> Expression:
    """Return a value of a subquery as one of the join with a relation of so many columns."""

    def changed(part: Expression) -> Expression:
        if isinstance(part, OuterRef):
            return InputRef(part.type, part.index)
        return InputRef(part.type, part.index + width) if isinstance(part, InputRef) else part

    return rewritten(value, changed)


def _has_outer(value: Expression) -> bool:
    return next(parts_of(value, OuterRef), None) is not None


def _values(plan: LogicalNode) -> Iterator[Expression]:
    """Yield all expressions of a plan in which columns of the query around can be."""
    match plan:
        case Project():
            yield from plan.expressions
        case Filter() | Join():
            yield plan.condition
    for given in plan.inputs:
        yield from _values(given)
