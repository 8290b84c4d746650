"""Conditions within paths into JSON documents: ``(@.price > 10 && @.name == 'a')``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

Condition = Callable[[Any], bool]
_Operand = Callable[[Any], Any]
_MISSING: Final = object()
_TOKENS: Final = re.compile(
    r"\s*(&&|\|\||==|!=|<=|>=|<|>|!|\(|\)|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
    r"|true\b|false\b|null\b|[@$](?:\.\.?[^\s.\[\]()=<>!&|]+|\[[^\]]*\])*)"
)


class FilterError(ValueError):
    """A text is no condition that is supported."""


def compiled_filter(text: str, path_of: Callable[[str], _Operand]) -> Condition:
    """Return the condition that a text in parentheses is; `path_of` makes what reads a path. Raises FilterError.

    >>> compiled_filter("(@ > 1 && @ != 3)", lambda path: lambda value: value)(2)
    True
    """
    parser = _Parser(text, path_of)
    found = parser.either()
    if parser.place != len(parser.tokens):
        raise FilterError(f"the condition {text!r} cannot be read")
    return found


class _Parser:
    """Reads a condition from left to right."""

    def __init__(self, text: str, path_of: Callable[[str], _Operand]) -> None:
        self.tokens: list[str] = []
        self.place = 0
        self._text = text
        self._path_of = path_of
        end = 0
        while end < len(text.rstrip()):
            found = _TOKENS.match(text, end)
            if found is None:
                raise FilterError(
                    f"the condition {text!r} has {text[end:].strip()!r}, which is not supported"
                )
            self.tokens.append(found.group(1))
            end = found.end()

    def _sees(self, *words: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place] in words

    def _takes(self, *words: str) -> bool:
        seen = self._sees(*words)
        self.place += seen
        return seen

    def either(self) -> Condition:
        """Read conditions with || between them."""
        parts = [self._all()]
        while self._takes("||"):
            parts.append(self._all())
        return lambda value: any(part(value) for part in parts)

    def _all(self) -> Condition:
        parts = [self._one()]
        while self._takes("&&"):
            parts.append(self._one())
        return lambda value: all(part(value) for part in parts)

    def _one(self) -> Condition:
        if self._takes("!"):
            inner = self._one()
            return lambda value: not inner(value)
        if self._takes("("):
            inside = self.either()
            if not self._takes(")"):
                raise FilterError(f"the condition {self._text!r} has a parenthesis that does not close")
            return inside
        left = self._operand()
        if not self._sees(*_COMPARISONS):
            return lambda value: left(value) is not _MISSING
        compare = _COMPARISONS[self.tokens[self.place]]
        self.place += 1
        right = self._operand()
        return lambda value: _compared(compare, left(value), right(value))

    def _operand(self) -> _Operand:
        if self.place == len(self.tokens):
            raise FilterError(f"the condition {self._text!r} is not finished")
        token = self.tokens[self.place]
        self.place += 1
        if token[0] == "@":
            read = self._path_of(token)
            return lambda value: _found(read, value)
        if token[0] in "$!()&|=<>":
            raise FilterError(f"the condition {self._text!r} has {token}, which is not supported")
        constant = token[1:-1] if token[0] in "'\"" else json.loads(token, parse_float=Decimal)
        return lambda _: constant


def _found(read: _Operand, value: Any) -> Any:
    try:
        return read(value)
    except ValueError:
        return _MISSING


def _compared(compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    """Return whether a comparison is true; values of different kinds are unequal and have no order."""
    return left is not _MISSING and right is not _MISSING and compare(left, right)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | Decimal) else type(value).__name__


def _equal(left: Any, right: Any) -> bool:
    return _kind(left) == _kind(right) and bool(left == right)


def _less(left: Any, right: Any) -> bool:
    return _kind(left) == _kind(right) and _kind(left) in ("number", "str") and bool(left < right)


_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _less,
    ">": lambda left, right: _less(right, left),
    "<=": lambda left, right: _less(left, right) or _equal(left, right),
    ">=": lambda left, right: _less(right, left) or _equal(left, right),
}
