"""RAND and RAND_INTEGER with a seed, whose numbers are those of Java (java.util.Random).

A seed that is a constant begins a sequence for each place of a query where it is written. It goes on as long as the
query does, from batch to batch, and draws only for rows for which it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

_MULTIPLIER: Final = 0x5DEECE66D
_MASK: Final = (1 << 48) - 1


class JavaRandom:
    """A sequence of random numbers.

    >>> random = JavaRandom(1)
    >>> random.next_double(), random.next_double()
    (0.7308781907032909, 0.41008081149220166)
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def _bits(self, count: int) -> int:
        self._state = (self._state * _MULTIPLIER + 0xB) & _MASK
        return self._state >> (48 - count)

    def next_double(self) -> float:
        """Return a number from 0 to below 1."""
        high = self._bits(26) << 27
        return float((high + self._bits(27)) * 2.0**-53)

    def next_int(self, bound: int) -> int:
        """Return a whole number from 0 to below a bound. Raises ComputeError for a bound that is not positive.

        >>> random = JavaRandom(5)
        >>> [random.next_int(100) for _ in range(3)]
        [87, 92, 74]
        """
        if bound <= 0:
            raise ComputeError("RAND_INTEGER requires a bound that is positive")
        if not bound & (bound - 1):
            return (bound * self._bits(31)) >> 31
        while True:
            bits = self._bits(31)
            if bits - bits % bound + bound - 1 < 1 << 31:  # all values are equally likely
                return bits % bound


Draw = Callable[..., Any]

_sequences: Final[dict[int, dict[str, JavaRandom]]] = {}
"""The sequences that have begun, by the number of the query and their place in it."""


def forget(query: int) -> None:
    """Let go of the sequences of a query that is over."""
    _sequences.pop(query, None)


def _drawn(draw: Draw, kind: pa.DataType, place: str, columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    """Return the next numbers of the sequence at a place of a query, of columns with its number, the seed and more."""
    found = []
    for query, seed, *others in zip(*(column.to_pylist() for column in columns), strict=True):
        begun = _sequences.setdefault(query, {})
        random = begun.get(place)
        if random is None:
            random = begun[place] = JavaRandom(seed)
        found.append(None if None in others else draw(random, *others))
    return pa.array(found, kind)


def _random_sequence(place: str) -> VectorFunction:
    def compute(query: pa.ChunkedArray, seed: pa.ChunkedArray) -> pa.Array:
        return _drawn(JavaRandom.next_double, pa.float64(), place, (query, seed))

    return VectorFunction(compute, ("BIGINT", "INTEGER"), "DOUBLE", deterministic=False)


def _random_integer_sequence(place: str) -> VectorFunction:
    def compute(query: pa.ChunkedArray, seed: pa.ChunkedArray, bound: pa.ChunkedArray) -> pa.Array:
        return _drawn(JavaRandom.next_int, pa.int32(), place, (query, seed, bound))

    return VectorFunction(compute, ("BIGINT", "INTEGER", "INTEGER"), "INTEGER", deterministic=False)


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "random_of": lambda: by_row(
        lambda seed: JavaRandom(seed).next_double(), ("INTEGER",), "DOUBLE", pa.float64()
    ),
    "random_integer_of": lambda: by_row(
        lambda seed, bound: JavaRandom(seed).next_int(bound), ("INTEGER", "INTEGER"), "INTEGER", pa.int32()
    ),
    "random_sequence": _random_sequence,
    "random_integer_sequence": _random_integer_sequence,
}
