"""Values of Python as PyFlink's coders write them: a fraction is cut off where a whole number is declared.

Source: pyflink/fn_execution/coder_impl_fast.pyx, whose coders take any number for the number that they write, and the
truth of a number for a BOOLEAN. Texts stay texts: what PyFlink refuses is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from firesteel.common.logical_types.constructed import ArrayType, MapType, MultisetType, RowType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import DoubleType, FloatType, IntegerNumberType
from firesteel.common.logical_types.special import StructuredType
from firesteel.common.logical_types.strings import BooleanType
from firesteel.common.types import Row, copy_row

_NUMBERS = (int, float, Decimal, np.integer, np.floating, np.bool_)


def coerced(value: Any, kind: LogicalType) -> Any:
    """Return a value as one of a type if PyFlink does so, and the same value otherwise.

    >>> from firesteel.common.logical_types import parse_type
    >>> coerced(-1.5, parse_type("BIGINT")), coerced(2, parse_type("BOOLEAN")), coerced("1", parse_type("INT"))
    (-1, True, '1')
    >>> coerced([True, None, 2.9], parse_type("ARRAY<INT>"))
    [1, None, 2]
    """
    if isinstance(value, _NUMBERS):
        return _number(value, kind)
    if isinstance(kind, ArrayType) and isinstance(value, list | tuple | np.ndarray):
        return [coerced(item, kind.element) for item in value]
    if isinstance(kind, MapType) and isinstance(value, dict):
        return {coerced(key, kind.key): coerced(item, kind.value) for key, item in value.items()}
    if isinstance(kind, MultisetType) and isinstance(value, dict):
        return {coerced(key, kind.element): count for key, count in value.items()}
    if isinstance(kind, RowType | StructuredType):
        return _row(value, kind.children)
    return value


def _number(value: Any, kind: LogicalType) -> Any:
    try:
        if isinstance(kind, IntegerNumberType):
            return int(value)
        if isinstance(kind, BooleanType):
            return bool(value)
        if isinstance(kind, FloatType | DoubleType):
            return float(value)
    except (ValueError, OverflowError):  # NaN and infinity are no whole numbers
        return value
    return value


def _row(value: Any, kinds: Sequence[LogicalType]) -> Any:
    if not isinstance(value, Row | tuple) or len(value) != len(kinds):
        return value
    items = [coerced(item, kind) for item, kind in zip(value, kinds, strict=True)]
    return copy_row(value, items) if isinstance(value, Row) else tuple(items)
