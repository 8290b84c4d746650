"""What plans are made of, as JSON and back: types, expressions, and what operators do.

A dataclass, a named tuple or a member of an enumeration is an object with its class under ``$``; a tuple is a list.
Other values that JSON does not have are objects, too: ``{"$": "Decimal", "value": "1.50"}``. Fields that `repr` does
not show, and fields with their default, are left out, so that a later version may add fields.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import importlib
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.time import Instant

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_CLASS: Final = "$"
_VALUE: Final = "value"
_PACKAGES: Final = (
    "firesteel.relational.",
    "firesteel.functions.columns.",
    "firesteel.functions.predicting",
    "firesteel.common.",
)
_ROOT: Final = "firesteel."

_TEXTS: Final[dict[type, tuple[Callable[[object], str], Callable[[str], object]]]] = {
    Decimal: (str, Decimal),
    bytes: (lambda value: base64.b64encode(_bytes(value)).decode(), base64.b64decode),
    dt.datetime: (lambda value: str(value), dt.datetime.fromisoformat),
    dt.date: (lambda value: str(value), dt.date.fromisoformat),
    dt.time: (lambda value: str(value), dt.time.fromisoformat),
    dt.timedelta: (
        lambda value: str(_microseconds(value)),
        lambda text: dt.timedelta(microseconds=int(text)),
    ),
    float: (repr, float),
    Instant: (lambda value: _text_of_instant(value), lambda text: _instant(text)),
}
"""Values that are written as a text, by their types; of floating point numbers those that JSON does not have."""

_NAMES: Final = {kind.__name__: kind for kind in _TEXTS}


class Writer:
    """Makes JSON of values; `other` makes it of those that it gives JSON for, and None of all others."""

    def __init__(self, other: Callable[[object], Json]) -> None:
        self._other = other

    def __call__(self, value: object) -> Json:
        """Return the JSON of a value. Raises ProgramError for one that a plan cannot hold."""
        if value is None or (isinstance(value, bool | int | str) and not isinstance(value, Enum)):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        found = self._other(value)
        if found is not None:
            return found
        if isinstance(value, Enum):
            return {_CLASS: _name(type(value)), _VALUE: value.name}
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return [self(one) for one in value]
        return self._object(value)

    def content(self, value: object) -> Json:
        """Return the JSON of a dataclass with its fields, even if `other` makes something else of it."""
        return {_CLASS: _name(type(value)), **{name: self(one) for name, one in _fields(value).items()}}

    def _object(self, value: object) -> Json:
        kind = type(value)
        if kind in _TEXTS:
            return {_CLASS: kind.__name__, _VALUE: _TEXTS[kind][0](value)}
        if isinstance(value, frozenset):
            return {_CLASS: "frozenset", _VALUE: sorted((self(one) for one in value), key=str)}
        if isinstance(value, Mapping):
            return {_CLASS: "dict", _VALUE: [[self(key), self(one)] for key, one in value.items()]}
        if isinstance(value, tuple):
            return {_CLASS: _name(kind), **{name: self(one) for name, one in _fields_of_tuple(value).items()}}
        if dataclasses.is_dataclass(value) and kind.__module__.startswith(_PACKAGES):
            return self.content(value)
        raise ProgramError("has a part that cannot be stored", who="COMPILE PLAN", got=repr(value))


class Reader:
    """Makes values of JSON; `others` make those that are objects with one of these keys."""

    def __init__(self, others: Mapping[str, Callable[[Mapping[str, Json]], object]]) -> None:
        self._others = others

    def __call__(self, json: Json) -> object:
        """Return the value. Raises ValueError if the JSON is not one that `Writer` makes."""
        if isinstance(json, list):
            return tuple(map(self, json))
        if not isinstance(json, dict):
            return json
        for key, made in self._others.items():
            if key in json:
                return made(json)
        name, value = json.get(_CLASS), json.get(_VALUE)
        if not isinstance(name, str):
            raise ValueError(f"an object without a class: {json}")
        if name in _NAMES and isinstance(value, str):
            return _TEXTS[_NAMES[name]][1](value)
        if name in ("frozenset", "dict") and isinstance(value, list):
            read = tuple(map(self, value))
            return frozenset(read) if name == "frozenset" else dict(read)  # type: ignore[arg-type]
        return self._made(_class(name), json)

    def _made(self, kind: type, json: Mapping[str, Json]) -> object:
        if issubclass(kind, Enum):
            return kind[str(json[_VALUE])]
        unknown = dict.fromkeys(_left_out(kind)) if dataclasses.is_dataclass(kind) else {}
        return kind(**unknown, **{name: self(one) for name, one in json.items() if name != _CLASS})


def _left_out(kind: type) -> list[str]:
    """Return the fields that are not written, and have no default: their owner sets them."""
    return [
        field.name
        for field in dataclasses.fields(kind)
        if field.init
        and not field.repr
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]


def _fields(value: object) -> dict[str, object]:
    found = {}
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        if field.init and field.repr:
            own = getattr(value, field.name)
            default = (
                field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
            )
            if type(own) is not type(default) or own != default:
                found[field.name] = own
    return found


def _fields_of_tuple(value: object) -> dict[str, object]:
    defaults: Mapping[str, object] = getattr(value, "_field_defaults")  # noqa: B009 - of a named tuple
    names: tuple[str, ...] = getattr(value, "_fields")  # noqa: B009
    return {
        name: getattr(value, name)
        for name in names
        if name not in defaults or getattr(value, name) != defaults[name]
    }


def _name(kind: type) -> str:
    return f"{kind.__module__.removeprefix(_ROOT)}:{kind.__qualname__}"


def _class(name: str) -> type:
    """Return a class of plans. Raises ValueError if there is none of this name."""
    module, _, attribute = name.partition(":")
    path = f"{_ROOT}{module}"
    if path.startswith(_PACKAGES):
        try:
            found = getattr(importlib.import_module(path), attribute, None)
        except ImportError:
            found = None
        plain = isinstance(found, type) and (
            dataclasses.is_dataclass(found) or issubclass(found, tuple | Enum)
        )
        if plain and isinstance(found, type):
            return found
    raise ValueError(f"nothing of this version is a {name}")


def _bytes(value: object) -> bytes:
    assert isinstance(value, bytes)
    return value


def _text_of_instant(value: object) -> str:
    assert isinstance(value, Instant)
    return f"{value.seconds}.{value.nanos:09}"


def _instant(text: str) -> Instant:
    seconds, _, nanos = text.partition(".")
    return Instant(int(seconds), int(nanos))


def _microseconds(value: object) -> int:
    assert isinstance(value, dt.timedelta)
    return value // dt.timedelta(microseconds=1)
