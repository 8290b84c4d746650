"""Functions of numbers in the kernel's SQL."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import (
    DecimalType,
    DoubleType,
    FloatType,
    IntegerNumberType,
    SymbolType,
)
from firesteel.relational.expressions import Call, Literal
from firesteel.relational.translation import fields
from firesteel.relational.translation.arithmetic import wrapped
from firesteel.relational.translation.translator import Translation, Translator, cast_text, failing
from firesteel.relational.translation.types import kernel_type


def _template(text: str) -> Translation:
    return lambda translator, call, texts: text.format(*texts)


def _abs(translator: Translator, call: Call, texts: list[str]) -> str:
    if translator.careful and isinstance(call.type, IntegerNumberType):
        return wrapped(f"abs(CAST({texts[0]} AS HUGEINT))", call.type)
    return f"abs({texts[0]})"


def _sign(translator: Translator, call: Call, texts: list[str]) -> str:
    if isinstance(call.type, FloatType | DoubleType):
        return cast_text(f"CASE WHEN isnan({texts[0]}) THEN {texts[0]} ELSE sign({texts[0]}) END", call.type)
    return cast_text(f"sign({texts[0]})", call.type)


def _whole(name: str) -> Translation:
    """Return the translation of FLOOR or CEIL, of numbers or to a unit of time."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        operand = call.operands[0].type
        if len(call.operands) > 1 and isinstance(call.operands[1].type, SymbolType):
            return fields.rounded(translator, call, texts[0], up=name == "ceil")
        if isinstance(operand, IntegerNumberType):
            return texts[0]
        return cast_text(f"{name}({texts[0]})", call.type)

    return translate


def _shortening(floating: str, exact: str) -> Translation:
    """Return how a number gets fewer digits: by a vectorised function, or by one of the kernel if it is exact."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        digits = texts[1] if len(texts) > 1 else "0"
        kind = call.type
        if isinstance(kind, FloatType | DoubleType):
            return cast_text(
                translator.call(floating, f"CAST({texts[0]} AS DOUBLE)", f"CAST({digits} AS INTEGER)"), kind
            )
        constant = _digits(call)
        if constant is None:
            if isinstance(kind, DecimalType):
                of = f"decimal_{exact}|{kind.precision}|{kind.scale}"
                return translator.call(of, texts[0], f"CAST({digits} AS INTEGER)")
            return _wholes_shortened(translator, call, texts, exact)
        return _shortened(call, constant, texts[0], exact)

    return translate


def _wholes_shortened(translator: Translator, call: Call, texts: list[str], name: str) -> str:
    """Return a whole number without its last digits, of which each row says how many."""
    text, digits = texts
    assert isinstance(call.type, IntegerNumberType)
    unit = f"CAST(pow(10::DOUBLE, least(-{digits}, 20)) AS HUGEINT)"
    half = f" + sign({text}) * {unit} // 2" if name == "round" else ""
    shorter = wrapped(f"(CAST({text} AS HUGEINT){half}) // {unit} * {unit}", call.type)
    return f"CASE WHEN {digits} >= 0 THEN {text} WHEN {digits} < 0 THEN {shorter} END"


def _shortened(call: Call, digits: int, text: str, name: str) -> str:
    """Return an exact number with so many digits after the point, rounded half up or cut off."""
    given = call.operands[0].type
    if digits >= (given.scale if isinstance(given, DecimalType) else 0):
        return cast_text(text, call.type)
    if isinstance(given, DecimalType) and digits >= 0:
        if name == "round":
            return f"TRY_CAST({text} AS {kernel_type(call.type)})"
        half = f"CAST(0.{'0' * digits}5 AS DECIMAL(38, {given.scale}))"
        moved = (
            f"CASE WHEN {text} > 0 THEN {text} - {half} WHEN {text} < 0 THEN {text} + {half} ELSE {text} END"
        )
        return f"TRY_CAST({moved} AS {kernel_type(call.type)})"
    unit = 10 ** min(-digits, 37)
    whole = (
        f"CAST(trunc({text}) AS HUGEINT)" if isinstance(given, DecimalType) else f"CAST({text} AS HUGEINT)"
    )
    half = f" + sign({text}) * {unit // 2}" if name == "round" else ""
    found = f"(CAST({whole}{half} AS HUGEINT) // {unit}::HUGEINT * {unit}::HUGEINT)"
    if isinstance(call.type, IntegerNumberType):
        return wrapped(found, call.type)
    return f"TRY_CAST({found} AS {kernel_type(call.type)})"


def _digits(call: Call) -> int | None:
    """Return how many digits a call keeps; None if each row says it."""
    if len(call.operands) == 1:
        return 0
    operand = call.operands[1]
    return operand.value if isinstance(operand, Literal) and isinstance(operand.value, int) else None


def _logarithm(translator: Translator, call: Call, texts: list[str]) -> str:
    if len(texts) == 1:
        return f"ln({texts[0]})"
    return f"(ln({texts[1]}) / ln({texts[0]}))"


def _random(translator: Translator, call: Call, texts: list[str]) -> str:
    return _seeded(translator, call, texts, "random") if texts else "random()"


def _random_integer(translator: Translator, call: Call, texts: list[str]) -> str:
    if len(texts) > 1:
        return _seeded(translator, call, texts, "random_integer")
    wrong = failing("RAND_INTEGER requires a bound that is positive")
    return f"CASE WHEN {texts[0]} <= 0 THEN {wrong} ELSE CAST(floor(random() * {texts[0]}) AS INTEGER) END"


def _seeded(translator: Translator, call: Call, texts: list[str], name: str) -> str:
    """Return a number of a sequence that a constant seed begins; any other seed begins one for each row."""
    seed, *others = (f"CAST({text} AS INTEGER)" for text in texts)
    if not isinstance(call.operands[0], Literal):
        return translator.call(f"{name}_of", seed, *others)
    if call.operands[0].value is None:
        return cast_text("NULL", call.type)
    return translator.call(f"{name}_sequence|{next(translator.numbers)}", '"query"', seed, *others)


_SAME: Final = (
    *("SQRT", "LN", "LOG10", "EXP", "SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN"),
    *("SINH", "COSH", "TANH", "DEGREES", "RADIANS"),
)
TRANSLATIONS: Final[dict[str, Translation]] = {
    **{name: _template(f"{name.lower()}({{0}})") for name in _SAME},
    "LOG": _logarithm,
    "LOG2": _template("(ln({0}) / ln(2::DOUBLE))"),
    "POWER": _template("power({0}, {1})"),
    "ATAN2": _template("atan2({0}, {1})"),
    "ABS": _abs,
    "SIGN": _sign,
    "FLOOR": _whole("floor"),
    "CEIL": _whole("ceil"),
    "ROUND": _shortening("rounded", "round"),
    "TRUNCATE": _shortening("truncated", "trunc"),
    "PI": _template("pi()"),
    "E": _template("exp(1::DOUBLE)"),
    "RAND": _random,
    "RAND_INTEGER": _random_integer,
    "UUID": _template("CAST(uuid() AS VARCHAR)"),
}
