"""In what form keys and values are handed out: as the objects of a program, or as JSON.

===================================== ==================================================
of Python                             in JSON
===================================== ==================================================
None, bool, int, str                  the same
float                                 a number; ``{"$float": "nan"}``, ``"inf"``, ``"-inf"``
tuple                                 an array
list                                  an array; in keys ``{"$list": [...]}``
dict                                  an object; ``{"$map": [[key, value], ...]}`` if a key is no text, or begins with $
Row                                   an object; without names an array; in keys ``{"$row": ...}``
bytes                                 ``{"$bytes": "base64"}``
Decimal                               ``{"$decimal": "1.50"}``
date, time, datetime                  ``{"$date": ...}``, ``{"$time": ...}``, ``{"$timestamp": ...}``, in ISO 8601
Instant                               ``{"$instant": "1709210096.000000000"}``: seconds since 1970
timedelta                             ``{"$microseconds": 1500000}``
UUID, set                             ``{"$uuid": ...}``, ``{"$set": [...]}``
a key of another class                ``{"$key": "base64"}``: its bytes in state; sent back, they are the key
a value of another class              ``{"$stored": "base64"}``: its bytes in state
===================================== ==================================================

No class of a program is imported, and nothing of its is run, to make JSON.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
import uuid
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Protocol

from firesteel.common.errors import KeyEncodingError
from firesteel.common.time import Instant
from firesteel.common.types import Row, field_names
from firesteel.functions.windows import CountWindow, GlobalWindow, TimeWindow
from firesteel.queryable.plain_pickles import HoldsObjects, plain_value
from firesteel.saved.entries import value_decoder
from firesteel.saved.windows import window_column
from firesteel.state.keys.encoding import decoding_imports
from firesteel.state.keys.groups import StateKey, state_key, user_key
from firesteel.state.values.schemas import without_external

Json = Any
TypeSchema = dict[str, Any] | None


class Form(Protocol):
    """Makes what readers get of what is stored."""

    def values(self, schema: TypeSchema, who: str) -> Callable[[bytes], Any]:
        """Return a function from stored values of a type (None: untyped)."""

    def key(self, key: StateKey) -> Any:
        """Return a key."""

    def window(self, window: Any) -> Any:
        """Return a window; its fields in JSON."""

    def mapping(self, pairs: Iterable[tuple[Any, Any]]) -> Any:
        """Return the entries of a map, whose keys and values have this form."""

    def row(self, row: Mapping[str, Any]) -> Any:
        """Return the row of a table."""


class PythonForm:
    """Objects as the program had them. Its classes must be importable."""

    def values(self, schema: TypeSchema, who: str) -> Callable[[bytes], Any]:
        return value_decoder(schema, who)

    def key(self, key: StateKey) -> Any:
        return user_key(key)

    def window(self, window: Any) -> Any:
        return window

    def mapping(self, pairs: Iterable[tuple[Any, Any]]) -> Any:
        return dict(pairs)

    def row(self, row: Mapping[str, Any]) -> Any:
        return dict(row)


class JsonForm:
    """JSON; see the module.

    >>> form = JsonForm()
    >>> form.window(TimeWindow(0, 5)), form.mapping([("a", 1)]), form.mapping([(1, 2)])
    ({'start': 0, 'end': 5}, {'a': 1}, {'$map': [[1, 2]]})
    """

    def values(self, schema: TypeSchema, who: str) -> Callable[[bytes], Any]:
        if schema == {"type": "STRING"} or (schema or {}).get("type") in ("INT", "LONG", "SHORT", "BYTE"):
            return value_decoder(schema, who)
        decode = value_decoder(schema, who) if _is_plain(schema) else _untyped(schema)

        def shown(data: bytes) -> Json:
            try:
                return to_json(decode(data)) if data else None
            except HoldsObjects:
                return {"$stored": b64encode(data).decode()}

        return shown

    def key(self, key: StateKey) -> Json:
        return key_to_json(key)

    def window(self, window: Any) -> Json:
        kind = type(window)
        if kind is TimeWindow:
            return {"start": window.start, "end": window.end}
        if kind is CountWindow:
            return {"id": window.id}
        if kind is GlobalWindow:
            return "global"
        return (window_column(window) or {}).get("text")

    def mapping(self, pairs: Iterable[tuple[Any, Any]]) -> Json:
        found = list(pairs)
        if all(type(key) is str and not key.startswith("$") for key, _ in found):
            return dict(found)
        return {"$map": [list(pair) for pair in found]}

    def row(self, row: Mapping[str, Any]) -> Json:
        return {name: to_json(value) for name, value in row.items()}


def to_json(value: Any, *, exact: bool = False) -> Json:
    """Return a value as JSON. `exact`: `from_json` makes an equal one of it.

    Raises HoldsObjects for an object of a class that the module does not list.

    >>> to_json((1.5, float("nan"), b"a", {1: [2]}))
    [1.5, {'$float': 'nan'}, {'$bytes': 'YQ=='}, {'$map': [[1, [2]]]}]
    """
    kind = type(value)
    if value is None or kind in _AS_THEY_ARE:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if kind is tuple or kind is list:
        items = [to_json(item, exact=exact) for item in value]
        return {"$list": items} if exact and kind is list else items
    if kind is dict:
        pairs = [(to_json(key, exact=exact), to_json(item, exact=exact)) for key, item in value.items()]
        if all(type(key) is str and not key.startswith("$") for key, _ in pairs):
            return dict(pairs)
        return {"$map": [list(pair) for pair in pairs]}
    if kind is Row:
        return _row(value, exact)
    if kind in (set, frozenset):
        return {"$set": [to_json(item, exact=exact) for item in sorted(value, key=repr)]}
    tagged = _TO_TAG.get(kind)
    if tagged is None:
        raise HoldsObjects(f"{kind.__module__}.{kind.__qualname__}")
    tag, text = tagged
    return {tag: text(value)}


def from_json(value: Json, *, key: bool = False) -> Any:
    """Return the value that JSON stands for; in keys an array is a tuple, elsewhere a list.

    Raises KeyEncodingError for an object with a tag that there is not, or that does not fit it.

    >>> from_json(["a", {"$date": "2024-02-29"}], key=True)
    ('a', datetime.date(2024, 2, 29))
    """
    if isinstance(value, list):
        items = (from_json(item, key=key) for item in value)
        return tuple(items) if key else list(items)
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    if len(value) != 1 or not tag.startswith("$"):
        if key:
            raise _no_key(value)
        return {name: from_json(item) for name, item in value.items()}
    make = _FROM_TAG.get(tag)
    if make is None:
        raise _no_key(value)
    try:
        return make(value[tag], key)
    except (ValueError, TypeError, InvalidOperation, OverflowError, AttributeError):
        raise _no_key(value) from None


def key_to_json(key: StateKey) -> Json:
    """Return a key as JSON of which `from_json` makes an equal key.

    >>> from firesteel.state.keys.groups import state_key
    >>> key_to_json(state_key(("a", 1))), key_to_json("a")
    (['a', 1], 'a')
    """
    if type(key) is not bytes:
        return key
    if not decoding_imports(key):
        try:
            return to_json(user_key(key), exact=True)
        except HoldsObjects:
            pass
    return {"$key": b64encode(key).decode()}


class StoredKey(bytes):
    """The bytes of a key in state."""


def _row(row: Row, exact: bool) -> Json:
    names = field_names(row)
    items = [to_json(item, exact=exact) for item in row]
    shown: Json = items if names is None else dict(zip(names, items, strict=True))
    return {"$row": shown} if exact else shown


def _row_of(value: Json, key: bool) -> Row:
    if isinstance(value, dict):
        row = Row(*(from_json(item, key=key) for item in value.values()))
        row.set_field_names(list(value))
        return row
    return Row(*(from_json(item, key=key) for item in value))


def _untyped(schema: TypeSchema) -> Callable[[bytes], Any]:
    if without_external(schema) is None:
        return plain_value
    return _refuse  # an untyped part of a typed value is a pickle within other bytes


def _refuse(_: bytes) -> Any:
    raise HoldsObjects("a type with untyped parts")


def _is_plain(schema: Any) -> bool:
    """Return whether no part of a type is untyped."""
    if schema is None or (isinstance(schema, dict) and schema.get("type") == "PICKLED_BYTE_ARRAY"):
        return False
    if isinstance(schema, dict):
        parts = [schema[part] for part in ("element", "key", "value", "fields") if part in schema]
        return all(map(_is_plain, parts))
    return all(map(_is_plain, schema)) if isinstance(schema, list) else True


def _no_key(value: Json) -> KeyEncodingError:
    return KeyEncodingError(
        "requires JSON of a value that state can hold",
        who="a key",
        got=str(value)[:120],
        hint='docs/queryable-state.md lists the forms, such as {"$date": "2024-02-29"}',
    )


def _base64(value: str) -> bytes:
    return b64decode(value, validate=True)


def _instant(text: str) -> Instant:
    seconds, _, nanos = text.partition(".")
    return Instant(int(seconds), int(nanos or 0))


_AS_THEY_ARE: Final = frozenset({bool, int, str})

_TO_TAG: Final[dict[type, tuple[str, Callable[[Any], Any]]]] = {
    bytes: ("$bytes", lambda value: b64encode(value).decode()),
    bytearray: ("$bytes", lambda value: b64encode(value).decode()),
    Decimal: ("$decimal", str),
    dt.date: ("$date", dt.date.isoformat),
    dt.time: ("$time", dt.time.isoformat),
    dt.datetime: ("$timestamp", dt.datetime.isoformat),
    dt.timedelta: ("$microseconds", lambda value: value // dt.timedelta(microseconds=1)),
    Instant: ("$instant", lambda value: f"{value.seconds}.{value.nanos:09d}"),
    uuid.UUID: ("$uuid", str),
}

_FROM_TAG: Final[dict[str, Callable[[Any, bool], Any]]] = {
    "$float": lambda value, _: float(value),
    "$list": lambda value, key: [from_json(item, key=key) for item in value],
    "$map": lambda value, key: {from_json(name, key=True): from_json(item, key=key) for name, item in value},
    "$row": _row_of,
    "$set": lambda value, _: frozenset(from_json(item, key=True) for item in value),
    "$bytes": lambda value, _: _base64(value),
    "$decimal": lambda value, _: Decimal(value),
    "$date": lambda value, _: dt.date.fromisoformat(value),
    "$time": lambda value, _: dt.time.fromisoformat(value),
    "$timestamp": lambda value, _: dt.datetime.fromisoformat(value),
    "$microseconds": lambda value, _: dt.timedelta(microseconds=value),
    "$instant": lambda value, _: _instant(value),
    "$uuid": lambda value, _: uuid.UUID(value),
    "$key": lambda value, _: StoredKey(_base64(value)),
    "$stored": lambda value, _: _base64(value),
}


def state_key_of_json(value: Json) -> StateKey:
    """Return the key in state that JSON stands for. Raises KeyEncodingError if it is none.

    >>> state_key_of_json("a"), user_key(state_key_of_json(["a", None]))
    ('a', ('a', None))
    """
    found = from_json(value, key=True)
    if type(found) is not StoredKey:
        return state_key(found)
    if not found or not _is_of_classes(found):
        raise _no_key(value)
    return bytes(found)


def _is_of_classes(data: bytes) -> bool:
    try:
        return decoding_imports(data)
    except (IndexError, struct.error):
        return False
