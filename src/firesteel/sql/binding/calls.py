"""Calls as they are written: scalar functions, aggregates, windows of GROUP BY, OVER."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from sqlglot import exp

from firesteel.common.errors import ProgramError, SqlError
from firesteel.common.logical_types import BooleanType
from firesteel.functions.columns.python_functions import PythonAggregate
from firesteel.relational.expressions import Expression, Literal
from firesteel.relational.functions import FUNCTIONS, symbol
from firesteel.relational.functions.aggregates import (
    AGGREGATES,
    ResolvedAggregate,
    is_aggregate,
    resolve_aggregate,
    result_type,
    user_aggregate,
)
from firesteel.relational.functions.times import PARTS, SOURCE_WATERMARK
from firesteel.sql import nodes
from firesteel.sql.binding import group_windows, over_windows
from firesteel.sql.binding.documents import document_call, is_document_call
from firesteel.sql.binding.functions import called, materialized
from firesteel.sql.binding.literals import text_literal
from firesteel.sql.binding.user_functions import fitting, scalar_call, user_function
from firesteel.sql.binding.values import AggregateValue, GroupingValue, OverValue

if TYPE_CHECKING:
    from firesteel.sql.binding.expressions import Expressions

_Result = TypeVar("_Result")
_GROUPINGS: Final = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})
_JSON_AGGREGATES: Final = {"JSON_OBJECTAGG": "NULL ON NULL", "JSON_ARRAYAGG": "ABSENT ON NULL"}


def call(binder: Expressions, node: nodes.Call) -> Expression:
    """Return the call of a function by its name: an aggregate, a window of GROUP BY, or a scalar function."""
    text = binder.context.text
    name = node.function.upper() if len(node.args["names"]) == 1 else node.function
    function = user_function(node, binder.context, built_in=_is_built_in(name))
    if isinstance(function, PythonAggregate):
        return aggregate(binder, node)
    if function is not None:
        if node.args.get("quantifier"):
            raise text.wrong(
                node, f"uses {node.args['quantifier']} with {node.function}, which is no aggregate"
            )
        return scalar_call(function, node, [binder.bind(one) for one in node.expressions], binder.context)
    if name in _GROUPINGS:
        return _grouping(binder, node, name)
    if is_aggregate(name):
        return aggregate(binder, node)
    if name == SOURCE_WATERMARK:
        raise text.wrong(
            node, f"uses {name} in {binder.clause}: it is the whole of what follows WATERMARK FOR column AS"
        )
    if name == "CURRENT_DATABASE":
        return _current_database(binder, node)
    if group_windows.is_property(name):
        return group_windows.window_property(binder, node)
    if group_windows.is_window(name) and len(node.expressions) > 1:
        raise text.wrong(node, f"uses the window {name} outside of GROUP BY")
    if node.args.get("quantifier"):
        raise text.wrong(node, f"uses {node.args['quantifier']} with {name}, which is no aggregate function")
    if not _is_built_in(name):
        raise text.located(node, FUNCTIONS.unknown(node.function, binder.context.function_names()))
    return binder.call(name, node, *node.expressions)


def _current_database(binder: Expressions, node: nodes.Call) -> Expression:
    context = binder.context
    if node.args.get("bare"):
        raise context.text.wrong(node, "requires parentheses after CURRENT_DATABASE")
    found = binder.call("CURRENT_DATABASE", node, *node.expressions)
    return Literal(found.type, context.catalog.path[1])


def _is_built_in(name: str) -> bool:
    known = name in _GROUPINGS or is_aggregate(name) or name in FUNCTIONS or name in PARTS
    return known or group_windows.is_property(name) or group_windows.is_window(name)


def special_call(binder: Expressions, node: nodes.SpecialCall) -> Expression:
    """Return the call of a function that has words between its arguments."""
    name = str(node.this)
    if name in _JSON_AGGREGATES:
        return aggregate(binder, node)
    if name == "TRIM":
        return _trim(binder, node)
    if is_document_call(name):
        return document_call(binder, node)
    operands = [_operand(binder, argument) for argument in node.expressions]
    return called("CEIL" if name == "CEILING" else name, operands, node, binder.context.text)


def _operand(binder: Expressions, node: exp.Expr) -> Expression:
    if isinstance(node, exp.Var):
        return symbol(node.name)
    return binder.bind(node)


def _trim(binder: Expressions, node: nodes.SpecialCall) -> Expression:
    words = [str(word) for word in node.args["words"]]
    side = words[0].removesuffix(" FROM") or "BOTH"
    operands = [binder.bind(argument) for argument in node.expressions]
    if len(operands) == 1:
        operands.insert(0, text_literal(" "))
    return called("TRIM", [symbol(side), *operands], node, binder.context.text)


def _grouping(binder: Expressions, node: nodes.Call, name: str) -> Expression:
    text = binder.context.text
    if not binder.aggregates:
        raise text.wrong(node, f"uses {name} in {binder.clause}, where there are no groups")
    if name == "GROUP_ID" and node.expressions:
        raise text.wrong(node, "requires no arguments of GROUP_ID")
    if name != "GROUP_ID" and not node.expressions:
        raise text.wrong(node, f"requires an expression of GROUP BY in {name}")
    arguments = tuple(plain(binder).bind(argument) for argument in node.expressions)
    return GroupingValue(AGGREGATES["COUNT"].result([]), name, arguments)


def plain(binder: Expressions) -> Expressions:
    """Return what binds the arguments of an aggregate: no aggregates may be among them."""
    return replace(binder, aggregates=False, overs=False, clause="an aggregate function", aliases={})


def aggregate(binder: Expressions, node: exp.Expr) -> Expression:
    """Return an aggregate function with its FILTER and IGNORE NULLS."""
    text = binder.context.text
    inner, condition, ignore_nulls = unwrapped(node)
    name = _name(inner)
    if not isinstance(inner, nodes.Call | nodes.SpecialCall) or not _is_aggregate(inner, binder):
        raise text.wrong(
            node, f"uses FILTER or IGNORE NULLS with {name or 'what'}, which is no aggregate function"
        )
    if not binder.aggregates:
        hint = "use HAVING for conditions on groups" if binder.clause == "WHERE" else None
        raise text.wrong(node, f"uses the aggregate function {name} in {binder.clause}", hint=hint)
    arguments = plain(binder)
    resolved = resolved_aggregate(arguments, inner)
    if resolved.function.ranks:
        raise text.wrong(node, f"uses {name} without OVER, which it requires")
    only = None if condition is None else _condition(arguments, condition)
    may_be_empty = binder.one_group or only is not None
    return AggregateValue(
        result_type(resolved, may_be_empty=may_be_empty),
        resolved.function.name,
        resolved.arguments,
        distinct=inner.args.get("quantifier") == "DISTINCT",
        filter=only,
        ignore_nulls=ignore_nulls,
        user=resolved.function.user,
    )


def _is_aggregate(node: exp.Expr, binder: Expressions) -> bool:
    name = _name(node)
    return name in _JSON_AGGREGATES or is_aggregate(name) or _users(node, binder) is not None


def _users(node: exp.Expr, binder: Expressions) -> PythonAggregate | None:
    """Return the aggregate function of the user's that a call names; None if it names none."""
    if not isinstance(node, nodes.Call):
        return None
    name = node.function.upper() if len(node.args["names"]) == 1 else node.function
    found = user_function(node, binder.context, built_in=_is_built_in(name))
    return found if isinstance(found, PythonAggregate) else None


def _name(node: exp.Expr) -> str:
    if isinstance(node, nodes.Call):
        return node.function.upper()
    return str(node.this) if isinstance(node, nodes.SpecialCall) else ""


def _condition(binder: Expressions, where: exp.Expr) -> Expression:
    condition = replace(binder, clause="FILTER").bind(where.this)
    if not isinstance(condition.type, BooleanType):
        raise binder.context.text.wrong(where.this, "requires a condition in FILTER", got=str(condition.type))
    return condition


def unwrapped(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None, bool]:
    """Return the call within FILTER and IGNORE NULLS, the condition, and whether NULLs are ignored."""
    condition, ignore_nulls = None, False
    while isinstance(node, exp.Filter | nodes.NullTreatment):
        if isinstance(node, exp.Filter):
            condition = node.expression
        else:
            ignore_nulls = node.args["kind"] == "IGNORE"
        node = node.this
    return node, condition, ignore_nulls


def resolved_aggregate(binder: Expressions, node: exp.Expr) -> ResolvedAggregate:
    """Return the function of a call of an aggregate, with its arguments bound."""
    text = binder.context.text
    name, given = _name(node), node.expressions
    user = _users(node, binder)
    if (
        user is not None
        and isinstance(node, nodes.Call)
        and not isinstance(next(iter(given), None), exp.Star)
    ):
        found = [binder.bind(argument) for argument in given]
        return user_aggregate(user, fitting(user, node, found, binder.context))
    if name in _JSON_AGGREGATES:
        tail = node.args.get("tail") or _JSON_AGGREGATES[name]
        name = f"{name}_{tail.replace(' ', '_')}"
    if len(given) == 1 and isinstance(given[0], exp.Star):
        if name != "COUNT" or node.args.get("quantifier"):
            raise text.wrong(given[0], "has an asterisk, which only COUNT(*) can have")
        given = []
    elif name == "COUNT" and not given:
        raise text.wrong(node, "requires arguments or an asterisk in COUNT")
    arguments = [materialized(binder.bind(argument)) for argument in given]
    return located(lambda: resolve_aggregate(name, arguments), binder, node)


def located(make: Callable[[], _Result], binder: Expressions, node: exp.Expr) -> _Result:
    """Return what a function makes; its errors get the place of a node."""
    try:
        return make()
    except SqlError:
        raise
    except ProgramError as error:
        raise binder.context.text.located(node, error) from None


def over(binder: Expressions, node: exp.Window) -> Expression:
    """Return a function over the window of each row."""
    text = binder.context.text
    if not binder.overs:
        raise text.wrong(node, f"uses OVER in {binder.clause}")
    inner, condition, ignore_nulls = unwrapped(node.this)
    name = _name(inner)
    if not _is_aggregate(inner, binder):
        raise text.wrong(node, f"uses OVER with {name or 'what'}, which is no aggregate function")
    arguments = replace(binder, overs=False, clause="OVER", aliases={})
    if condition is not None:
        raise text.wrong(
            condition, "uses FILTER with OVER", hint=f"use {name}(CASE WHEN ... THEN ... END) OVER"
        )
    resolved = resolved_aggregate(arguments, inner)
    window = over_windows.bind_window(arguments, node, resolved)
    return OverValue(
        resolved.type,
        resolved.function.name,
        resolved.arguments,
        window.partition,
        window.order,
        window.frame,
        distinct=inner.args.get("quantifier") == "DISTINCT",
        ignore_nulls=ignore_nulls,
        user=resolved.function.user,
    )
