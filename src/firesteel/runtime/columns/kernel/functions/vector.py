"""Vectorised functions: what DuckDB has no counterpart of, over Arrow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from firesteel.functions.columns.program import marked_reason


@dataclass(frozen=True)
class VectorFunction:
    """A function over columns; `parameters` and `result` are types as DuckDB writes them."""

    compute: Callable[..., pa.Array]
    parameters: tuple[str, ...]
    result: str
    deterministic: bool = True


class ComputeError(ValueError):
    """A value has no result; the text is the reason that the user reads."""

    def __init__(self, reason: str) -> None:
        super().__init__(marked_reason(reason))


_OF_COUNT: Final[dict[int, Callable[[Callable[..., pa.Array]], Callable[..., pa.Array]]]] = {
    1: lambda compute: lambda a: compute(a),
    2: lambda compute: lambda a, b: compute(a, b),
    3: lambda compute: lambda a, b, c: compute(a, b, c),
    4: lambda compute: lambda a, b, c, d: compute(a, b, c, d),
}
"""By their number, what gives a function named arguments: DuckDB counts them."""


def by_row(
    function: Callable[..., Any], parameters: tuple[str, ...], result: str, arrow: pa.DataType
) -> VectorFunction:
    """Return a function that is computed value by value, and NULL where an argument is NULL."""

    def compute(*columns: pa.ChunkedArray) -> pa.Array:
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return pa.array([None if None in row else function(*row) for row in rows], arrow)

    return VectorFunction(_OF_COUNT[len(parameters)](compute), parameters, result)


def by_value(
    function: Callable[[Any], Any], parameter: str, result: str, arrow: pa.DataType
) -> VectorFunction:
    """Return a function of one argument that is computed once for each different value."""

    def compute(column: pa.ChunkedArray) -> pa.Array:
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        values = pa.array([function(value) for value in encoded.dictionary.to_pylist()], arrow)
        return values.take(encoded.indices)

    return VectorFunction(compute, (parameter,), result)
