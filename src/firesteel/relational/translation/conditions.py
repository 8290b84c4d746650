"""Logic and conditions in the kernel's SQL.

Flink decides AND, OR, CASE and COALESCE from the left and computes no more than it needs. DuckDB does so for CASE and
COALESCE only, so an AND whose later operands may fail is written as CASE.
"""

from __future__ import annotations

from typing import Final

from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.translation.texts import where_extracted
from firesteel.relational.translation.translator import Translation, Translator
from firesteel.relational.translation.types import quoted

_SAFE: Final = frozenset(
    {
        *(
            "+",
            "-",
            "*",
            "=",
            "<>",
            "<",
            "<=",
            ">",
            ">=",
            "AND",
            "OR",
            "NOT",
            "IN",
            "LIKE",
            "||",
            "CASE",
            "IF",
        ),
        *(
            "COALESCE",
            "IFNULL",
            "TRY_CAST",
            "GREATEST",
            "LEAST",
            "UPPER",
            "LOWER",
            "CHAR_LENGTH",
            "SUBSTRING",
        ),
        *("EXTRACT", "ABS", "POSITION", "TRIM", "REPLACE", "DATE_FORMAT", "FLOOR", "CEIL", "POWER", "ROUND"),
        *("IS DISTINCT FROM", "IS NOT DISTINCT FROM", "LEFT", "RIGHT", "CONCAT", "CONCAT_WS"),
        *(f"IS {no}{what}" for no in ("", "NOT ") for what in ("NULL", "TRUE", "FALSE", "UNKNOWN")),
    }
)
"""Functions that have a result for all operands."""


def can_fail(expression: Expression) -> bool:
    """Return whether there may be rows that an expression cannot be computed for."""
    if isinstance(expression, InputRef | Literal):
        return False
    assert isinstance(expression, Call)
    if expression.function not in _SAFE and not expression.function.startswith("FIELD_"):
        return True
    return any(map(can_fail, expression.operands))


def _connected(word: str, deciding: str) -> Translation:
    """Return the translation of AND or OR; `deciding` is the value after which no operand is looked at."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        if not any(map(can_fail, call.operands[1:])):
            return f"({f' {word} '.join(texts)})"
        found = texts[-1]
        for text in reversed(texts[:-1]):
            found = f"CASE WHEN {text} IS {deciding} THEN {deciding} ELSE ({text} {word} {found}) END"
        return f"({found})"

    return translate


def _case(translator: Translator, call: Call, texts: list[str]) -> str:
    branches = " ".join(
        f"WHEN {condition} THEN {value}"
        for condition, value in zip(texts[0:-1:2], texts[1:-1:2], strict=True)
    )
    return f"CASE {branches} ELSE {texts[-1]} END"


def _test(words: str) -> Translation:
    return lambda translator, call, texts: f"({texts[0]} IS {words})"


def _extreme(name: str) -> Translation:
    """Return the translation of GREATEST or LEAST, which are NULL if one operand is."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        unknown = [
            f"{text} IS NULL"
            for text, operand in zip(texts, call.operands, strict=True)
            if operand.type.nullable
        ]
        found = f"{name}({', '.join(texts)})"
        return f"CASE WHEN {' OR '.join(unknown)} THEN NULL ELSE {found} END" if unknown else found

    return translate


def _is_null(negation: str) -> Translation:
    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        there = where_extracted(translator, call.operands[0])
        if there is None:
            return f"({texts[0]} IS {negation}NULL)"
        return there if negation else f"(NOT {there})"

    return translate


def _typeof(translator: Translator, call: Call, texts: list[str]) -> str:
    given = call.operands[0].type
    return quoted(given.as_summary_string())


def _in(translator: Translator, call: Call, texts: list[str]) -> str:
    return f"({texts[0]} IN ({', '.join(texts[1:])}))"


def _consists_of(pattern: str) -> Translation:
    return lambda translator, call, texts: (
        f"coalesce(regexp_full_match({texts[0]}, {quoted(pattern)}), FALSE)"
    )


TRANSLATIONS: Final[dict[str, Translation]] = {
    "AND": _connected("AND", "FALSE"),
    "OR": _connected("OR", "TRUE"),
    "NOT": lambda translator, call, texts: f"(NOT {texts[0]})",
    **{
        f"IS {negation}{word}": _test(f"{negation}{word}")
        for negation in ("", "NOT ")
        for word in ("TRUE", "FALSE")
    },
    "IS NULL": _is_null(""),
    "IS NOT NULL": _is_null("NOT "),
    "IS UNKNOWN": _test("NULL"),
    "IS NOT UNKNOWN": _test("NOT NULL"),
    "IN": _in,
    "CASE": _case,
    "IF": _case,
    "COALESCE": lambda translator, call, texts: f"coalesce({', '.join(texts)})",
    "IFNULL": lambda translator, call, texts: f"coalesce({', '.join(texts)})",
    "GREATEST": _extreme("greatest"),
    "LEAST": _extreme("least"),
    "TYPEOF": _typeof,
    "IS_ALPHA": _consists_of(r"\p{L}+"),
    "IS_DIGIT": _consists_of(r"[0-9]+"),
    "IS_DECIMAL": _consists_of(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"),
}
