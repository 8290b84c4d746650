"""What a text in an address, or on a command line, can mean as a key."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from firesteel.common.errors import KeyEncodingError
from firesteel.queryable.forms import from_json, state_key_of_json
from firesteel.state.keys.groups import StateKey, state_key


def meanings(text: str, kinds: Sequence[str] | None) -> list[StateKey]:
    """Return the keys that a text stands for, one for each kind of key that it can be.

    `kinds` are those of all keys that ever had state (`KeyKinds`); None if they are not known. Strings are as they
    are, numbers as Python writes them, dates and times in ISO 8601, and everything else is JSON (`forms`). Raises
    KeyEncodingError for a text that is none of them.

    >>> meanings("5", ["str"]), meanings("5", ["int", "str"])
    (['5'], [5, '5'])
    >>> meanings('["a", 1]', ["tuple"]) == [state_key(("a", 1))]
    True
    """
    found = []
    for kind in ["int", "str", "tuple"] if kinds is None else kinds:
        try:
            key = _READ.get(kind, _of_json)(text)
        except (ValueError, KeyEncodingError):
            continue
        if key not in found:
            found.append(key)
    if not found and kinds:
        raise KeyEncodingError(
            f"requires a key of the kind {' or '.join(kinds)}", who="the key", got=text[:120]
        )
    return found


def json_meanings(value: Any, kinds: Sequence[str] | None) -> list[StateKey]:
    """Return the keys that JSON stands for: itself, and for a text what `meanings` finds where no key is a string.

    >>> json_meanings(["a", 1], None) == [state_key(("a", 1))], json_meanings("a", ["str"])
    (True, ['a'])
    """
    if isinstance(value, str) and kinds is not None and "str" not in kinds:
        return meanings(value, kinds)
    if isinstance(value, int) and kinds == ["float"]:
        return [state_key(float(value))]
    return [state_key_of_json(value)]


def _integer(text: str) -> StateKey:
    if text.strip("-").isascii() and text.removeprefix("-").isdecimal() and len(text) < 400:
        return int(text)
    raise ValueError(text)


def _boolean(text: str) -> StateKey:
    return (
        state_key({"true": True, "false": False}[text.lower()])
        if text.lower() in ("true", "false")
        else _no()
    )


def _no() -> StateKey:
    raise ValueError


def _none(text: str) -> StateKey:
    return state_key(None) if text == "null" else _no()


def _float(text: str) -> StateKey:
    value = float(text)
    return state_key(value) if math.isfinite(value) or text in ("nan", "inf", "-inf") else _no()


def _tagged(tag: str) -> Callable[[str], StateKey]:
    return lambda text: state_key(from_json({tag: text}, key=True))


def _of_json(text: str) -> StateKey:
    try:
        return state_key_of_json(msgspec.json.decode(text))
    except msgspec.DecodeError as error:
        raise ValueError(text) from error


_READ: Final[dict[str, Callable[[str], StateKey]]] = {
    "str": lambda text: text,
    "int": _integer,
    "bool": _boolean,
    "None": _none,
    "float": _float,
    "bytes": _tagged("$bytes"),
    "Decimal": _tagged("$decimal"),
    "date": _tagged("$date"),
    "time": _tagged("$time"),
    "datetime": _tagged("$timestamp"),
    "UUID": _tagged("$uuid"),
}
