"""Arithmetic, comparisons and logic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LogicalType,
    LogicalTypeFamily,
    NullType,
    RowType,
    TimestampType,
    TimeType,
)
from firesteel.common.logical_types.decimals import divide_type, modulo_type, plus_type, times_type
from firesteel.common.logical_types.merging import find_common_type, precision_and_scale
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.function import Function, Signature
from firesteel.relational.functions.parameters import (
    ANY,
    BINARY,
    BOOLEAN,
    DATETIME,
    EXACT,
    INTERVAL,
    MONTH_INTERVAL,
    NUMBER,
    TEXT,
    TIME_INTERVAL,
)
from firesteel.relational.functions.results import (
    any_nullable,
    concatenated,
    exactly,
    fixed,
    operand,
)

_F = LogicalTypeFamily
TRUTH: Final = BooleanType()
_DECIMAL_RESULTS: Final = {
    "+": plus_type,
    "-": plus_type,
    "*": times_type,
    "/": divide_type,
    "%": modulo_type,
}


def as_decimal(data_type: LogicalType) -> DecimalType:
    """Return the DECIMAL that holds all values of an exact number."""
    precision, scale = precision_and_scale(data_type)
    return DecimalType(precision, scale, nullable=data_type.nullable)


def _number_types(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types that two numbers are computed in; an untyped NULL is one of the other's type."""
    types = [part.type for part in operands]
    known = [data_type for data_type in types if not isinstance(data_type, NullType)]
    if not all(data_type.has_family(_F.NUMERIC) for data_type in known):
        return None
    if not known:
        return [IntType()] * 2
    if len(known) < len(types):
        return [known[0]] * 2
    if not all(data_type.has_family(_F.EXACT_NUMERIC) for data_type in types):
        return [_approximate(types)] * 2
    if any(isinstance(data_type, DecimalType) for data_type in types):
        return [as_decimal(data_type) for data_type in types]
    found = find_common_type(types)
    return None if found is None else [found] * 2


def _approximate(types: Sequence[LogicalType]) -> LogicalType:
    """Return the type of arithmetic with floating point: the first one's, but DOUBLE with a DECIMAL."""
    if any(isinstance(data_type, DecimalType) for data_type in types):
        return DoubleType()
    return next(data_type for data_type in types if data_type.has_family(_F.APPROXIMATE_NUMERIC))


def _arithmetic(sign: str) -> Signature:
    def result(operands: Sequence[Expression]) -> LogicalType:
        left, right = (part.type for part in operands)
        may_be_null = any_nullable(operands)
        if isinstance(left, DecimalType) and isinstance(right, DecimalType):
            return _DECIMAL_RESULTS[sign](left, right).copy(nullable=may_be_null)
        return left.copy(nullable=may_be_null)

    return Signature((NUMBER, NUMBER), result, together=_number_types)


def _remainder(operands: Sequence[Expression]) -> LogicalType:
    left, right = (part.type for part in operands)
    may_be_null = any_nullable(operands)
    if precision_and_scale(left)[1] or precision_and_scale(right)[1]:
        return modulo_type(as_decimal(left), as_decimal(right)).copy(nullable=may_be_null)
    return right.copy(nullable=may_be_null)


def _moved_time(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of a time plus an interval: a date plus hours has a clock."""
    may_be_null = any_nullable(operands)
    (time,) = (part.type for part in operands if part.type.has_family(_F.DATETIME))
    (amount,) = (part.type for part in operands if part.type.has_family(_F.INTERVAL))
    if isinstance(time, DateType | TimeType) or not isinstance(time, TimestampType):
        return time.copy(nullable=may_be_null)
    del amount
    return time.copy(nullable=may_be_null)


def _wider_interval(operands: Sequence[Expression]) -> LogicalType:
    found = find_common_type([part.type for part in operands])
    assert found is not None
    return found.copy(nullable=any_nullable(operands))


_SUMS_OF_INTERVALS: Final = (
    Signature((MONTH_INTERVAL, MONTH_INTERVAL), _wider_interval),
    Signature((TIME_INTERVAL, TIME_INTERVAL), _wider_interval),
)


def comparable(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types in which values are compared, None if they cannot be."""
    types = [part.type for part in operands]
    known = [data_type for data_type in types if not isinstance(data_type, NullType)]
    if not known:
        return types
    if any(_are_strangers(one, other) for one in known for other in known):
        return None
    if all(data_type.has_family(_F.NUMERIC) for data_type in known) and not all(
        data_type.has_family(_F.EXACT_NUMERIC) for data_type in known
    ):
        return [_approximate(known)] * len(types)
    found = find_common_type(known) or _across_families(known)
    return None if found is None else [found] * len(types)


def _are_strangers(one: LogicalType, other: LogicalType) -> bool:
    """Return whether one is a time and the other a number or another kind of time."""
    if not _is_time(one):
        return False
    if _is_time(other):
        return one.root is not other.root and not all(part.has_family(_F.TIMESTAMP) for part in (one, other))
    return other.has_family(_F.NUMERIC)


def _widest(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types in which values are told apart: as they are compared, but FLOAT with DOUBLE as DOUBLE."""
    found = comparable(operands)
    if found is not None and any(isinstance(part.type, DoubleType) for part in operands):
        return [DoubleType() if isinstance(data_type, FloatType) else data_type for data_type in found]
    return found


def ordered(operands: Sequence[Expression]) -> Sequence[LogicalType] | None:
    """Return the types in which values are put in order; a DECIMAL stays one beside a DOUBLE, as it knows no NaN."""
    found = _widest(operands)
    if found is not None and isinstance(found[0], DoubleType):
        return [part.type if isinstance(part.type, DecimalType) else DoubleType() for part in operands]
    return found


def _is_time(data_type: LogicalType) -> bool:
    return data_type.has_family(_F.DATETIME)


def _across_families(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the type in which text is compared with something else: as Flink does, the other is what counts."""
    others = [data_type for data_type in types if not data_type.has_family(_F.CHARACTER_STRING)]
    if len(others) == len(types) or not others:
        return None
    if any(not _is_comparable_with_text(data_type) for data_type in others):
        return None
    return find_common_type(others)


def _is_comparable_with_text(data_type: LogicalType) -> bool:
    return data_type.has_family(_F.NUMERIC) or _is_time(data_type)


def _comparison(name: str) -> Function:
    together = ordered if name[0] in "<>" and name != "<>" else comparable

    def result(operands: Sequence[Expression]) -> LogicalType:
        rows = any(isinstance(part.type, RowType) for part in operands)
        return TRUTH.copy(nullable=rows or any_nullable(operands))

    return Function(name, (Signature((ANY, ANY), result, together=together, tried=True),))


def _distinction(name: str) -> Function:
    result = exactly(TRUTH.copy(nullable=False))
    return Function(name, (Signature((ANY, ANY), result, together=_widest, tried=True),), strict=False)


def _test(words: str, parameter_is_truth: bool) -> Function:
    parameter = BOOLEAN if parameter_is_truth else ANY
    result = exactly(TRUTH.copy(nullable=False))
    return Function(f"IS {words}", (Signature((parameter,), result),), strict=False)


OPERATORS: Final = (
    Function(
        "+",
        (
            _arithmetic("+"),
            Signature((DATETIME, INTERVAL), _moved_time),
            Signature((INTERVAL, DATETIME), _moved_time),
            *_SUMS_OF_INTERVALS,
        ),
    ),
    Function(
        "-",
        (
            _arithmetic("-"),
            Signature((DATETIME, INTERVAL), _moved_time),
            *_SUMS_OF_INTERVALS,
            Signature((NUMBER,), operand(0)),
            Signature((INTERVAL,), operand(0)),
        ),
    ),
    Function(
        "*",
        (
            _arithmetic("*"),
            Signature((INTERVAL, NUMBER), operand(0)),
            Signature((NUMBER, INTERVAL), operand(1)),
        ),
    ),
    Function("/", (_arithmetic("/"), Signature((INTERVAL, NUMBER), operand(0)))),
    Function("%", (Signature((EXACT, EXACT), _remainder),)),
    *(_comparison(name) for name in ("=", "<>", "<", "<=", ">", ">=")),
    _distinction("IS DISTINCT FROM"),
    _distinction("IS NOT DISTINCT FROM"),
    *(_test(words, False) for words in ("NULL", "NOT NULL")),
    *(_test(f"{negation}{word}", True) for negation in ("", "NOT ") for word in ("TRUE", "FALSE", "UNKNOWN")),
    Function("NOT", (Signature((BOOLEAN,), fixed(TRUTH)),)),
    *(
        Function(name, (Signature((BOOLEAN, BOOLEAN), fixed(TRUTH), repeated=True),), strict=False)
        for name in ("AND", "OR")
    ),
    Function(
        "IN",
        (Signature((ANY, ANY), fixed(TRUTH), repeated=True, together=comparable),),
        strict=False,
    ),
    Function(
        "||",
        (Signature((TEXT, TEXT), concatenated), Signature((BINARY, BINARY), concatenated)),
    ),
    *(
        Function(name, (Signature((TEXT, TEXT, TEXT), fixed(TRUTH), optional=1),))
        for name in ("LIKE", "SIMILAR TO")
    ),
)
