"""Conditions as text for people: by their name, or by the source that they were written as."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

from firesteel.functions.patterns.conditions import (
    Composite,
    IterativeCondition,
    SubtypeCondition,
    function_of,
)

__all__ = ["described"]

_LONGEST: Final = 80
_WEAKER: Final = {
    "or": (" if ", ":=", "lambda "),
    "and": (" or ", " if ", ":=", "lambda "),
    "not": (" and ", " or ", " if ", ":=", "lambda "),
}
"""By connective, words of expressions that bind less."""


def described(condition: IterativeCondition) -> str:
    """Return a condition as text: the name of a function, the body of a lambda, the words of a text.

    An object is shown by the name of its class. A lambda whose source is not there is shown by its line.

    >>> from firesteel.functions.patterns.conditions import (
    ...     RichAndCondition, RichNotCondition, RichOrCondition, SimpleCondition
    ... )
    >>> letters, digits = SimpleCondition.of(str.isalpha), SimpleCondition.of(str.isdigit)
    >>> described(RichAndCondition(letters, RichNotCondition(RichOrCondition(digits, letters))))
    'str.isalpha and not (str.isdigit or str.isalpha)'
    """
    if isinstance(condition, Composite):
        parts = [_part(part, condition.connective) for part in condition.parts]
        return f"not {parts[0]}" if len(parts) == 1 else f" {condition.connective} ".join(parts)
    if isinstance(condition, SubtypeCondition):
        return f"is a {condition.subtype.__name__}"
    function = function_of(condition)
    if function is not None:
        return _shortened(_of_function(function))
    return _shortened(getattr(condition, "text", "") or f"{type(condition).__name__}()")


def bracketed(text: str, connective: str) -> str:
    """Return an expression in brackets if it has a word that binds less than the connective before or behind it.

    >>> bracketed("a or b", "and"), bracketed("a and b", "and")
    ('(a or b)', 'a and b')
    >>> bracketed("a OR b", "not")
    '(a OR b)'
    """
    weaker = any(word in text.lower() for word in _WEAKER[connective])
    return f"({text})" if weaker else text


def _part(condition: IterativeCondition, connective: str) -> str:
    text = described(condition)
    negated = isinstance(condition, Composite) and condition.connective == "not"
    return text if negated else bracketed(text, connective)


def _of_function(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType) and code.co_name == "<lambda>":
        return _body(code) or f"the lambda at {code.co_filename}:{code.co_firstlineno}"
    name = getattr(function, "__qualname__", None)
    return f"{type(function).__name__}()" if name is None else name.rpartition("<locals>.")[2]


def _body(code: CodeType) -> str | None:
    """Return the source of a lambda's body, None if it is not there."""
    source = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    inside = [*_places(code)]
    bodies = [
        node.body
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and all(_begin(node.body) <= begin and end <= _end(node.body) for begin, end in inside)
    ]
    if not bodies:
        return None
    # A lambda within another one is the shorter of the two.
    segments = [ast.get_source_segment(source, body) or "" for body in bodies]
    return " ".join(min(segments, key=len).split())


def _places(code: CodeType) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where the parts of the code begin and end: lines and columns."""
    for line, end_line, column, end_column in code.co_positions():
        if line is not None and end_line is not None and column is not None and end_column:
            yield (line, column), (end_line, end_column)


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
