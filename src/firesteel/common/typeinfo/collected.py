"""The changes that PyFlink's client makes to values of a collection's source and of `execute_and_collect`."""

from __future__ import annotations

from typing import Any, Final

from firesteel.common.typeinfo.java_text import float_text
from firesteel.common.typeinfo.leaves import Convert, convert_leaves

_BITS: Final = {"BYTE": 8, "SHORT": 16, "INT": 32}


def collected_floats(schema: dict[str, Any]) -> Convert | None:
    """Return a function that turns the 32-bit floats in values of a type into the shortest floats of the same text.

    PyFlink passes 32-bit floats to the collecting program as text, so 0.1 comes out as 0.1 and not as
    0.10000000149011612. `schema` is the type's. The result is None if the type contains no FLOAT.

    >>> collected_floats({"type": "FLOAT"})(0.10000000149011612)
    0.1
    """
    return convert_leaves(schema, {"FLOAT": lambda value: float(float_text(value))})


def narrowed_integers(schema: dict[str, Any]) -> Convert | None:
    """Return a function that cuts integers to the width of their type, as Flink does for a collection.

    It drops the upper bits. `schema` is the type's. The result is None if the type contains no BYTE, SHORT or INT.
    Between functions Flink raises an error.

    >>> narrowed_integers({"type": "SHORT"})(43_878)
    -21658
    """
    return convert_leaves(schema, {name: _cut(bits) for name, bits in _BITS.items()})


def _cut(bits: int) -> Convert:
    half = 1 << bits - 1
    mask = (1 << bits) - 1

    def cut(value: Any) -> Any:
        if type(value) is int and not -half <= value < half:
            return ((value + half) & mask) - half
        return value

    return cut
