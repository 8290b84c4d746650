"""Arithmetic of whole numbers, vectorised by numpy: it costs a fraction of a statement of the kernel.

Contract: what it returns is what the kernel computes. Where NULL, a negative dividend or a time out of range makes more
of it than arithmetic, it returns None, and the kernel computes the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.functions.columns.program import Whole

Values = npt.NDArray[np.signedinteger[Any]]

_FIRST: Final = -62_135_596_800_000
_LAST: Final = 253_402_300_799_999
"""The milliseconds of the years 1 to 9999."""


def whole_column(part: Whole, rows: pa.RecordBatch) -> pa.Array | None:
    """Return the values for at least one row; None if it takes the kernel.

    >>> rows = pa.RecordBatch.from_pydict({"n": [7, 8]})
    >>> double = Whole("+", 64, (Whole("column", 64), Whole("column", 64)))
    >>> whole_column(Whole("%", 32, (double, Whole("number", 32, value=10))), rows).to_pylist()
    [4, 6]
    """
    found = _values(part, rows)
    if found is None:
        return None
    return pa.array(found if found.ndim else np.full(rows.num_rows, found))


def _values(part: Whole, rows: pa.RecordBatch) -> Values | None:
    if part.function == "column":
        column = rows.column(part.value)
        return None if column.null_count else column.to_numpy()
    if part.function == "number":
        return np.array(part.value, _dtype(part.bits))
    given = [_values(operand, rows) for operand in part.operands]
    found = [value for value in given if value is not None]
    if len(found) < len(given):
        return None
    if part.function == "INSTANT":
        return _microseconds(found[0])
    return _operation(part, found)


def _microseconds(milliseconds: Values) -> Values | None:
    if milliseconds.min() < _FIRST or milliseconds.max() > _LAST:
        return None
    return milliseconds.astype(np.int64) * 1000


def _operation(part: Whole, given: Sequence[Values]) -> Values | None:
    """Compute in the widest type of the operands and the result, and bring it into that of the result."""
    kind = _dtype(max(part.bits, *(operand.bits for operand in part.operands)))
    first, *rest = (values.astype(kind, copy=False) for values in given)
    if part.function in "/%":
        if first.min() < 0:  # Java rounds towards 0
            return None
        quotient = first // rest[0]
        found = quotient if part.function == "/" else first - quotient * rest[0]
    else:
        found = _OPERATORS[part.function](first, *rest)
    return found.astype(_dtype(part.bits), copy=False)


_OPERATORS: Final[dict[str, Callable[..., Values]]] = {
    "CAST": np.asarray,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
}


def _dtype(bits: int) -> np.dtype[np.signedinteger[Any]]:
    return np.dtype(f"i{bits // 8}")
