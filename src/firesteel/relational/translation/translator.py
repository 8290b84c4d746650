"""Expressions to the kernel's SQL: the walk, and what translations of functions are given.

Contract: a text that a translation returns has exactly the kernel's type of the call's type, and may be put into any
other text without parentheses. Where Flink fails, the text calls `failing`; where Flink wraps a number around or has
NULL for one out of range, the text may raise DuckDB's error of that, if it does not with `careful`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import LogicalType, SymbolType
from firesteel.common.places import errors_at
from firesteel.functions.columns.program import marked_reason
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.translation.types import constant_text, identifier, kernel_type, quoted

Translation = Callable[["Translator", Call, list[str]], str]
"""Gives the text of a call, of the texts of its operands."""


_FIELD: Final = "FIELD_"


class Translator:
    """Translates expressions; collects the names of the vectorised functions that the texts call.

    `zone` is the session's time zone. With `careful`, numbers out of range do not raise where Flink has a value.
    `numbers` are those of calls that have a state of their own; the translators of one program share them.
    """

    def __init__(
        self,
        translations: Mapping[str, Translation],
        zone: str,
        *,
        careful: bool = False,
        numbers: Iterator[int] | None = None,
    ) -> None:
        self.zone: Final = zone
        self.numbers: Final = count() if numbers is None else numbers
        self.careful: Final = careful
        self.functions: Final[dict[str, None]] = {}
        self.translations = translations

    def text(self, expression: Expression) -> str:
        """Return the text of an expression.

        Raises UnsupportedError for what has no translation, with the place of the smallest part that has one.
        """
        with errors_at(expression.place):
            return self._text(expression)

    def _text(self, expression: Expression) -> str:
        if isinstance(expression, InputRef):
            return f'"{expression.index}"'
        if isinstance(expression, Literal):
            if isinstance(expression.type, SymbolType):
                return str(expression.value)
            return constant_text(expression.value, expression.type)
        if not isinstance(expression, Call):
            raise UnsupportedError("is no expression of one row", who=type(expression).__name__)
        name = _FIELD if expression.function.startswith(_FIELD) else expression.function
        translation = self.translations.get(name)
        if translation is None:
            raise UnsupportedError("is not supported yet", who=f"function {expression.function}")
        return translation(self, expression, [self.text(operand) for operand in expression.operands])

    def call(self, name: str, *operands: str) -> str:
        """Return the call of a vectorised function; see `firesteel.runtime.columns.kernel.functions`."""
        known = f"~{name}"  # no function of DuckDB's has such a name
        self.functions[known] = None
        return f"{identifier(known)}({', '.join(operands)})"


def failing(reason: str) -> str:
    """Return a text that fails with a reason for the user when it is computed."""
    return f"error({quoted(marked_reason(reason))})"


def cast_text(text: str, data_type: LogicalType) -> str:
    """Return a text as a value of the kernel's type of a type."""
    return f"CAST({text} AS {kernel_type(data_type)})"
