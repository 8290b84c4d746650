"""VARIANT: JSON as one text for equal values, and what is within it (Flink: BinaryVariantInternalBuilder).

The text has no blanks, the keys of objects are in order, and its numbers are written as Flink writes them: whole
numbers and decimals of up to 38 digits without needless zeros, all others as Java writes a DOUBLE.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from firesteel.common.typeinfo.java_text import double_text
from firesteel.runtime.columns.kernel.functions.documents import NoDocumentError, quoted
from firesteel.runtime.columns.kernel.functions.parsing import attempted, refusal
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row, by_value

_DIGITS: Final = 38
_BLANKS: Final = " \t\r\n"


class _Number(str):
    """A number as it is written in a VARIANT."""

    __slots__ = ()


def _number(text: str) -> _Number:
    if "e" not in text.lower():
        value = Decimal(text)
        scale = max(-int(value.as_tuple().exponent), 0)
        if max(len(value.as_tuple().digits), scale) <= _DIGITS:
            return _Number(_plain(value))
    return _Number(double_text(float(text)))


def _plain(value: Decimal) -> str:
    """Return a decimal without zeros at its end, and zero without a sign."""
    text = f"{value:f}"
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if short in ("-0", "") else short


def _refuse(constant: str) -> None:
    raise NoDocumentError(f"{constant} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NoDocumentError("an object has a key twice")
    return found


def _decoder(repeated: bool) -> json.JSONDecoder:
    pairs = None if repeated else _once
    return json.JSONDecoder(
        object_pairs_hook=pairs, parse_float=_number, parse_int=_number, parse_constant=_refuse
    )


_GIVEN: Final = {False: _decoder(False), True: _decoder(True)}
_OWN: Final = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number)


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{','.join(f'{quoted(key)}:{_written(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    return {None: "null", True: "true", False: "false"}[value]


def parsed(text: str, *, repeated: bool = False) -> str:
    """Return the VARIANT of the JSON that a text begins with; `repeated`: of equal keys, the last one counts.

    Raises ComputeError if it is none.

    >>> parsed('{"b": [1.50, 1e3], "a": null} ')
    '{"a":null,"b":[1.5,1000.0]}'
    """
    start = len(text) - len(text.lstrip(_BLANKS))
    try:
        value, end = _GIVEN[repeated].raw_decode(text, start)
    except (ValueError, RecursionError):
        raise refusal(text, "JSON") from None
    if isinstance(value, _Number) and text[end : end + 1] not in ("", *_BLANKS):
        raise refusal(text, "JSON")
    return _written(value)


@lru_cache(4096)
def _within(variant: str) -> Any:
    return _OWN.decode(variant)


def _field(variant: str, name: str) -> str | None:
    value = _within(variant)
    if not isinstance(value, dict):
        raise ComputeError(f"{variant} is no object and has no field {name!r}")
    return _written(value[name]) if name in value else None


def _element(variant: str, place: int) -> str | None:
    value = _within(variant)
    if not isinstance(value, list):
        raise ComputeError(f"{variant} is no array and has no element {place}")
    return _written(value[place - 1]) if 1 <= place <= len(value) else None


def _reader(repeated: str, tried: str) -> VectorFunction:
    def read(text: str | None) -> str | None:
        return None if text is None else parsed(text, repeated=repeated == "TRUE")

    return by_value(attempted(read) if tried else read, "VARCHAR", "VARCHAR", pa.string())


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "variant_parsed": _reader,
    "variant_field": lambda: by_row(_field, ("VARCHAR", "VARCHAR"), "VARCHAR", pa.string()),
    "variant_element": lambda: by_row(_element, ("VARCHAR", "BIGINT"), "VARCHAR", pa.string()),
}
