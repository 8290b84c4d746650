"""Functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import (
    CharType,
    DecimalType,
    DoubleType,
    IntType,
    LogicalType,
)
from firesteel.common.logical_types.decimals import round_type
from firesteel.relational.expressions import Expression
from firesteel.relational.functions.function import Function, Parameter, Result, Signature
from firesteel.relational.functions.parameters import AS_DOUBLE, AS_INT, DATETIME, NUMBER, SYMBOL
from firesteel.relational.functions.results import (
    any_nullable,
    constant,
    exactly,
    fixed,
    operand,
)

_DOUBLE: Final = fixed(DoubleType())


def _rounded(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of a number rounded to some digits; of a DECIMAL it depends on the number of digits."""
    given = operands[0].type
    may_be_null = any_nullable(operands)
    if isinstance(given, DecimalType):
        digits = constant(operands[1]) if len(operands) > 1 else 0
        if isinstance(digits, int):
            return round_type(given, digits).copy(nullable=may_be_null)
    return given.copy(nullable=may_be_null)


def _whole(operands: Sequence[Expression]) -> LogicalType:
    """Return the type of a number rounded to a whole one."""
    given = operands[0].type
    may_be_null = any_nullable(operands)
    if isinstance(given, DecimalType):
        return DecimalType(given.precision, 0, nullable=may_be_null)
    return given.copy(nullable=may_be_null)


def _function(name: str, result: Result, *parameters: Parameter, optional: int = 0) -> Function:
    return Function(name, (Signature(parameters, result, optional=optional),))


_OF_DOUBLE: Final = (
    *("SQRT", "LN", "LOG10", "LOG2", "EXP", "SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN"),
    *("SINH", "COSH", "TANH", "DEGREES", "RADIANS"),
)
NUMERICS: Final = (
    *(_function(name, _DOUBLE, AS_DOUBLE) for name in _OF_DOUBLE),
    _function("LOG", _DOUBLE, AS_DOUBLE, AS_DOUBLE, optional=1),
    _function("POWER", _DOUBLE, AS_DOUBLE, AS_DOUBLE),
    _function("ATAN2", _DOUBLE, AS_DOUBLE, AS_DOUBLE),
    _function("ABS", operand(0), NUMBER),
    _function("SIGN", operand(0), NUMBER),
    *(
        Function(name, (Signature((NUMBER,), _whole), Signature((DATETIME, SYMBOL), operand(0))))
        for name in ("FLOOR", "CEIL")
    ),
    *(_function(name, _rounded, NUMBER, AS_INT, optional=1) for name in ("ROUND", "TRUNCATE")),
    _function("PI", exactly(DoubleType(nullable=False))),
    _function("E", exactly(DoubleType(nullable=False))),
    Function("RAND", (Signature((AS_INT,), fixed(DoubleType()), optional=1),), deterministic=False),
    Function(
        "RAND_INTEGER",
        (Signature((AS_INT, AS_INT), fixed(IntType()), optional=1),),
        deterministic=False,
    ),
    Function("UUID", (Signature((), exactly(CharType(36, nullable=False))),), deterministic=False),
)
ALIASES: Final = {"CEILING": "CEIL", "MOD": "%"}
