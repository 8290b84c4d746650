"""Conditions of WHERE that ask a query: IN and EXISTS are semi joins, NOT IN and NOT EXISTS anti joins.

They are where AND joins them to the rest; elsewhere a subquery is a value (see `asking`). Source: Flink's
FlinkSubQueryRemoveRule.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from firesteel.common.places import errors_at
from firesteel.functions.columns.joins import JoinKind
from firesteel.relational.expressions import Expression
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Filter, LogicalNode
from firesteel.relational.rules.substitution import ALWAYS, all_of
from firesteel.sql.binding.asking import answered, beside
from firesteel.sql.binding.conditions import as_condition
from firesteel.sql.binding.decorrelation import Decorrelator
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.questions import asked_plan, operands, outer_values, without_repetition
from firesteel.sql.binding.values import QueryValue, parts_of


class _Question(NamedTuple):
    """A condition that asks a query, or (`negated`) the opposite."""

    node: exp.In | exp.Exists
    negated: bool


def filtered(plan: LogicalNode, binder: Expressions, condition: exp.Expr) -> LogicalNode:
    """Return the rows of a plan for which a condition is TRUE, perhaps with further columns after those of the plan."""
    parts = list(_parts(condition))
    questions = [found for part in parts if (found := _question(part)) is not None]
    plain = [part for part in parts if _question(part) is None]
    bound = [as_condition(binder, part) for part in (plain if questions else [condition])]
    asking = [part for part in bound if next(parts_of(part, QueryValue), None) is not None]
    simple = [part for part in bound if part not in asking]
    place = binder.context.text.place(plain[0] if questions and plain else condition)
    if simple:
        plan = Filter(plan, all_of(simple), place=place)
    for question in questions:
        plan = _asked(plan, binder, question)
    return _sifted(plan, asking)


def _sifted(plan: LogicalNode, conditions: list[Expression]) -> LogicalNode:
    """Return the rows for which conditions with subqueries are TRUE."""
    if not conditions:
        return plan
    place = conditions[0].whereabouts
    plan, conditions = answered(plan, conditions)
    return Filter(plan, all_of(conditions), place=place)


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
    given: tuple[Expression, ...] = ()
    if isinstance(node, exp.In):
        given, asked = operands(binder, node)
    else:
        asked = asked_plan(binder, node.this)
    asked = without_repetition(asked)
    plan, values = answered(plan, given)
    outer = outer_values(asked)
    place = text.place(node)
    with errors_at(place):
        rows = Decorrelator(plan, outer).dependent(asked)
    if rows.single and outer:
        found = binder.bind(node)
        return _sifted(plan, [resolve("NOT", (found,)) if question.negated else found])
    conditions = beside(plan, rows.conditions, outer)
    for mine, other in zip(values, beside(plan, rows.columns, outer), strict=False):
        conditions.append(_equal(mine, other, question.negated))
    kind: JoinKind = "ANTI" if question.negated else "SEMI"
    return Join(plan, rows.plan, kind, all_of(conditions or [ALWAYS]), place=place)


def _equal(mine: Expression, other: Expression, negated: bool) -> Expression:
    """Return that two values are equal, or for NOT IN that they may be: a NULL on either side is not in and not out."""
    same = resolve("=", (mine, other))
    if not negated:
        return same
    unknown = [resolve("IS NULL", (value,)) for value in (mine, other) if value.type.nullable]
    return resolve("OR", (*unknown, same)) if unknown else same
