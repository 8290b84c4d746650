"""Functions of BITMAP, sets of whole numbers of 32 bits."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import (
    BYTES,
    STRING,
    ArrayType,
    BigIntType,
    BitmapType,
    IntegerNumberType,
    IntType,
    LogicalType,
)
from firesteel.relational.functions.function import Function, Parameter, Result, Signature
from firesteel.relational.functions.parameters import BINARY, BITMAP
from firesteel.relational.functions.results import fixed

_NUMBERS: Final = ArrayType(IntType())
_BITMAP: Final = fixed(BitmapType())


def _as_numbers(given: LogicalType) -> LogicalType | None:
    """Return an array of INT for one of INT or of shorter whole numbers, None for other types."""
    if not isinstance(given, ArrayType) or not isinstance(given.element, IntegerNumberType):
        return None
    return _NUMBERS if given.element.bits <= IntType.bits else None


def _function(name: str, result: Result, *parameters: Parameter) -> Function:
    return Function(name, (Signature(parameters, result),))


BITMAPS: Final = (
    _function("BITMAP_BUILD", _BITMAP, Parameter("<ARRAY<INT>>", _as_numbers, _NUMBERS)),
    _function("BITMAP_CARDINALITY", fixed(BigIntType()), BITMAP),
    _function("BITMAP_TO_ARRAY", fixed(_NUMBERS), BITMAP),
    _function("BITMAP_TO_BYTES", fixed(BYTES), BITMAP),
    _function("BITMAP_TO_STRING", fixed(STRING), BITMAP),
    _function("BITMAP_FROM_BYTES", _BITMAP, BINARY),
    *(_function(f"BITMAP_{name}", _BITMAP, BITMAP, BITMAP) for name in ("AND", "OR", "XOR", "ANDNOT")),
)
