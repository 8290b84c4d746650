"""Numbers: rounding as Flink does it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

import pyarrow as pa

from firesteel.common.typeinfo.java_text import double_text
from firesteel.runtime.columns.kernel.functions.vector import VectorFunction, by_row

_ROUND: Final = Context(prec=400, rounding=ROUND_HALF_UP)


def rounded(value: float, digits: int) -> float:
    """Return a number rounded half up, by the decimal digits that it is printed with; 0 has no sign.

    >>> rounded(1.005, 2), rounded(-2.5, 0), rounded(1234.5, -2), rounded(-0.1, 0)
    (1.01, -3.0, 1200.0, 0.0)
    """
    if value != value or value in (float("inf"), float("-inf")):
        return value
    return float(Decimal(double_text(value)).quantize(Decimal(1).scaleb(-digits), context=_ROUND)) + 0.0


def _truncated(value: float, digits: int) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        return value
    shifted = Decimal(double_text(value)).scaleb(digits, context=_ROUND)
    return float(int(shifted) * Decimal(1).scaleb(-digits))


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "rounded": lambda: by_row(rounded, ("DOUBLE", "INTEGER"), "DOUBLE", pa.float64()),
    "truncated": lambda: by_row(_truncated, ("DOUBLE", "INTEGER"), "DOUBLE", pa.float64()),
}
