"""Expressions and aggregates as physical plans show them: names instead of places, operators between their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.functions.columns.aggregates import Aggregation
from firesteel.relational.expressions import (
    AggregateCall,
    Call,
    Expression,
    InputRef,
    Literal,
    OverCall,
    UserCall,
)
from firesteel.relational.logical.printing import expression_text

_INFIX: Final = frozenset(
    ["+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "LIKE", "||", "SIMILAR TO"]
)

_TAKING_BACK: Final = frozenset(["AVG", "COUNT", "SUM"])

_SUFFIX: Final = frozenset(
    f"IS {negated}{what}" for negated in ("", "NOT ") for what in ("NULL", "TRUE", "FALSE", "UNKNOWN")
)


def infix(expression: Expression, names: Sequence[str]) -> str:
    """Return an expression over columns of these names.

    >>> from firesteel.common.logical_types import BigIntType, BooleanType
    >>> number = BigIntType()
    >>> twice = Call(number, "*", (InputRef(number, 0), Literal(number, 2)))
    >>> infix(Call(BooleanType(), "IS NULL", (twice,)), ["price"])
    '(price * 2) IS NULL'
    """
    if isinstance(expression, InputRef):
        return names[expression.index]
    if isinstance(expression, Literal):
        return expression_text(expression)
    if not isinstance(expression, Call | UserCall):
        return expression_text(expression, names)
    operands = [infix(operand, names) for operand in expression.arguments]
    if isinstance(expression, UserCall):
        return f"{expression.function.name}({', '.join(operands)})"
    function = expression.function
    if function in ("CAST", "TRY_CAST"):
        return f"{function}({operands[0]} AS {expression.type.copy(True)})"
    if function in _INFIX and len(operands) > 1:
        return f"({f' {function} '.join(operands)})"
    if function == "MINUS_DATE":
        return f"({operands[1]} - {operands[2]})"
    if function in _SUFFIX:
        return f"{operands[0]} {function}"
    return f"{function}({', '.join(operands)})"


def call_text(call: AggregateCall | OverCall, names: Sequence[str]) -> str:
    """Return an aggregate call over columns of these names: ``COUNT(DISTINCT c) FILTER $f3``."""
    arguments = ", ".join(names[place] for place in call.arguments)
    if not arguments and call.function == "COUNT":
        arguments = "*"
    name = call.function if call.user is None else call.user.name
    text = f"{name}({'DISTINCT ' if call.distinct else ''}{arguments})"
    filtered = call.filter if isinstance(call, AggregateCall) else None
    return text if filtered is None else f"{text} FILTER {names[filtered]}"


def select_text(
    keys: Sequence[str], calls: Sequence[Aggregation], results: Sequence[str], *, retracts: bool = False
) -> str:
    """Return what an aggregating node gives: its keys, and its calls with the names of their results.

    With `retracts`, which means that rows can leave a group, functions that take back values have another name.
    """
    named = (
        f"{_retracting(call) if retracts else call.shown} AS {result}"
        for call, result in zip(calls, results, strict=True)
    )
    return ", ".join([*keys, *named])


def _retracting(call: Aggregation) -> str:
    if call.function not in _TAKING_BACK:
        return call.shown
    return call.shown.replace(call.function, f"{call.function}_RETRACT", 1)
