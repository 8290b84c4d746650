"""Paths into JSON documents: ``$.a.b[0]``, ``$..c``, ``$.a[?(@.c > 1)]`` (Jayway's JsonPath, which Flink has).

Contract: a path is definite if it can lead to one value only. What a definite path does not find is an error; an
indefinite one leads to a list, which may be empty. It is an error, too, if there is not what stands before the first
indefinite step of a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from firesteel.runtime.columns.kernel.functions.json_filters import FilterError, compiled_filter

_Select = Callable[[Any], Sequence[Any] | None]
"""Gives what a step leads to from a value; None if the value has no such part."""


class PathError(ValueError):
    """A text is no path."""


class NoSuchPathError(ValueError):
    """A document does not have what a path leads to."""


class _Step(NamedTuple):
    select: _Select
    definite: bool


class Path(NamedTuple):
    """A compiled path; see `found`."""

    steps: tuple[_Step, ...]
    definite: bool

    def found(self, document: Any) -> Any:
        """Return the value of a definite path, the list of those of an indefinite one. Raises NoSuchPathError."""
        if self.definite:
            return self._one(document)
        values, certain = [document], True
        for step in self.steps:
            found = [step.select(value) for value in values]
            if certain and any(parts is None for parts in found):
                raise NoSuchPathError("a part of the path is not there")
            values = [part for parts in found for part in parts or ()]
            certain = certain and step.definite
        return values

    def _one(self, document: Any) -> Any:
        value = document
        for step in self.steps:
            found = step.select(value)
            if not found:
                raise NoSuchPathError("there is nothing at the path")
            value = found[0]
        return value


_NAME: Final = re.compile(r"[^.\[\]() '\"*?]+")
_QUOTED: Final = re.compile(r"\s*'((?:[^'\\]|\\.)*)'\s*|\s*\"((?:[^\"\\]|\\.)*)\"\s*")
_NUMBER: Final = re.compile(r"\s*-?\d+\s*")
_SLICE: Final = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*")


@lru_cache(1000)
def compiled(text: str) -> Path:
    """Return the path that a text is. Raises PathError.

    >>> compiled("$.a[1].b").found({"a": [0, {"b": 5}]}), compiled("$..b").found({"a": [0, {"b": 5}]})
    (5, [5])
    """
    written = text.strip()
    if not written:
        raise PathError("the path is empty")
    if written[0] not in "$@":
        written = f"$.{written}"
    steps: list[_Step] = []
    place = 1
    while place < len(written):
        if written.startswith("..", place):
            steps.append(_Step(_scanned, False))
            place = _step(written, place + 2, steps)
        elif written[place] == ".":
            place = _step(written, place + 1, steps)
        elif written[place] == "[":
            place = _step(written, place, steps)
        else:
            raise PathError(f"{text!r} cannot be read from {written[place:]!r} on")
    return Path(tuple(steps), all(step.definite for step in steps))


def _step(text: str, place: int, steps: list[_Step]) -> int:
    """Add the step that begins at a place, and return where it ends."""
    if text.startswith("*", place):
        steps.append(_Step(_every, False))
        return place + 1
    if text.startswith("[", place):
        return _bracket(text, place, steps)
    name = _NAME.match(text, place)
    if name is None:
        raise PathError(f"{text!r} cannot be read from {text[place:]!r} on")
    if text.startswith("()", name.end()):
        if name.group() not in ("length", "size"):
            raise PathError(f"the function {name.group()}() of paths is not supported")
        steps.append(_Step(_length, True))
        return name.end() + 2
    steps.append(_Step(_named((name.group(),)), True))
    return name.end()


def _bracket(text: str, place: int, steps: list[_Step]) -> int:
    end = _closing(text, place)
    inside = text[place + 1 : end].strip()
    if inside == "*":
        steps.append(_Step(_every, False))
    elif inside.startswith("?"):
        steps.append(_Step(_filtered(inside[1:].strip()), False))
    elif inside[:1] in ("'", '"'):
        names = tuple(one or other for one, other in _QUOTED.findall(inside))
        if ",".join(part.group() for part in _QUOTED.finditer(inside)) != inside:
            raise PathError(f"{inside!r} is no list of names")
        steps.append(_Step(_named(names), True))
    elif sliced := _SLICE.fullmatch(inside):
        start, stop = (int(part) if part else None for part in sliced.groups())
        steps.append(_Step(_sliced(slice(start, stop)), False))
    elif all(_NUMBER.fullmatch(part) for part in inside.split(",")):
        places = [int(part) for part in inside.split(",")]
        steps.append(_Step(_at(places), len(places) == 1))
    else:
        raise PathError(f"[{inside}] is no part of a path")
    return end + 1


def _closing(text: str, start: int) -> int:
    """Return where the bracket that opens at `start` closes."""
    depth, quote = 0, ""
    for place in range(start, len(text)):
        character = text[place]
        if quote:
            quote = "" if character == quote and text[place - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
            if not depth:
                return place
    raise PathError(f"{text!r} has a bracket that does not close")


def _named(names: tuple[str, ...]) -> _Select:
    def select(value: Any) -> Sequence[Any] | None:
        if not isinstance(value, dict):
            return None
        if len(names) > 1:
            return [{name: value[name] for name in names if name in value}]
        return [value[names[0]]] if names[0] in value else None

    return select


def _at(places: list[int]) -> _Select:
    def select(value: Any) -> Sequence[Any] | None:
        if not isinstance(value, list):
            return None
        return [value[place] for place in places if -len(value) <= place < len(value)]

    return select


def _sliced(places: slice) -> _Select:
    return lambda value: value[places] if isinstance(value, list) else None


def _filtered(text: str) -> _Select:
    try:
        accepts = compiled_filter(text, lambda path: compiled(path).found)
    except FilterError as error:
        raise PathError(str(error)) from None

    def select(value: Any) -> Sequence[Any] | None:
        if not isinstance(value, dict | list):
            return None
        return list(filter(accepts, value if isinstance(value, list) else [value]))

    return select


def _every(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _scanned(value: Any) -> Sequence[Any]:
    """Return a value and all that is in it, the outer ones first."""
    return [value, *(inner for part in _every(value) for inner in _scanned(part))]


def _length(value: Any) -> Sequence[Any]:
    return [len(value)] if isinstance(value, dict | list) else []
