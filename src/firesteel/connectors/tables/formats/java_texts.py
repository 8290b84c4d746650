"""Columns to texts as Java writes them, whole columns at a time."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.typeinfo.java_text import double_text, float_text
from firesteel.connectors.tables.formats.characters import Bytes, matrix

_LEAST_PLAIN: Final = 1e-3
_MOST_PLAIN: Final = 1e7
_CLOCK: Final = len("2020-01-02 03:04:05")
_DAY: Final = len("2020-01-02 ")


def floating_texts(column: pa.Array) -> pa.Array:
    """Return the texts of floating-point numbers (Java: Double.toString, Float.toString).

    >>> floating_texts(pa.array([1.0, 0.1, 1e10, -2.5e-5, float("nan"), None])).to_pylist()
    ['1.0', '0.1', '1.0E10', '-2.5E-5', 'NaN', None]
    """
    size = pc.abs(column)
    plain = pc.or_(
        pc.and_(pc.greater_equal(size, _LEAST_PLAIN), pc.less(size, _MOST_PLAIN)), pc.equal(size, 0)
    )
    if not pc.all(plain, min_count=0).as_py():
        text = float_text if pa.types.is_float32(column.type) else double_text
        return _each(column, text)
    texts = column.cast(pa.string())
    whole = pc.equal(pc.find_substring(texts, "."), -1)
    return pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)


def decimal_texts(column: pa.Array, *, plain: bool) -> pa.Array:
    """Return the texts of decimal numbers (Java: BigDecimal.toPlainString, or without trailing zeros)."""
    if plain:
        return _each(column, lambda number: f"{number:f}")
    return _each(column, _stripped)


def _stripped(number: Any) -> str:
    """Return the text of a number without trailing zeros (Java: stripTrailingZeros().toString())."""
    return "0" if not number else str(number.normalize())


def timestamp_texts(column: pa.Array, separator: str, end: str) -> pa.Array:
    """Return texts such as 2020-01-02 03:04:05.12, without trailing zeros of the fraction.

    >>> timestamp_texts(pa.array([1_500_000, 0], pa.timestamp("us")), "T", "Z").to_pylist()
    ['1970-01-01T00:00:01.5Z', '1970-01-01T00:00:00Z']
    """
    local = column.cast(pa.timestamp(column.type.unit)) if column.type.tz else column
    texts = local.cast(pa.string())
    even = matrix(texts)
    if even is not None and len(separator) == 1 and not end:
        return _without_zeros(even, ord(separator))
    clock = pc.utf8_rtrim(pc.utf8_rtrim(pc.utf8_slice_codeunits(texts, _CLOCK), "0"), ".")
    whole = pc.utf8_slice_codeunits(texts, 0, _CLOCK)
    date, time = pc.utf8_slice_codeunits(whole, 0, _DAY - 1), pc.utf8_slice_codeunits(whole, _DAY)
    return pc.binary_join_element_wise(date, separator, time, clock, end, "")


def _without_zeros(texts: Bytes, separator: int) -> pa.Array:
    """Return texts of timestamps with a separator, and without the zeros that end their fractions."""
    count, width = texts.shape
    lengths = np.full(count, width, np.int32)
    ends = np.ones(count, bool)
    for place in range(width - 1, _CLOCK, -1):
        ends &= texts[:, place] == ord("0")
        lengths -= ends
    lengths[lengths == _CLOCK + 1] = _CLOCK
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    separated = texts.copy()
    separated[:, _DAY - 1] = separator
    kept = separated[np.arange(width) < lengths[:, None]]
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(kept))


def clock_texts(column: pa.Array) -> pa.Array:
    """Return texts such as 03:04:05.12 of times of the day, without trailing zeros of the fraction."""
    texts = column.cast(pa.string())
    length = len("03:04:05")
    fraction = pc.utf8_rtrim(pc.utf8_rtrim(pc.utf8_slice_codeunits(texts, length), "0"), ".")
    return pc.binary_join_element_wise(pc.utf8_slice_codeunits(texts, 0, length), fraction, "")


def base64_texts(column: pa.Array) -> pa.Array:
    """Return bytes as base64."""
    return _each(column, lambda data: base64.b64encode(data).decode())


def _each(column: pa.Array, text: Callable[[Any], str]) -> pa.Array:
    return pa.array([None if value is None else text(value) for value in column.to_pylist()], pa.string())
