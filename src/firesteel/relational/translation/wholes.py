"""Which expressions are arithmetic of whole numbers, and nothing else."""

from __future__ import annotations

from firesteel.common.logical_types import IntegerNumberType, LocalZonedTimestampType, TimestampType
from firesteel.functions.columns.program import Whole
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.translation.zones import UTC_NAMES


def whole(expression: Expression, zone: str) -> Whole | None:
    """Return an expression as arithmetic of whole numbers; None if it is more than that.

    >>> from firesteel.common.logical_types import BigIntType
    >>> number = InputRef(BigIntType(), 0)
    >>> found = whole(Call(BigIntType(), "%", (number, Literal(BigIntType(nullable=False), 7))), "UTC")
    >>> found.function, [operand.value for operand in found.operands]
    ('%', [0, 7])
    """
    match expression:
        case InputRef(index=index, type=IntegerNumberType() as kind):
            return Whole("column", kind.bits, value=index)
        case Literal(value=int() as value, type=IntegerNumberType() as kind):
            return Whole("number", kind.bits, value=value)
        case Call(
            function="+" | "-" | "*" | "/" | "%", type=IntegerNumberType() as kind, arguments=(one, other)
        ):
            return _operation(expression.function, kind.bits, whole(one, zone), whole(other, zone))
        case Call(function="CAST", type=IntegerNumberType() as kind, arguments=(inner,)):
            found = whole(inner, zone)
            return None if found is None or found.bits > kind.bits else Whole("CAST", kind.bits, (found,))
        case Call(function="TO_TIMESTAMP_LTZ", arguments=(inner, Literal(value=3))):
            found = whole(inner, zone)
            return None if found is None or found.function == "number" else Whole("INSTANT", 64, (found,))
        case Call(function="CAST", type=TimestampType(precision=wanted), arguments=(inner,)):
            given = inner.type
            same = isinstance(given, LocalZonedTimestampType) and given.precision == wanted
            return whole(inner, zone) if same and zone in UTC_NAMES else None
    return None


def _operation(function: str, bits: int, one: Whole | None, other: Whole | None) -> Whole | None:
    if one is None or other is None or "INSTANT" in (one.function, other.function):
        return None
    if function in "/%":
        if one.function == "number" or other.function != "number" or other.value <= 0:
            return None
    elif one.function == other.function == "number":
        return None
    return Whole(function, bits, (one, other))
