"""Arithmetic of DECIMAL where the digits of intermediate results exceed what DuckDB has (Flink: DecimalDataUtils)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, localcontext
from functools import partial
from typing import Final

import pyarrow as pa

from firesteel.common.java_numbers import fitted
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

_QUOTIENT: Final = Context(prec=38, rounding=ROUND_HALF_UP)
_EXACT: Final = Context(prec=100, rounding=ROUND_HALF_UP)


def _divided(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise ComputeError("division by zero")
    return _QUOTIENT.divide(left, right)


def _remaining(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise ComputeError("division by zero")
    return _EXACT.remainder(left, right)


_OPERATIONS: Final[dict[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "plus": _EXACT.add,
    "minus": _EXACT.subtract,
    "times": _EXACT.multiply,
    "divide": _divided,
    "modulo": _remaining,
}


def _operation(name: str, *digits: str) -> VectorFunction:
    """Return an operation; `digits` are precision and scale of the operands and of the result."""
    left, right, result = (f"DECIMAL({digits[place]}, {digits[place + 1]})" for place in (0, 2, 4))
    precision, scale = int(digits[4]), int(digits[5])
    operation = _OPERATIONS[name]

    def compute(one: Decimal, other: Decimal) -> Decimal | None:
        with localcontext(_EXACT):
            return fitted(operation(one, other), precision, scale)

    return by_row(compute, (left, right), result, pa.decimal128(precision, scale))


def _shortening(mode: str, *digits: str) -> VectorFunction:
    """Return how a DECIMAL gets as many digits after the point as its row says; NULL if it has no place then."""
    precision, scale = map(int, digits)

    def compute(number: Decimal, kept: int) -> Decimal | None:
        if kept >= scale:
            return number
        unit = Decimal(1).scaleb(-max(kept, -precision - 1))
        return fitted(number.quantize(unit, rounding=mode, context=_EXACT), precision, scale)

    kind = f"DECIMAL({precision}, {scale})"
    return by_row(compute, (kind, "INTEGER"), kind, pa.decimal128(precision, scale))


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    **{f"decimal_{name}": partial(_operation, name) for name in _OPERATIONS},
    "decimal_round": partial(_shortening, ROUND_HALF_UP),
    "decimal_trunc": partial(_shortening, ROUND_DOWN),
}
