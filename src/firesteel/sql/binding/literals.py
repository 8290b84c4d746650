"""Literals as they are written to typed constants."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Context, Decimal
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    IntervalField,
    IntType,
    LogicalType,
    NullType,
    TimestampType,
    TimeType,
)
from firesteel.relational.expressions import Call, Expression, Literal
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.types import MILLISECONDS, MONTHS, interval_type
from firesteel.sql.nodes import Constant, IntervalLiteral, TypedLiteral, Unknown

_DATE: Final = r"(\d{4})-(\d{1,2})-(\d{1,2})"
_CLOCK: Final = r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?"
_MONTHS: Final = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MILLISECONDS: Final = {
    "WEEK": 604_800_000,
    "DAY": 86_400_000,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1_000,
}
_UNITS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")
_DIGITS: Final = Context(prec=2000)
_FIELD: Final = {"QUARTER": "MONTH", "WEEK": "DAY"}


def text_literal(text: str) -> Literal:
    """Return a text as a constant.

    >>> str(text_literal("abc").type)
    'CHAR(3) NOT NULL'
    """
    return Literal(CharType(len(text), nullable=False), text)


def whole_literal(number: int) -> Literal | None:
    """Return a whole number as a constant, an INT if it is one and otherwise a BIGINT; None if it is neither.

    >>> str(whole_literal(2**31).type)
    'BIGINT NOT NULL'
    """
    if -(2**31) <= number < 2**31:
        return Literal(IntType(nullable=False), number)
    if -(2**63) <= number < 2**63:
        return Literal(BigIntType(nullable=False), number)
    return None


def bind_literal(node: exp.Expr, text: Text) -> Expression | None:
    """Return the constant that a node is, None if it is none.

    Raises SqlValidationError for a date that does not exist, and for numbers that no type has.
    """
    match node:
        case exp.Literal(is_string=True):
            return text_literal(node.name)
        case exp.Literal():
            return number_literal(node, text)
        case exp.Boolean():
            return Literal(BooleanType(nullable=False), bool(node.this))
        case exp.Null():
            return Literal(NullType(), None)
        case Unknown():
            return Literal(BooleanType(), None)
        case exp.HexString():
            value = bytes.fromhex(node.name)
            return Literal(BinaryType(len(value), nullable=False), value)
        case exp.National():
            return text_literal(node.name)
        case Constant():
            return Literal(node.args["kind"], node.args.get("value"))
        case TypedLiteral():
            return _time(node, text)
        case IntervalLiteral():
            return bind_interval(node, text)
    return None


def number_literal(node: exp.Expr, text: Text, *, negative: bool = False) -> Literal:
    """Return the number that a node is, or, if `negative`, what a minus sign before it makes of it.

    The digits of a number with a point are its precision, whichever they are, and they must fit into 64 bits, as in
    Flink.
    """
    written = node.name
    if "e" in written.lower():
        return Literal(DoubleType(nullable=False), -float(written) if negative else float(written))
    value = -Decimal(written) if negative else Decimal(written)
    scale = len(written.partition(".")[2])
    found = whole_literal(int(value)) if not scale else None
    if scale and -(2**63) <= int(value.scaleb(scale, _DIGITS)) < 2**63:
        precision = max(len(written) - 1, scale)
        found = Literal(DecimalType(precision, scale, nullable=False), value)
    if found is None:
        raise text.wrong(
            node,
            "requires a number whose digits fit into 64 bits",
            got=written,
            hint=f"write CAST('{written}' AS DECIMAL(38, {scale}))",
        )
    return found


def _time(node: TypedLiteral, text: Text) -> Expression:
    kind, written = node.args["kind"], node.name.strip()
    pattern = {"DATE": _DATE, "TIME": _CLOCK, "TIMESTAMP": rf"{_DATE}(?: {_CLOCK})?"}[kind]
    found = re.fullmatch(pattern, written)
    shape = {
        "DATE": "2020-12-31",
        "TIME": "23:59:59.999",
        "TIMESTAMP": "2020-12-31 23:59:59.999",
    }[kind]
    wrong = text.wrong(node, f"requires a {kind} as '{shape}'", got=repr(node.name))
    if found is None:
        raise wrong
    *numbers, fraction = found.groups() if kind != "DATE" else (*found.groups(), None)
    parts = [int(number or 0) for number in numbers]
    digits = fraction or ""
    try:
        if kind == "DATE":
            return Literal(DateType(nullable=False), dt.date(*parts))
        micros = int(digits[:6].ljust(6, "0"))
        if kind == "TIME":
            hour, minute, second = parts
            clock = dt.time(hour, minute, second, micros)
            return Literal(TimeType(min(len(digits), 3), nullable=False), clock)
        year, month, day, hour, minute, second = parts
        return _timestamp(dt.datetime(year, month, day, hour, minute, second, micros), digits, written)
    except ValueError:
        raise wrong from None


def _timestamp(value: dt.datetime, digits: str, written: str) -> Expression:
    kind = TimestampType(len(digits), nullable=False)
    if len(digits) <= 6:
        return Literal(kind, value)
    return Call(kind, "CAST", (text_literal(written),))


def bind_interval(node: IntervalLiteral, text: Text) -> Literal:
    """Return an interval as a constant: months as an int, or a timedelta."""
    unit, end_unit = str(node.args["unit"]), node.args.get("end_unit")
    _check_precisions(node, unit, end_unit, text)
    written = node.name.strip()
    sign = -1 if node.args.get("negative") else 1
    if written[:1] in ("-", "+"):
        sign, written = (-sign if written[0] == "-" else sign), written[1:].strip()
    amount = _amount(written, unit, end_unit)
    if amount is None:
        shape = f"{unit} TO {end_unit}" if end_unit else unit
        raise text.wrong(node, f"requires an interval of {shape}", got=repr(node.name))
    if unit in _MONTHS:
        return Literal(MONTHS.copy(nullable=False), sign * amount)
    return Literal(MILLISECONDS.copy(nullable=False), dt.timedelta(milliseconds=sign * amount))


def _check_precisions(node: IntervalLiteral, unit: str, end_unit: str | None, text: Text) -> None:
    start = IntervalField[_FIELD.get(unit, unit)]
    precision, fraction = _precisions(node)
    try:
        interval_type(start, IntervalField[end_unit] if end_unit else start, precision, fraction)
    except ProgramError as error:
        raise text.located(node, error) from None


def _precisions(node: IntervalLiteral) -> tuple[int | None, int | None]:
    first, last = node.args.get("precision"), node.args.get("end_precision")
    numbers = [int(part.name) for part in first.expressions] if first else []
    if node.args["unit"] == "SECOND":
        return None, numbers[1] if len(numbers) > 1 else None
    ends = [int(part.name) for part in last.expressions] if last else []
    return (numbers[0] if numbers else None), (ends[0] if ends else None)


def _amount(written: str, unit: str, end_unit: str | None) -> int | None:
    """Return the months or milliseconds of an interval's text without its sign, None if it is no such text."""
    if unit in _MONTHS:
        pattern = r"(\d+)-(\d{1,2})" if end_unit else r"(\d+)"
        found = re.fullmatch(pattern, written)
        if found is None:
            return None
        years, *months = map(int, found.groups())
        return years * _MONTHS[unit] + sum(months)
    units: tuple[str, ...] = (unit,)
    if end_unit:
        units = _UNITS[_UNITS.index(unit) : _UNITS.index(end_unit) + 1]
    pattern = r"(\d+)"
    for number, _ in enumerate(units[1:]):
        pattern += (" " if units[number] == "DAY" else ":") + r"(\d{1,2})"
    if units[-1] == "SECOND":
        pattern += r"(?:\.(\d{1,9}))?"
    found = re.fullmatch(pattern, written)
    if found is None:
        return None
    amount = sum(
        _MILLISECONDS[part] * int(number) for part, number in zip(units, found.groups(), strict=False)
    )
    fraction = found.group(len(units) + 1) if units[-1] == "SECOND" else None
    return amount + int((fraction or "").ljust(3, "0")[:3])


def negated(literal: Expression) -> Literal | None:
    """Return the constant of a minus sign before a number, None if it is no number."""
    if not isinstance(literal, Literal) or not isinstance(literal.value, int | float | Decimal):
        return None
    kind: LogicalType = literal.type
    return None if isinstance(literal.value, bool) else Literal(kind, -literal.value)
