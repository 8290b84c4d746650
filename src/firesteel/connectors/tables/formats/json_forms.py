"""The form of a line of JSON: its names, its braces and the kinds of its values, which other lines may have, too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from firesteel.connectors.tables.formats.plain_texts import Doubtful

Path = tuple[bytes, ...]
"""The names that lead to a value: the first in the line's object, the next in the object there, and so on."""

Numbers = npt.NDArray[np.int64]

_DEEPEST: Final = 32
_NAME: Final = re.compile(rb' *"([^"\\]*)" *: *')
_TEXT: Final = re.compile(rb'"[^"\\]*"')
_SCALAR: Final = re.compile(rb'[^ ,:"\[\]{}\\]+')
_BETWEEN: Final = re.compile(rb" *([,}])")
_EMPTY: Final = re.compile(rb"\{ *\}")


class Kind(Enum):
    """What a wanted value is: an object, a text in quotes, or a number or truth value."""

    ROW = auto()
    TEXT = auto()
    SCALAR = auto()


@dataclass(frozen=True)
class Slot:
    """A value that differs from line to line: between quotes if it is a `text`, a number or a word otherwise."""

    path: Path
    text: bool


@dataclass(frozen=True)
class Form:
    """What is the same in all lines of a form, and where they differ.

    `constants` are what is before each slot, and what is behind the last up to the end of the line. `rows` are the
    paths of the objects. What is null and cannot be a number is part of the form, like what is missing.
    """

    constants: tuple[bytes, ...]
    slots: tuple[Slot, ...]
    rows: frozenset[Path]

    @cached_property
    def quotes(self) -> int:
        """The number of quotes in a line."""
        return sum(constant.count(b'"') for constant in self.constants)

    @cached_property
    def anchors(self) -> tuple[Numbers, Numbers, Numbers]:
        """Of the constants but the last: the number of their first quote, what is before it in them, their lengths."""
        inner = self.constants[:-1]
        counts = [constant.count(b'"') for constant in inner]
        first = np.cumsum([0, *counts[:-1]])
        return first, np.array([text.index(b'"') for text in inner]), np.array([len(text) for text in inner])

    @cached_property
    def places(self) -> Mapping[Path, int]:
        """The slot of each path."""
        return {slot.path: place for place, slot in enumerate(self.slots)}


def form_of(line: bytes, wanted: Mapping[Path, Kind], *, nulls_differ: bool = False) -> Form:
    """Return the form of a line without its end.

    With `nulls_differ` there may be a number in other lines where this one has a null that is not wanted.

    Raises Doubtful for a line that is not plain: it has an array, an escape, a name twice, no value that may differ, or
    a wanted value of another kind.

    >>> found = form_of(b'{"n": 1, "of": {"s": "x"}}', {(b"n",): Kind.SCALAR})
    >>> found.constants
    (b'{"n": ', b', "of": {"s": "', b'"}}\\n')
    """
    reading = _Reading(line, wanted, Kind.SCALAR if nulls_differ else Kind.ROW)
    reading.read()
    if not reading.slots:
        raise Doubtful
    return Form(
        (*reading.constants, line[reading.known :] + b"\n"), tuple(reading.slots), frozenset(reading.rows)
    )


class _Reading:
    def __init__(self, line: bytes, wanted: Mapping[Path, Kind], null: Kind) -> None:
        self._line = line
        self._null = null
        self._wanted = wanted
        self._place = 0
        self.known = 0
        self.constants: list[bytes] = []
        self.slots: list[Slot] = []
        self.rows: list[Path] = []

    def read(self) -> None:
        if not self._line.startswith(b"{"):
            raise Doubtful
        self._object(())
        if self._line[self._place :].strip(b" "):
            raise Doubtful

    def _object(self, path: Path) -> None:
        if len(path) > _DEEPEST:
            raise Doubtful
        self.rows.append(path)
        if empty := _EMPTY.match(self._line, self._place):
            self._place = empty.end()
            return
        self._place += 1
        names: set[bytes] = set()
        more = True
        while more:
            name = self._take(_NAME)[1]
            if name in names:
                raise Doubtful
            names.add(name)
            self._value((*path, name))
            more = self._take(_BETWEEN)[1] == b","

    def _value(self, path: Path) -> None:
        kind = self._wanted.get(path)
        first = self._line[self._place : self._place + 1]
        if first == b"{":
            if kind not in (None, Kind.ROW):
                raise Doubtful
            self._object(path)
        elif first == b'"':
            if kind not in (None, Kind.TEXT):
                raise Doubtful
            found = self._take(_TEXT)
            self._slot(path, True, found.start() + 1, found.end() - 1)
        else:
            found = self._take(_SCALAR)
            is_null = found[0] == b"null"
            if (kind or (self._null if is_null else Kind.SCALAR)) is Kind.SCALAR:
                self._slot(path, False, found.start(), found.end())
            elif not is_null:
                raise Doubtful

    def _slot(self, path: Path, text: bool, start: int, end: int) -> None:
        self.constants.append(self._line[self.known : start])
        self.slots.append(Slot(path, text))
        self.known = end

    def _take(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        found = pattern.match(self._line, self._place)
        if found is None:
            raise Doubtful
        self._place = found.end()
        return found
