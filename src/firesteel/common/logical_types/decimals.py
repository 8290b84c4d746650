"""The types of results of arithmetic with DECIMAL (Flink: LogicalTypeMerging; the rules are SQL Server's and Hive's).

If a result needs more than 38 digits, digits after the point are given up first, down to six of them. All results are
NOT NULL, as in Flink; the caller adds what it knows of the arguments.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import MAX_PRECISION, DecimalType

_LEAST_SCALE: Final = 6


def plus_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a sum or a difference.

    >>> str(plus_type(DecimalType(5, 2), DecimalType(10, 0)))
    'DECIMAL(13, 2) NOT NULL'
    """
    scale = max(left.scale, right.scale)
    return _fitting(max(left.precision - left.scale, right.precision - right.scale) + scale + 1, scale)


def times_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a product.

    >>> str(times_type(DecimalType(38, 18), DecimalType(38, 18)))
    'DECIMAL(38, 6) NOT NULL'
    """
    return _fitting(left.precision + right.precision + 1, left.scale + right.scale)


def divide_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a quotient."""
    scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
    return _fitting(left.precision - left.scale + right.scale + scale, scale)


def modulo_type(left: DecimalType, right: DecimalType) -> DecimalType:
    """Return the type of a remainder."""
    scale = max(left.scale, right.scale)
    return _fitting(min(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def round_type(argument: DecimalType, digits: int) -> DecimalType:
    """Return the type of `argument` rounded to `digits` digits after the point, which may be negative.

    >>> str(round_type(DecimalType(5, 2), 1))
    'DECIMAL(5, 1) NOT NULL'
    """
    precision, scale = argument.precision, argument.scale
    if digits >= scale:
        return argument.copy(nullable=False)
    whole = 1 + precision - scale  # rounding up may need one more digit
    if digits < 0:
        return DecimalType(min(MAX_PRECISION, whole), 0, nullable=False)
    return DecimalType(whole + digits, digits, nullable=False)


def sum_type(argument: LogicalType) -> LogicalType:
    """Return the type of SUM: the argument's, but of a DECIMAL with 38 digits."""
    if isinstance(argument, DecimalType):
        return DecimalType(MAX_PRECISION, argument.scale, nullable=argument.nullable)
    return argument


def average_type(argument: LogicalType) -> LogicalType:
    """Return the type of AVG: the argument's, but of a DECIMAL with 38 digits, at least six after the point."""
    if isinstance(argument, DecimalType):
        result = divide_type(DecimalType(MAX_PRECISION, argument.scale), DecimalType(20, 0))
        return result.copy(nullable=argument.nullable)
    return argument


def _fitting(precision: int, scale: int) -> DecimalType:
    if precision > MAX_PRECISION:
        least = min(scale, _LEAST_SCALE)
        precision, scale = MAX_PRECISION, max(MAX_PRECISION - (precision - scale), least)
    return DecimalType(precision, scale, nullable=False)
