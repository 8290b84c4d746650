"""JSON in texts: what is at a path of it, and what kind it is of (Flink: SqlJsonUtils; Java: Jackson)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.json_paths import NoSuchPathError, Path, PathError, compiled
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

_MODE: Final = re.compile(r"\s*(strict|lax)\s+(.+)", re.IGNORECASE | re.DOTALL)
_BLANKS: Final = " \t\r\n"
_INT: Final = range(-(1 << 31), 1 << 31)


class NoDocumentError(ValueError):
    """A text is no JSON."""


def _refuse(constant: str) -> None:
    raise NoDocumentError(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse)


@lru_cache(4096)
def parsed(text: str) -> Any:
    """Return the value that a text begins with; numbers with a point are Decimal. Raises NoDocumentError.

    A column of texts is read by one function after another, which is why values are kept for a while.
    """
    start = len(text) - len(text.lstrip(_BLANKS))
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise NoDocumentError(f"{text!r} is no JSON: {error}") from None
    if end < len(text) and isinstance(value, int | Decimal) and text[end] not in _BLANKS:
        raise NoDocumentError(f"{text!r} is no JSON")
    return value


_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str) -> str:
    r"""Return a text as JSON.

    >>> quoted('a"\n\x1f')
    '"a\\"\\n\\u001F"'
    """
    escaped = _ESCAPED.sub(lambda found: _ESCAPES.get(found.group()) or f"\\u{ord(found.group()):04X}", text)
    return f'"{escaped}"'


def written(value: Any) -> str:
    """Return a value as JSON without blanks, the keys of objects in order.

    >>> written({"b": [1, Decimal("2.50"), None], "a": True})
    '{"a":true,"b":[1,2.50,null]}'
    """
    if isinstance(value, dict):
        return f"{{{','.join(f'{quoted(key)}:{written(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else _scalar_text(value)


def _scalar_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, dict | list)


class _Found(NamedTuple):
    """What is at a path: a value, or why there is none."""

    lax: bool
    value: Any
    error: str | None = None


@lru_cache(1000)
def _route(spec: str) -> tuple[bool, Path]:
    """Return whether a path is lax, which by itself it is not, and what it leads to. Raises PathError."""
    mode = _MODE.fullmatch(spec)
    if mode is None:
        return False, compiled(spec)
    return mode.group(1).lower() == "lax", compiled(mode.group(2))


def _at(document: str, spec: str) -> _Found:
    """Return what is at a path; a strict one finds no NULL."""
    try:
        lax, path = _route(spec)
    except PathError as error:
        return _Found(False, None, str(error))
    try:
        value = path.found(parsed(document))
    except NoDocumentError as error:
        return _Found(lax, None, None if lax else str(error))
    except NoSuchPathError as error:
        nothing: list[Any] | None = None if path.definite else []
        return _Found(True, nothing) if lax else _Found(False, None, str(error))
    if value is None and not lax:
        return _Found(False, None, f"there is NULL at the path {spec!r}")
    return _Found(lax, value)


_Convert = Callable[[Any], Any]


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in _INT:
        raise ComputeError(f"JSON_VALUE requires an INT; got {written(value)}")
    return value


def _floating(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ComputeError(f"JSON_VALUE requires a number; got {written(value)}")
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ComputeError(f"JSON_VALUE requires a truth value; got {written(value)}")
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _scalar_text(value)


_RETURNED: Final[dict[str, tuple[_Convert, pa.DataType]]] = {
    "VARCHAR": (_text, pa.string()),
    "INTEGER": (_whole, pa.int32()),
    "DOUBLE": (_floating, pa.float64()),
    "BOOLEAN": (_truth, pa.bool_()),
}


def _value(returning: str, empty: str, error: str) -> VectorFunction:
    """Return JSON_VALUE; `empty` and `error` are what it gives then: NULL, ERROR or DEFAULT."""
    convert, arrow = _RETURNED[returning]

    def one(document: str, path: str, when_empty: Any, when_error: Any) -> Any:
        found = _at(document, path)
        if found.error is None and not _is_scalar(found.value) and not found.lax:
            found = _Found(False, None, f"there is no single value at the path {path!r}")
        if found.error is not None:
            return _instead(error, found.error, when_error)
        if found.value is None or not _is_scalar(found.value):
            return _instead(empty, f"there is no single value at the path {path!r}", when_empty)
        return convert(found.value)

    def compute(
        documents: pa.ChunkedArray, paths: pa.ChunkedArray, first: pa.ChunkedArray, second: pa.ChunkedArray
    ) -> pa.Array:
        rows = zip(*(column.to_pylist() for column in (documents, paths, first, second)), strict=True)
        return pa.array([None if None in row[:2] else one(*row) for row in rows], arrow)

    return VectorFunction(compute, ("VARCHAR", "VARCHAR", returning, returning), returning)


def _instead(behaviour: str, reason: str, default: Any) -> Any:
    if behaviour == "ERROR":
        raise ComputeError(reason)
    return default if behaviour == "DEFAULT" else None


def _exists(error: str) -> VectorFunction:
    def one(document: str, path: str) -> bool | None:
        found = _at(document, path)
        if found.error is None:
            return found.value is not None
        if error == "ERROR":
            raise ComputeError(found.error)
        return {"TRUE": True, "FALSE": False}.get(error)

    return by_row(one, ("VARCHAR", "VARCHAR"), "BOOLEAN", pa.bool_())


_EMPTY: Final = {"NULL": None, "EMPTY ARRAY": "[]", "EMPTY OBJECT": "{}"}


def _query(returning: str, wrapper: str, empty: str, error: str) -> VectorFunction:
    """Return JSON_QUERY; `wrapper` is what arrays are put around: NONE, ALL, or what is no array (OTHER)."""
    as_array = returning == "VARCHAR[]"

    def instead(behaviour: str, reason: str) -> Any:
        if behaviour == "ERROR":
            raise ComputeError(reason)
        found = _EMPTY[behaviour]
        return [] if as_array and found == "[]" else found

    def one(document: str, path: str) -> Any:
        found = _at(document, path)
        if found.error is not None:
            return instead(error, found.error)
        value = found.value
        if value is not None and (wrapper == "ALL" or (wrapper == "OTHER" and not isinstance(value, list))):
            value = [value]
        if _is_scalar(value):
            return instead(empty if found.lax else error, f"there is no array and no object at {path!r}")
        if not as_array:
            return written(value)
        if not isinstance(value, list):
            return instead(error, f"there is no array at {path!r}")
        return [
            None if part is None else _text(part) if _is_scalar(part) else written(part) for part in value
        ]

    arrow = pa.list_(pa.string()) if as_array else pa.string()
    return by_row(one, ("VARCHAR", "VARCHAR"), returning, arrow)


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "VALUE": lambda _: True,
    "SCALAR": _is_scalar,
    "ARRAY": lambda value: isinstance(value, list),
    "OBJECT": lambda value: isinstance(value, dict),
}


def _is_kind(kind: str) -> VectorFunction:
    def one(text: str) -> bool:
        try:
            return _KINDS[kind](parsed(text))
        except NoDocumentError:
            return False

    return by_row(one, ("VARCHAR",), "BOOLEAN", pa.bool_())


def _checked(text: str) -> str | None:
    if not text.strip():
        return None
    try:
        return written(parsed(text.strip()))
    except NoDocumentError as error:
        raise ComputeError(str(error)) from None


_QUOTES: Final = {**_ESCAPES, "/": "\\/"}


def _quote(text: str) -> str:
    """Return a text in quotes, with all that is not ASCII escaped; Flink has the second half of a pair twice."""
    return f'"{"".join(map(_quoted_character, text))}"'


def _quoted_character(character: str) -> str:
    if character.isascii():
        return _QUOTES.get(character, character)
    code = ord(character)
    low = f"\\u{0xDC00 + code % 0x400:04x}" if code > 0xFFFF else ""
    return f"\\u{code:04x}{low}"


def _unquote(text: str) -> str:
    """Return the text that a text in quotes is, `?` for half a pair of characters; any other text stays as it is."""
    try:
        value = parsed(text)
    except NoDocumentError:
        return text
    if not text[:1] == text[-1:] == '"' or not isinstance(value, str):
        return text
    return value.encode("utf-8", "replace").decode()


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "json_value": _value,
    "json_exists": _exists,
    "json_query": _query,
    "is_json": _is_kind,
    "json_checked": lambda: by_row(_checked, ("VARCHAR",), "VARCHAR", pa.string()),
    "json_quoted": lambda: by_row(_quote, ("VARCHAR",), "VARCHAR", pa.string()),
    "json_unquoted": lambda: by_row(_unquote, ("VARCHAR",), "VARCHAR", pa.string()),
}
