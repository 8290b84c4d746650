"""Functions of dates and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import (
    STRING,
    BigIntType,
    BooleanType,
    DateType,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    TimestampKind,
    TimestampType,
    TimeType,
)
from firesteel.relational.expressions import Call, Expression
from firesteel.relational.functions.function import Function, FunctionError, Parameter, Result, Signature
from firesteel.relational.functions.parameters import (
    AS_BIGINT,
    AS_INT,
    AS_STRING,
    DATED,
    DATETIME,
    INTERVAL,
    MILLISECONDS,
    MONTHS,
    NUMBER,
    ROWTIME,
    SYMBOL,
    TEMPORAL,
    TEXT,
    TIMESTAMP,
    WHOLE,
)
from firesteel.relational.functions.results import any_nullable, constant, exactly, fixed, nullable

_BIGINT: Final = fixed(BigIntType())
SOURCE_WATERMARK: Final = "SOURCE_WATERMARK"
PRECISIONS: Final = range(10)
"""The digits that a second can have."""
_MONTH_UNITS: Final = frozenset({"YEAR", "QUARTER", "MONTH"})
_CLOCK_UNITS: Final = frozenset({"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND"})


def source_watermark(kind: LogicalType) -> Call:
    """Return the watermark that a source makes itself, for a column of this type."""
    return Call(kind, SOURCE_WATERMARK, ())


def is_source_watermark(expression: Expression) -> bool:
    """Return whether a watermark is that of the source, not computed of rows."""
    return isinstance(expression, Call) and expression.function == SOURCE_WATERMARK


def _added(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of TIMESTAMPADD: a date plus hours has a clock, of six digits."""
    unit, time = constant(operands[0]), operands[2].type
    may_be_null = any_nullable(operands[1:])
    if isinstance(time, DateType) and unit in _CLOCK_UNITS:
        return TimestampType(6, nullable=may_be_null)
    return time.copy(nullable=may_be_null)


def _elapsed(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of MINUS_DATE: months, or milliseconds."""
    kind = MONTHS if constant(operands[0]) in _MONTH_UNITS else MILLISECONDS
    return kind.copy(nullable=any_nullable(operands[1:]))


def _of_one_kind(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types of the operands of MINUS_DATE, None of different kinds of times, and of clocks in months."""
    unit, first, second = (operand.type for operand in operands)
    if first.root is not second.root:
        return None
    if isinstance(first, TimeType) and constant(operands[0]) in _MONTH_UNITS:
        return None
    return [unit, first, second]


def _local(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of TO_TIMESTAMP_LTZ: it has the digits of the parts of a second, at least three.

    Of a number they are the second operand, of a text the S at the end of a constant pattern. Raises FunctionError for
    more than nine of these.
    """
    digits = constant(_uncast(operands[1])) if len(operands) > 1 else None
    if isinstance(digits, str):
        pattern, digits = digits, len(digits) - len(digits.rstrip("S"))
        if digits > max(PRECISIONS):
            raise FunctionError(
                "requires a pattern with nine S at most", who="TO_TIMESTAMP_LTZ", got=pattern, argument=1
            )
    return LocalZonedTimestampType(max(digits, 3) if isinstance(digits, int) else 3)


def _uncast(operand: Expression) -> Expression:
    """Return what was written where an operand was cast to the type of its parameter."""
    return operand.operands[0] if isinstance(operand, Call) and operand.function == "CAST" else operand


def _of_parts(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types of the operands of TO_TIMESTAMP_LTZ of a number, whose second one is from 0 to 9."""
    given, precision = operands[0].type, operands[1] if len(operands) > 1 else None
    digits = None if precision is None else constant(precision)
    if isinstance(digits, int) and digits not in PRECISIONS:
        return None
    return [given] if precision is None else [given, IntType()]


def _now(name: str, data_type: LogicalType) -> Function:
    """Return a function of the current time, with a precision that does not matter."""
    signature = Signature((AS_INT,), exactly(data_type.copy(nullable=False)), optional=1)
    return Function(name, (signature,), temporal=True)


def _function(name: str, result: Result, *parameters: Parameter, optional: int = 0) -> Function:
    return Function(name, (Signature(parameters, result, optional=optional),))


_INSTANT: Final = LocalZonedTimestampType(3)
TIMES: Final = (
    Function(
        "EXTRACT",
        (Signature((SYMBOL, DATETIME), _BIGINT), Signature((SYMBOL, INTERVAL), _BIGINT)),
    ),
    _function("TIMESTAMPADD", _added, SYMBOL, WHOLE, DATETIME),
    _function("TIMESTAMPDIFF", fixed(IntType()), SYMBOL, DATED, DATED),
    Function("MINUS_DATE", (Signature((SYMBOL, DATETIME, DATETIME), _elapsed, together=_of_one_kind),)),
    _function("OVERLAPS", fixed(BooleanType()), DATETIME, TEMPORAL, DATETIME, TEMPORAL),
    Function(
        "DATE_FORMAT",
        (Signature((TIMESTAMP, TEXT), fixed(STRING)), Signature((TEXT, TEXT), nullable(STRING))),
    ),
    _function("TO_DATE", nullable(DateType()), TEXT, TEXT, optional=1),
    _function("TO_TIMESTAMP", nullable(TimestampType(3)), TEXT, TEXT, optional=1),
    Function(
        "TO_TIMESTAMP_LTZ",
        (
            Signature((NUMBER, AS_INT), _local, optional=1, together=_of_parts),
            Signature((AS_STRING, AS_STRING, AS_STRING), _local, optional=2),
        ),
    ),
    Function(
        "UNIX_TIMESTAMP",
        (Signature((TEXT, TEXT), _BIGINT, optional=1), Signature((), exactly(BigIntType(nullable=False)))),
        temporal=True,
    ),
    _function("FROM_UNIXTIME", nullable(STRING), AS_BIGINT, TEXT, optional=1),
    _function("CONVERT_TZ", nullable(STRING), TEXT, TEXT, TEXT),
    _now("CURRENT_TIMESTAMP", _INSTANT),
    _now("NOW", _INSTANT),
    _now("CURRENT_ROW_TIMESTAMP", _INSTANT),
    _now("LOCALTIMESTAMP", TimestampType(3)),
    _now("CURRENT_DATE", DateType()),
    _now("CURRENT_TIME", TimeType(0)),
    _now("LOCALTIME", TimeType(0)),
    Function("CURRENT_DATABASE", (Signature((), exactly(STRING.copy(nullable=False))),), temporal=True),
    Function(
        "PROCTIME",
        (Signature((), exactly(LocalZonedTimestampType(3, TimestampKind.PROCTIME, nullable=False))),),
        temporal=True,
    ),
    Function(SOURCE_WATERMARK, (Signature((), exactly(_INSTANT)),), temporal=True),
    Function(
        "CURRENT_WATERMARK",
        (Signature((ROWTIME,), lambda operands: operands[0].type.copy(nullable=True)),),
        temporal=True,
        strict=False,
    ),
)
PARTS: Final = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
}
"""Functions that are EXTRACT of a unit."""
