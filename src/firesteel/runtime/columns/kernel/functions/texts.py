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
from firesteel.runtime.columns.kernel.functions.patterns import split
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row, by_value

_TEXT: Final = pa.string()
_PROTOCOLS: Final = frozenset({"http", "https", "ftp", "file", "jar", "mailto", "jrt"})
_SPACE: Final = re.compile(r"[\t-\r\x1c- \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]")


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


_LONGEST: Final = 1 << 27
"""The most characters to which a text is filled up; ten such texts fit into one of Arrow's columns."""


def _padded(text: str, length: int, pad: str, *, left: bool) -> str | None:
    if length < 0 or not pad:
        return None
    if length <= len(text):
        return text[:length]
    if length > _LONGEST:
        raise ComputeError(f"LPAD and RPAD give texts of up to {_LONGEST} characters; got {length}")
    missing = length - len(text)
    filling = (pad * (missing // len(pad) + 1))[:missing]
    return filling + text if left else text + filling


def _units(text: str) -> list[str]:
    """Return the characters of a text as Java has them: one beyond 16 bits is two, of which neither can be shown."""
    return [unit for character in text for unit in (character if character <= "\uffff" else "??")]


def _replaced(text: str, old: str, new: str) -> str:
    return text.replace(old, new) if old else f"{new}{''.join(f'{unit}{new}' for unit in _units(text))}"


def _place_of(text: str, part: str, start: int, number: int) -> int:
    """Return where a part is for the `number`th time, from `start` on, and from the end on if that is negative.

    >>> _place_of("abcabc", "bc", 3, 1), _place_of("abcabc", "bc", -1, 2), _place_of("abc", "b", 3, 1)
    (5, 2, 0)
    """
    if number <= 0:
        raise ComputeError("INSTR requires the number of an appearance, 1 or more")
    if start < 0:
        found = _place_of(text[::-1], part[::-1], -start, number)
        return len(text) + 2 - found - len(part) if found else 0
    if not start:
        return 0
    place = start - 1
    for _ in range(number):
        place = text.find(part, place) + 1
        if not place:
            return 0
    return place


def _url_part(url: str, part: str) -> str | None:
    found = _url(url)
    if found is None:
        return None
    user, at, server = found.netloc.rpartition("@")
    match part:
        case "PROTOCOL":
            return found.scheme
        case "HOST":
            return re.sub(r":\d*$", "", server)
        case "PATH":
            return found.path
        case "QUERY":
            return found.query or None
        case "REF":
            return found.fragment or None
        case "AUTHORITY":
            return found.netloc or None
        case "USERINFO":
            return user if at else None
        case "FILE":
            return f"{found.path}?{found.query}" if found.query else found.path
    return None


def _url(url: str) -> SplitResult | None:
    """Return a URL of a protocol that Java has; None for all others."""
    try:
        found = urlsplit(url)
    except ValueError:
        return None
    return found if found.scheme in _PROTOCOLS else None


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


def _part_between_spaces(text: str, place: int) -> str | None:
    """Return a part of a text that Java's white space separates; there are none of an empty text."""
    parts = _SPACE.split(text) if text else []
    return parts[place] if 0 <= place < len(parts) else None


def _mapping(text: str, between: str, within: str) -> list[tuple[str, str | None]]:
    """Return the keys and values of a text, in the order of Java's HashMap."""
    if not text:
        return []
    pairs: dict[str, str | None] = {}
    parts = split(text, between)
    for part in parts:
        key, *value = split(part, within, 2)
        pairs[key if value else part] = value[0] if value else None
    wanted = len(parts) + 1 if len(parts) <= 2 else -(-len(parts) * 4 // 3)
    mask = (1 << (max(wanted, 1) - 1).bit_length()) - 1
    return sorted(pairs.items(), key=lambda pair: _spread_hash(pair[0]) & mask)


def _spread_hash(text: str) -> int:
    """Return the hash of a text by which Java's HashMap has its places."""
    units = text.encode("utf-16-be")
    found = 0
    for place in range(0, len(units), 2):
        found = (31 * found + (units[place] << 8) + units[place + 1]) & 0xFFFFFFFF
    return found ^ (found >> 16)


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
    "part_between_spaces": _of_row(_part_between_spaces, "VARCHAR", "INTEGER"),
    "text_map": _text_map,
    "characters": lambda: by_row(_units, ("VARCHAR",), "VARCHAR[]", pa.list_(_TEXT)),
    "instr": lambda: by_row(_place_of, ("VARCHAR", "VARCHAR", "INTEGER", "INTEGER"), "INTEGER", pa.int32()),
}
