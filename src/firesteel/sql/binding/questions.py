"""Subqueries within expressions, as they are written: what each is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from sqlglot import exp

from firesteel.common.logical_types import BooleanType
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.logical.nodes import Aggregate, LogicalNode
from firesteel.relational.rules.substitution import refs
from firesteel.sql.binding.decorrelation import outer_of_plan
from firesteel.sql.binding.functions import called
from firesteel.sql.binding.values import OuterRef, QueryValue, Question

if TYPE_CHECKING:
    from firesteel.sql.binding.expressions import Expressions

_OPPOSITES: Final = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def bind_query_value(binder: Expressions, node: exp.Expr) -> Expression:
    """Return the value of a query with one column and one row, or whether EXISTS is TRUE."""
    if isinstance(node, exp.Exists):
        return _asked(binder, node, "EXISTS", asked_plan(binder, node.this), ())
    plan = asked_plan(binder, node)
    if len(plan.row.fields) != 1:
        raise binder.context.text.wrong(
            node, "requires one column of a query that is a value", got=str(len(plan.row.fields))
        )
    return _asked(binder, node, "VALUE", plan, ())


def bind_in(binder: Expressions, node: exp.In) -> Expression:
    """Return whether a query has a row that equals values."""
    given, plan = operands(binder, node)
    return _asked(binder, node, "IN", plan, given)


def bind_quantified(binder: Expressions, node: exp.Expr, comparison: str) -> Expression:
    """Return whether a value compares with one of a query's values (ANY, SOME), or with all of them."""
    quantifier, text = node.expression, binder.context.text
    if comparison not in _OPPOSITES:
        raise text.wrong(node, "requires a comparison before ANY, SOME and ALL", got=comparison)
    of_all = isinstance(quantifier, exp.All)
    wanted = _OPPOSITES[comparison] if of_all else comparison
    plan = asked_plan(binder, quantifier.this)
    given = (binder.bind(node.this),)
    _require_width(binder, quantifier.this, plan, given)
    called(comparison, [given[0], refs(plan.row, [0])[0]], node, text)
    found = _asked(binder, node, "IN" if wanted == "=" else "SOME", plan, given, wanted)
    return called("NOT", [found], node, text) if of_all else found


def operands(binder: Expressions, node: exp.In) -> tuple[tuple[Expression, ...], LogicalNode]:
    """Return the values before IN, and the query after it.

    Raises SqlValidationError if they cannot be compared.
    """
    plan = asked_plan(binder, node.args["query"])
    parts = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    _require_width(binder, node.args["query"], plan, parts)
    given = tuple(map(binder.bind, parts))
    for value, column in zip(given, refs(plan.row, range(len(given))), strict=True):
        called("=", [value, column], node, binder.context.text)
    return given, plan


def asked_plan(binder: Expressions, query: exp.Expr) -> LogicalNode:
    """Return the plan of a subquery, which may speak of the columns that are known here."""
    return binder.context.around(binder.scope).query(query)


def without_repetition(plan: LogicalNode) -> LogicalNode:
    """Return a query without its DISTINCT, where one of several equal rows is as good as all."""
    distinct = isinstance(plan, Aggregate) and len(plan.keys) == len(plan.row.fields) and plan.sets is None
    return plan.inputs[0] if distinct and len(plan.inputs[0].row.fields) == len(plan.row.fields) else plan


def outer_values(plan: LogicalNode) -> dict[OuterRef, Expression]:
    """Return the columns that a subquery speaks of, as the query around it has them."""
    found = dict.fromkeys(outer_of_plan(plan))
    return {
        ref: InputRef(ref.type, ref.index) if ref.depth == 1 else OuterRef(ref.type, ref.index, ref.depth - 1)
        for ref in found
    }


def _require_width(binder: Expressions, query: exp.Expr, plan: LogicalNode, given: Sequence[object]) -> None:
    if len(plan.row.fields) != len(given):
        raise binder.context.text.wrong(
            query,
            f"requires as many columns as there are values before it ({len(given)})",
            got=str(len(plan.row.fields)),
        )


def _asked(
    binder: Expressions,
    node: exp.Expr,
    kind: Literal["VALUE", "EXISTS", "IN", "SOME"],
    plan: LogicalNode,
    given: tuple[Expression, ...],
    comparison: str = "=",
) -> QueryValue:
    if not binder.queries:
        raise binder.context.text.unsupported(node, f"a query in {binder.clause}")
    outer = outer_values(plan)
    place = binder.context.text.place(node)
    types = [*(value.type for value in given), *(field.type for field in plan.row.fields)]
    can_be_null = kind != "EXISTS" and any(one.nullable for one in types)
    answer = plan.row.fields[0].type.copy(True) if kind == "VALUE" else BooleanType(nullable=can_be_null)
    return QueryValue(
        answer, Question(kind, plan, tuple(outer), place, comparison), given, tuple(outer.values())
    )
