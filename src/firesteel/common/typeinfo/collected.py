"""How values come out of `execute_and_collect`.

PyFlink hands 32-bit floats to the collecting program as text, so 0.1 comes out as 0.1 and not as 0.10000000149011612.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firesteel.common.typeinfo.java_text import float_text
from firesteel.common.types import Row, copy_row

Convert = Callable[[Any], Any]


def collected_floats(schema: dict[str, Any]) -> Convert | None:
    """Return what turns the 32-bit floats in values of a type into the shortest floats of the same text.

    `schema` is the type's. None where the type has no FLOAT in it.

    >>> collected_floats({"type": "FLOAT"})(0.10000000149011612)
    0.1
    """
    if schema["type"] == "FLOAT":
        return lambda value: None if value is None else float(float_text(value))
    if "fields" in schema:
        parts = [collected_floats(part) for part in schema["fields"]]
        return _fieldwise(parts) if any(parts) else None
    element = collected_floats(schema["element"]) if "element" in schema else None
    return None if element is None else lambda value: None if value is None else list(map(element, value))


def _fieldwise(parts: list[Convert | None]) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        fields = [field if part is None else part(field) for field, part in zip(value, parts, strict=True)]
        return copy_row(value, fields) if isinstance(value, Row) else tuple(fields)

    return convert
