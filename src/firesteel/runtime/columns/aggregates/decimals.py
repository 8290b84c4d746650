"""Decimals as integers: limbs of 32 bits, as `parts.DecimalSum` adds them, to columns of decimals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.parts import carried
from firesteel.state.arrangements.columns import Mask, Numbers, numbers

_DIGITS: Final = 38
_LARGEST: Final = 10**_DIGITS - 1
_SMALL: Final = 1 << 62
_WORD: Final = (1 << 64) - 1


def decimal_sums(limbs: Sequence[pa.Array], some: Mask, scale: int) -> pa.Array:
    """Return sums as DECIMAL(38, scale): NULL where not `some`, and where they have more than 38 digits.

    >>> decimal_sums([pa.array([250, 0]), pa.array([-1, 0])], np.array([True, False]), 1).to_pylist()
    [Decimal('-429496704.6'), None]
    """
    parts = carried([numbers(limb) for limb in limbs])
    fits = some.copy()
    if len(parts) > 2:
        suspects = np.flatnonzero(np.abs(parts[-1]) >= _LARGEST >> 97)
        for place in suspects.tolist():
            fits[place] &= abs(_whole(parts, place)) <= _LARGEST
    low = parts[0].astype(np.uint64) + (parts[1].astype(np.uint64) << np.uint64(32))
    high = parts[1] >> 32 if len(parts) == 2 else parts[2] + (parts[3] << 32)
    return _decimals(low, high, fits, scale)


def decimal_averages(limbs: Sequence[pa.Array], count: Numbers, given: int, scale: int) -> pa.Array:
    """Return averages as DECIMAL(38, scale), rounded half up, of sums with `given` digits after the point.

    >>> decimal_averages([pa.array([5]), pa.array([0])], np.array([3]), 0, 6).to_pylist()
    [Decimal('1.666667')]
    """
    parts = carried([numbers(limb) for limb in limbs])
    factor = 10 ** (scale - given)
    some = count > 0
    divisor = np.where(some, count, 1)
    if len(parts) == 2 and factor < _SMALL >> 32:
        fitting = np.abs(parts[1]) < (_SMALL // factor) >> 33
    else:
        fitting = np.zeros(len(count), np.bool_)
    sums = np.where(fitting, parts[0] + (parts[1] << 32), 0)
    scaled = np.abs(sums) * (factor if fitting.any() else 0)
    quotient, rest = np.divmod(scaled, divisor)
    quotient += 2 * rest >= divisor
    quotient *= np.sign(sums)
    low, high = quotient.view(np.uint64).copy(), quotient >> 63
    fits = some.copy()
    for place in np.flatnonzero(~fitting & some).tolist():
        number = _rounded(_whole(parts, place) * factor, int(count[place]))
        fits[place] = abs(number) <= _LARGEST
        if fits[place]:
            low[place], high[place] = number & _WORD, number >> 64
    return _decimals(low, high, fits, scale)


def _whole(limbs: Sequence[Numbers], place: int) -> int:
    return sum(int(limb[place]) << 32 * number for number, limb in enumerate(limbs))


def _rounded(number: int, divisor: int) -> int:
    quotient, rest = divmod(abs(number), divisor)
    quotient += 2 * rest >= divisor
    return quotient if number >= 0 else -quotient


def _decimals(low: np.ndarray, high: Numbers, valid: Mask, scale: int) -> pa.Array:
    words = np.empty((len(high), 2), np.int64)
    words[:, 0] = low.view(np.int64)
    words[:, 1] = high
    words[~valid] = 0
    bitmap = None if valid.all() else pa.array(valid).buffers()[1]
    return pa.Array.from_buffers(pa.decimal128(_DIGITS, scale), len(high), [bitmap, pa.py_buffer(words)])
