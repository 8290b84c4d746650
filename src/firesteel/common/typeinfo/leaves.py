"""Changes the basic values in values of a type, at any depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firesteel.common.types import Row, copy_row

Convert = Callable[[Any], Any]


def convert_leaves(schema: dict[str, Any], converts: Mapping[str, Convert]) -> Convert | None:
    """Return a function that applies `converts`, by name of the basic type, to all basic values in a value of a type.

    `schema` is the type's. None stays None. Returns None if the type contains none of these basic types.

    >>> convert_leaves({"type": "LIST", "element": {"type": "INT"}}, {"INT": str})([1, None])
    ['1', None]
    """
    parts = [convert_leaves(part, converts) for part in _parts(schema)]
    if not parts and schema["type"] in converts:
        return _unless_none(converts[schema["type"]])
    if not any(parts):
        return None
    known = [part or _same for part in parts]
    if "fields" in schema:
        return _unless_none(lambda value: _with_fields(value, known))
    if "key" in schema:
        key, item = known
        return _unless_none(lambda value: {key(k): item(v) for k, v in value.items()})
    return _unless_none(lambda value: list(map(known[0], value)))


def _parts(schema: dict[str, Any]) -> list[dict[str, Any]]:
    if "fields" in schema:
        return list(schema["fields"])
    if "key" in schema:
        return [schema["key"], schema["value"]]
    return [schema["element"]] if "element" in schema else []


def _with_fields(value: Any, converts: list[Convert]) -> Any:
    if not isinstance(value, Row | tuple | list) or len(value) != len(converts):
        return value  # it does not fit its type; other code reports that
    fields = [convert(field) for field, convert in zip(value, converts, strict=True)]
    return copy_row(value, fields) if isinstance(value, Row) else tuple(fields)


def _unless_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _same(value: Any) -> Any:
    return value
