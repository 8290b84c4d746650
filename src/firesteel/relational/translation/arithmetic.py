"""Operators on numbers, times and intervals in the kernel's SQL."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import (
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerNumberType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeFamily,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.relational.functions.operators import as_decimal
from firesteel.relational.translation.translator import Translation, Translator, cast_text, failing
from firesteel.relational.translation.types import kernel_type

_DIGITS: Final = 38
"""The most digits that a number of the kernel has."""

_SHORT: Final = 18
"""The most digits of a DECIMAL that DuckDB computes in 64 bits."""

_NAMES: Final = {"+": "plus", "-": "minus", "*": "times", "/": "divide", "%": "modulo"}
_DAY: Final = 86_400_000


def wrapped(text: str, data_type: IntegerNumberType) -> str:
    """Return a HUGEINT brought into the range of a type, as Java does by dropping bits."""
    half, whole = 1 << (data_type.bits - 1), 1 << data_type.bits
    return cast_text(f"((({text}) + {half}) % {whole} + {whole}) % {whole} - {half}", data_type)


def _infix(sign: str) -> Translation:
    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        if len(texts) == 1:
            return _negated(translator, call, texts[0])
        kinds = [operand.type for operand in call.operands]
        if any(kind.has_family(LogicalTypeFamily.DATETIME) for kind in kinds):
            return _moved(call, sign, texts)
        if any(kind.has_family(LogicalTypeFamily.INTERVAL) for kind in kinds):
            return _of_intervals(call, sign, texts)
        if isinstance(call.type, DecimalType):
            return _decimal(translator, call, sign, texts)
        if isinstance(call.type, IntegerNumberType):
            return _whole(translator, call, sign, texts)
        return f"({texts[0]} {sign} {texts[1]})"

    return translate


def _negated(translator: Translator, call: Call, text: str) -> str:
    if translator.careful and isinstance(call.type, IntegerNumberType):
        return wrapped(f"-CAST({text} AS HUGEINT)", call.type)
    return f"(- {text})"


def _whole(translator: Translator, call: Call, sign: str, texts: list[str]) -> str:
    assert isinstance(call.type, IntegerNumberType)
    left, right = texts
    if sign == "%":
        if any(isinstance(operand.type, DecimalType) for operand in call.operands):
            left_kind, right_kind = (as_decimal(operand.type) for operand in call.operands)
            kind = DecimalType(min(left_kind.precision, right_kind.precision), 0)
            return cast_text(_by_digits(translator, sign, texts, (left_kind, right_kind), kind), call.type)
        remainder = f"CAST({left} AS HUGEINT) % {right}" if translator.careful else f"({left} % {right})"
        return _unless_zero(call.operands[1], left, right, cast_text(remainder, call.type))
    operator = "//" if sign == "/" else sign
    if translator.careful:
        found = wrapped(f"CAST({left} AS HUGEINT) {operator} CAST({right} AS HUGEINT)", call.type)
    else:
        found = f"({left} {operator} {right})"
    return _unless_zero(call.operands[1], left, right, found) if sign == "/" else found


def _unless_zero(divisor: Expression, dividend: str, text: str, otherwise: str) -> str:
    if isinstance(divisor, Literal) and divisor.value:
        return otherwise
    failed = f"{text} = 0 AND {dividend} IS NOT NULL"
    return f"CASE WHEN {failed} THEN {failing('division by zero')} ELSE {otherwise} END"


def _decimal(translator: Translator, call: Call, sign: str, texts: list[str]) -> str:
    left, right = (as_decimal(operand.type) for operand in call.operands)
    assert isinstance(call.type, DecimalType)
    result = call.type
    if sign == "/" and _native_quotient(left, right, result):
        return _unless_zero(call.operands[1], texts[0], texts[1], _quotient(left, right, result, texts))
    digits = left.precision + right.precision if sign == "*" else _sum_digits(left, right)
    # The kernel fails where a result needs more digits than it has; few do, though their types allow it.
    fits = digits <= _DIGITS or (not translator.careful and _has_scale(sign, left, right))
    if sign in "+-*" and fits:
        # DuckDB computes results of up to 18 digits in 64 bits, and fails if they need more.
        wide = f"DECIMAL({max(digits, _SHORT + 1)}, {left.scale})"
        one = f"CAST({texts[0]} AS {wide})" if translator.careful and digits > _SHORT else texts[0]
        return cast_text(f"({one} {sign} {texts[1]})", result)
    return _by_digits(translator, sign, texts, (left, right), result)


def _by_digits(
    translator: Translator,
    sign: str,
    texts: list[str],
    operands: tuple[DecimalType, DecimalType],
    result: DecimalType,
) -> str:
    """Return an operation that is computed with all digits."""
    types = (*operands, result)
    digits = [digit for kind in types for digit in (kind.precision, kind.scale)]
    given = [cast_text(text, kind) for text, kind in zip(texts, operands, strict=True)]
    return translator.call(f"decimal_{_NAMES[sign]}|{'|'.join(map(str, digits))}", *given)


def _has_scale(sign: str, left: DecimalType, right: DecimalType) -> bool:
    """Return whether the kernel has a type for the exact result, though perhaps not for all of its digits."""
    return sign != "*" or left.scale + right.scale <= _DIGITS


def _sum_digits(left: DecimalType, right: DecimalType) -> int:
    scale = max(left.scale, right.scale)
    return max(left.precision - left.scale, right.precision - right.scale) + scale + 1


def _native_quotient(left: DecimalType, right: DecimalType, result: DecimalType) -> bool:
    """Return whether no whole number of the quotient's computation has too many digits."""
    moved = left.precision + result.scale - left.scale + right.scale
    unscaled = max(left.precision + left.scale, right.precision + right.scale)
    return moved < _DIGITS and unscaled < _DIGITS


def _quotient(left: DecimalType, right: DecimalType, result: DecimalType, texts: list[str]) -> str:
    """Return the quotient of whole numbers, rounded half up, with the point put where it belongs."""
    moved = result.scale - left.scale + right.scale
    one = f"({_unscaled(texts[0], left)} * {10**moved}::HUGEINT)"
    other = _unscaled(texts[1], right)
    rounded = f"({one} + sign({one}) * (abs({other}) // 2)) // abs({other}) * sign({other})"
    number = f"CAST(CAST({rounded} AS HUGEINT) AS DECIMAL(38, 0))"
    return f"TRY_CAST({number} * {power_of_ten(-result.scale)} AS {kernel_type(result)})"


def _unscaled(text: str, data_type: DecimalType) -> str:
    """Return the digits of a DECIMAL as a whole number."""
    if not data_type.scale:
        return f"CAST({text} AS HUGEINT)"
    wide = f"CAST({text} AS DECIMAL({_DIGITS}, {data_type.scale}))"
    return f"CAST({wide} * {power_of_ten(data_type.scale)} AS HUGEINT)"


def power_of_ten(exponent: int) -> str:
    """Return a power of ten as a DECIMAL.

    >>> power_of_ten(2), power_of_ten(-2)
    ("CAST('100' AS DECIMAL(3, 0))", "CAST('0.01' AS DECIMAL(2, 2))")
    """
    if exponent >= 0:
        return f"CAST('{10**exponent}' AS DECIMAL({exponent + 1}, 0))"
    return f"CAST('0.{'0' * (-exponent - 1)}1' AS DECIMAL({-exponent}, {-exponent}))"


def _of_intervals(call: Call, sign: str, texts: list[str]) -> str:
    if sign in "+-":
        return cast_text(f"({texts[0]} {sign} {texts[1]})", call.type)
    operator = "//" if sign == "/" else sign
    whole = all(
        operand.type.has_family(LogicalTypeFamily.INTERVAL) or isinstance(operand.type, IntegerNumberType)
        for operand in call.operands
    )
    if whole:
        found = cast_text(f"({texts[0]} {operator} {texts[1]})", call.type)
        return _unless_zero(call.operands[1], texts[0], texts[1], found) if sign == "/" else found
    return cast_text(f"trunc(CAST({texts[0]} AS DOUBLE) {sign} CAST({texts[1]} AS DOUBLE))", call.type)


def _moved(call: Call, sign: str, texts: list[str]) -> str:
    """Return a time plus or minus an interval."""
    place = 0 if call.operands[0].type.has_family(LogicalTypeFamily.DATETIME) else 1
    time, amount = call.operands[place].type, call.operands[1 - place].type
    text, distance = texts[place], texts[1 - place]
    if sign == "-":
        distance = f"(- {distance})"
    if isinstance(amount, YearMonthIntervalType):
        return moved_by_months(text, time, distance)
    assert isinstance(amount, DayTimeIntervalType)
    return moved_by_milliseconds(text, time, distance)


def moved_by_months(text: str, time: LogicalType, months: str) -> str:
    """Return a time moved by a number of months; a day that the month does not have becomes its last one."""
    if isinstance(time, DateType):
        return f"CAST({text} + to_months({months}) AS DATE)"
    if isinstance(time, TimeType):
        return text
    if _is_fine(time):
        day = f"(CAST({text} AS TIMESTAMP) + to_months({months}))"
        return f"make_timestamp_ns(epoch_us({day}) * 1000 + epoch_ns({text}) % 1000)"
    return f"({text} + to_months({months}))"


def moved_by_milliseconds(text: str, time: LogicalType, milliseconds: str) -> str:
    """Return a time moved by a number of milliseconds: a DATE by whole days, a TIME around the clock."""
    if isinstance(time, DateType):
        return f"({text} + CAST({milliseconds} // {_DAY} AS INTEGER))"
    if isinstance(time, TimeType):
        return f"CAST((({text} + {milliseconds}) % {_DAY} + {_DAY}) % {_DAY} AS INTEGER)"
    if _is_fine(time):
        return f"make_timestamp_ns(epoch_ns({text}) + {milliseconds} * 1000000)"
    return f"make_timestamp(epoch_us({text}) + {milliseconds} * 1000)"


def _is_fine(time: LogicalType) -> bool:
    return isinstance(time, TimestampType | LocalZonedTimestampType) and time.precision > 6


_ORDER_CHECKS: Final = {"<": 1, "<=": 1, ">": 0, ">=": 0, "=": 0}


def _comparison(sign: str) -> Translation:
    """Return the translation of a comparison: NaN is equal to nothing and in no order, unlike in DuckDB.

    Compared with a DECIMAL, NaN is the largest number, as it is in DuckDB.
    """

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        kinds = [operand.type for operand in call.operands]
        if not isinstance(kinds[0], FloatType | DoubleType) and not isinstance(kinds[1], DoubleType):
            return f"({texts[0]} {sign} {texts[1]})"
        if any(isinstance(kind, DecimalType) for kind in kinds):
            one, other = (
                f"CAST({text} AS DOUBLE)" if isinstance(kind, DecimalType) else text
                for text, kind in zip(texts, kinds, strict=True)
            )
            return f"({one} {sign} {other})"
        found = f"({texts[0]} {sign} {texts[1]})"
        checked = _ORDER_CHECKS.get(sign, 0)
        if isinstance(call.operands[checked], Literal):
            checked = 1 - checked if sign in ("=", "<>") else checked
        if isinstance(call.operands[checked], Literal) or call.operands[0] == call.operands[1]:
            return found
        against = call.operands[1 - checked]
        # NULL is neither equal to NaN nor different from it.
        present = against.type.nullable and not isinstance(against, Literal)
        unequal = f"isnan({texts[checked]})"
        if present:
            unequal = f"({unequal} AND {texts[1 - checked]} IS NOT NULL)"
        return f"({found} OR {unequal})" if sign == "<>" else f"({found} AND NOT {unequal})"

    return translate


def _distinct(negation: str) -> Translation:
    """Return the translation of IS [NOT] DISTINCT FROM: NaN is distinct from NaN."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        found = f"{texts[0]} IS {negation}DISTINCT FROM {texts[1]}"
        if not isinstance(call.operands[0].type, FloatType | DoubleType):
            return f"({found})"
        no_number = f"coalesce(isnan({texts[0]}), FALSE)"
        return f"({found} AND NOT {no_number})" if negation else f"({found} OR {no_number})"

    return translate


TRANSLATIONS: Final[dict[str, Translation]] = {
    **{sign: _infix(sign) for sign in "+-*/%"},
    **{sign: _comparison(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
    "IS DISTINCT FROM": _distinct(""),
    "IS NOT DISTINCT FROM": _distinct("NOT "),
}
