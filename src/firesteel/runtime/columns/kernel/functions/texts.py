"""Values to texts, and changes of texts that Java makes in its own way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import SplitResult, quote_plus, unquote_plus, urlsplit

import pyarrow as pa

from firesteel.common.logical_types import parse_type
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.text import cast_to_string
from firesteel.common.typeinfo.java_text import double_text, float_text
from firesteel.runtime.columns.kernel.forms import converted
from firesteel.runtime.columns.kernel.functions.vector import VectorFunction, by_row, by_value

_TEXT: Final = pa.string()


def _of_text(function: Callable[[str], str]) -> Callable[[], VectorFunction]:
    return lambda: by_value(
        lambda text: None if text is None else function(text), "VARCHAR", "VARCHAR", _TEXT
    )


def _of_row(function: Callable[..., Any], *parameters: str) -> Callable[[], VectorFunction]:
    return lambda: by_row(function, parameters, "VARCHAR", _TEXT)


def _floating_text(kind: str) -> VectorFunction:
    function = float_text if kind == "FLOAT" else double_text
    return by_row(function, (kind,), "VARCHAR", _TEXT)


def _value_text(kernel_type: str, type_text: str, zone: str) -> VectorFunction:
    """Return CAST(x AS STRING) for the type of that text."""
    data_type = parse_type(type_text)
    arrow = to_arrow(data_type)

    def compute(column: pa.ChunkedArray) -> pa.Array:
        parts = [cast_to_string(converted(chunk, arrow), data_type, zone) for chunk in column.chunks]
        return pa.concat_arrays(parts) if parts else pa.array([], _TEXT)

    return VectorFunction(compute, (kernel_type,), "VARCHAR")


def initcap(text: str) -> str:
    """Return a text with the first letter of each word in upper case, the others in lower case; of ASCII only.

    >>> initcap("hello WORLD-foo 1bar")
    'Hello World-Foo 1bar'
    """
    found = []
    within = False
    for character in text:
        known = character.isascii() and character.isalnum()
        if known:
            character = character.lower() if within else character.upper()
        found.append(character)
        within = known
    return "".join(found)


def _padded(text: str, length: int, pad: str, *, left: bool) -> str | None:
    if length < 0 or not pad:
        return None
    if length <= len(text):
        return text[:length]
    missing = length - len(text)
    filling = (pad * (missing // len(pad) + 1))[:missing]
    return filling + text if left else text + filling


def _replaced(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


def _url_part(url: str, part: str) -> str | None:
    found = _url(url)
    if found is None:
        return None
    match part:
        case "PROTOCOL":
            return found.scheme or None
        case "HOST":
            return found.hostname or None
        case "PATH":
            return found.path
        case "QUERY":
            return found.query or None
        case "REF":
            return found.fragment or None
        case "AUTHORITY":
            return found.netloc or None
        case "USERINFO":
            return found.netloc.rpartition("@")[0] or None
        case "FILE":
            return f"{found.path}?{found.query}" if found.query else found.path
    return None


def _url(url: str) -> SplitResult | None:
    try:
        found = urlsplit(url)
    except ValueError:
        return None
    return found if found.scheme else None


def _url_value(url: str, part: str, key: str) -> str | None:
    query = _url_part(url, part) if part == "QUERY" else None
    if query is None:
        return None
    for pair in query.split("&"):
        name, separator, value = pair.partition("=")
        if name == key and separator:
            return value
    return None


def _with_escapes(text: str) -> str:
    return quote_plus(text, safe="*-._")


def _split(text: str, separator: str, place: int) -> str | None:
    if place < 0:
        return None
    parts = [] if not text else text.split(separator) if separator else re.split(r"[ \t\n\x0b\f\r]", text)
    return parts[place] if place < len(parts) else None


def _mapping(text: str, between: str, within: str) -> list[tuple[str, str | None]]:
    pairs: dict[str, str | None] = {}
    for part in text.split(between):
        key, separator, value = part.partition(within)
        pairs[key] = value if separator else None
    return list(pairs.items())


def _text_map() -> VectorFunction:
    return by_row(_mapping, ("VARCHAR",) * 3, "MAP(VARCHAR, VARCHAR)", pa.map_(pa.string(), pa.string()))


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "floating_text": _floating_text,
    "value_text": _value_text,
    "java_upper": _of_text(str.upper),
    "java_lower": _of_text(str.lower),
    "initcap": _of_text(initcap),
    "lpad": _of_row(lambda *given: _padded(*given, left=True), "VARCHAR", "INTEGER", "VARCHAR"),
    "rpad": _of_row(lambda *given: _padded(*given, left=False), "VARCHAR", "INTEGER", "VARCHAR"),
    "replaced": _of_row(_replaced, "VARCHAR", "VARCHAR", "VARCHAR"),
    "url_part": _of_row(_url_part, "VARCHAR", "VARCHAR"),
    "url_value": _of_row(_url_value, "VARCHAR", "VARCHAR", "VARCHAR"),
    "url_encode": _of_text(_with_escapes),
    "url_decode": _of_text(unquote_plus),
    "split_index": _of_row(_split, "VARCHAR", "VARCHAR", "INTEGER"),
    "text_map": _text_map,
}
