"""Expressions as a user knows them, for errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import CharType, SymbolType, VarCharType
from firesteel.common.logical_types.logical_type import escaped_text
from firesteel.relational.expressions import Call, Expression, InputRef, Literal, UserCall

_INFIX: Final = frozenset(
    {
        *("+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "||", "LIKE", "SIMILAR TO"),
        *("IS DISTINCT FROM", "IS NOT DISTINCT FROM"),
    }
)


def shown(expression: Expression, names: Sequence[str]) -> str:
    """Return an expression over columns of these names, as SQL.

    >>> from firesteel.common.logical_types import IntType
    >>> from firesteel.relational.functions import resolve
    >>> shown(resolve("/", [InputRef(IntType(), 0), InputRef(IntType(), 1)]), ["total", "number"])
    'total / number'
    """
    if isinstance(expression, InputRef):
        return names[expression.index] if expression.index < len(names) else f"${expression.index}"
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, UserCall):
        return f"{expression.function.name}({', '.join(shown(one, names) for one in expression.operands)})"
    assert isinstance(expression, Call)
    return _call(expression, names)


def _literal(literal: Literal) -> str:
    if literal.value is None:
        return "NULL"
    if isinstance(literal.type, CharType | VarCharType):
        return escaped_text(literal.value)
    if isinstance(literal.type, SymbolType):
        return str(literal.value)
    return str(literal.value).upper() if isinstance(literal.value, bool) else str(literal.value)


def _call(call: Call, names: Sequence[str]) -> str:
    texts = [shown(operand, names) for operand in call.operands]
    function = call.function
    if function in ("CAST", "TRY_CAST"):
        return f"{function}({texts[0]} AS {call.type.copy(nullable=True)})"
    if function in _INFIX and len(texts) > 1:
        return f" {function} ".join(
            f"({text})" if _is_infix(operand) else text
            for text, operand in zip(texts, call.operands, strict=True)
        )
    if function == "MINUS_DATE":
        return f"({texts[1]} - {texts[2]}) {texts[0]}"
    if function.startswith("IS "):
        return f"{texts[0]} {function}"
    if function == "IN":
        return f"{texts[0]} IN ({', '.join(texts[1:])})"
    if function == "ITEM":
        return f"{texts[0]}[{texts[1]}]"
    if function == "CASE":
        pairs = zip(texts[0:-1:2], texts[1:-1:2], strict=True)
        return f"CASE {' '.join(f'WHEN {one} THEN {two}' for one, two in pairs)} ELSE {texts[-1]} END"
    if function in ("ARRAY", "MAP"):
        return f"{function}[{', '.join(texts)}]"
    if function in ("-", "NOT"):
        return f"{function} {texts[0]}"
    return f"{function}({', '.join(texts)})"


def _is_infix(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function in _INFIX and len(expression.operands) > 1
