"""Regular expressions that Java and RE2, the kernel's library, understand alike.

Contract: a pattern that `alike` accepts finds the same first match, of the same groups, under the pattern in RE2's
writing that it returns. Accepted are characters, ``.``, classes, ``\\d \\w \\s`` and their opposites, ``^``,
alternatives, groups and greedy and lazy quantifiers: both libraries prefer the leftmost match, earlier alternatives,
and more (of lazy quantifiers, fewer) repetitions. Not accepted, and so computed by Java's rules one text after the
other:

- back-references, look-around, possessive quantifiers: RE2 has none;
- ``$`` (Java's matches before a line's end, too), ``\\b`` (its letters differ), flags, ``\\p{...}``;
- intersections and classes within classes: other characters to RE2;
- quantifiers of what can be empty, such as ``(a*)+``: they stop repeating by different rules;
- empty alternatives and groups: the kernel takes some such patterns for plain texts;
- what Java or RE2 refuses, and repetitions that make RE2's program large.

RE2's ``.`` and ``\\s`` mean other characters than Java's, so both are written as classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

_LARGEST: Final = 1000
_SPACES: Final = r"\t\n\x0b\f\r "
_OUTSIDE: Final = {
    "d": "[0-9]",
    "D": "[^0-9]",
    "w": "[0-9A-Za-z_]",
    "W": "[^0-9A-Za-z_]",
    "s": f"[{_SPACES}]",
    "S": f"[^{_SPACES}]",
}
_WITHIN: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": _SPACES, "D": r"\D", "W": r"\W"}
_CONTROLS: Final = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}
_ANY: Final = r"[^\n\r\x{85}\x{2028}\x{2029}]"
_SIGNS: Final = frozenset("!\"#$%&'()*+,-./:;=?@[\\]^_`{|}~")
_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\})(\??)")
_GROUP: Final = re.compile(r"\((?:\?:|\?<(?P<name>[A-Za-z][A-Za-z0-9]*)>|(?!\?))")
_RANGE: Final = re.compile(r"([0-9])-([0-9])|([a-z])-([a-z])|([A-Z])-([A-Z])")


@dataclass(frozen=True)
class Group:
    """A group of a pattern: whether its text can be empty, and whether it takes part in each match."""

    empty: bool
    always: bool


@dataclass(frozen=True)
class Pattern:
    """A pattern in RE2's writing; `groups` begin with the whole match.

    None is a group that may be repeated: Java keeps what it found in a repetition that is given up later.
    """

    text: str
    groups: tuple[Group | None, ...]

    @property
    def empty(self) -> bool:
        """Whether a match can be empty."""
        whole = self.groups[0]
        return whole is None or whole.empty


class _NotAlikeError(Exception):
    """A pattern that is none of those that both libraries understand alike."""


@dataclass
class _Part:
    """A part of a pattern: its text, whether it can match nothing, its groups, and the size of its program."""

    text: str = ""
    empty: bool = True
    groups: dict[int, Group | None] = field(default_factory=dict)
    size: int = 0

    def optional(self) -> dict[int, Group | None]:
        """Return its groups if a match can do without it."""
        return {number: group and Group(group.empty, always=False) for number, group in self.groups.items()}


@lru_cache(1000)
def alike(pattern: str) -> Pattern | None:
    """Return a pattern of Java's as RE2 writes it; None if the two do not understand it alike.

    >>> alike(r"(x|^)id(?<id>[^y]*)")
    Pattern(text='(x|^)id([^y]*)', groups=(Group(empty=False, always=True), Group(empty=True, always=True), \
Group(empty=True, always=True)))
    >>> alike(r"(a)\\1"), alike("a$"), alike("(a*)+")
    (None, None, None)
    """
    try:
        part = _Reader(pattern).whole()
    except _NotAlikeError:
        return None
    return Pattern(part.text, tuple(part.groups[number] for number in sorted(part.groups)))


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0
        self._groups = 0
        self._names: set[str] = set()

    def whole(self) -> _Part:
        part = self._alternatives()
        if self._place < len(self._pattern):
            raise _NotAlikeError
        part.groups[0] = Group(part.empty, always=True)
        return part

    def _next(self) -> str:
        """Return the next character; an empty text at the end."""
        return self._pattern[self._place : self._place + 1]

    def _alternatives(self) -> _Part:
        parts = [self._sequence()]
        while self._next() == "|":
            self._place += 1
            parts.append(self._sequence())
        if len(parts) == 1:
            return parts[0]
        groups = {number: group for part in parts for number, group in part.optional().items()}
        text = "|".join(part.text for part in parts)
        return _Part(text, any(part.empty for part in parts), groups, sum(part.size + 1 for part in parts))

    def _sequence(self) -> _Part:
        parts = list(self._pieces())
        if not parts:
            raise _NotAlikeError
        return _Part(
            "".join(part.text for part in parts),
            all(part.empty for part in parts),
            {number: group for part in parts for number, group in part.groups.items()},
            sum(part.size for part in parts),
        )

    def _pieces(self) -> Iterator[_Part]:
        while self._next() not in ("", "|", ")"):
            piece = self._quantified(self._atom())
            if piece.size > _LARGEST:
                raise _NotAlikeError
            yield piece

    def _quantified(self, atom: _Part) -> _Part:
        found = _QUANTIFIER.match(self._pattern, self._place)
        if found is None:
            return atom
        self._place = found.end()
        if atom.empty or self._next() in ("*", "+", "?", "{"):
            raise _NotAlikeError
        least, most = _repetitions(found)
        if most == 0 or most < least:
            raise _NotAlikeError
        groups = dict.fromkeys(atom.groups)
        return _Part(atom.text + found.group(), not least, groups, (atom.size + 1) * most)

    def _atom(self) -> _Part:
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return _Part(self._class(), empty=False, size=1)
        self._place += 1
        if character == "^":
            return _Part("^", size=1)
        if character == ".":
            return _Part(_ANY, empty=False, size=4)
        if character == "\\":
            return _Part(self._escape(_OUTSIDE), empty=False, size=1)
        if character in "$*+?{}]":
            raise _NotAlikeError
        return _Part(_literal(character), empty=False, size=1)

    def _group(self) -> _Part:
        opening = _GROUP.match(self._pattern, self._place)
        if opening is None or opening["name"] in self._names:
            raise _NotAlikeError
        if opening["name"] is not None:
            self._names.add(opening["name"])
        number = 0
        if opening.group() != "(?:":
            self._groups += 1
            number = self._groups
        self._place = opening.end()
        part = self._alternatives()
        if self._next() != ")":
            raise _NotAlikeError
        self._place += 1
        if not number:
            return _Part(f"(?:{part.text})", part.empty, part.groups, part.size)
        groups = {number: Group(part.empty, always=True), **part.groups}
        return _Part(f"({part.text})", part.empty, groups, part.size + 2)

    def _class(self) -> str:
        self._place += 1
        found = ["["]
        if self._next() == "^":
            self._place += 1
            found.append("^")
        opening = self._place
        while self._next() != "]":
            found.append(self._item(opening))
        if self._place == opening:
            raise _NotAlikeError
        self._place += 1
        return "".join([*found, "]"])

    def _item(self, opening: int) -> str:
        """Return the next characters of a class; a hyphen is one if it is the first or the last of them."""
        start = self._place
        span = _RANGE.match(self._pattern, start)
        if span is not None:
            first, _, last = span.group().partition("-")
            if first > last:
                raise _NotAlikeError
            self._place = span.end()
            return span.group()
        character = self._next()
        self._place += 1
        if character == "\\":
            return self._escape(_WITHIN)
        following = self._next()
        if character in ("", "[", "^") or (character == "&" and following == "&"):
            raise _NotAlikeError
        if character == "-" and start != opening and following != "]":
            raise _NotAlikeError
        return _literal(character)

    def _escape(self, classes: dict[str, str]) -> str:
        """Return what is meant by the character behind a backslash."""
        character = self._next()
        self._place += 1
        if character in _SIGNS:
            return _literal(character)
        found = classes.get(character) or _CONTROLS.get(character)
        if found is None:
            raise _NotAlikeError
        return found


def _repetitions(quantifier: re.Match[str]) -> tuple[int, int]:
    """Return the least repetitions, and a number for the most: of a quantifier without a limit, that of its program."""
    fixed, comma, limit, _ = quantifier.groups()
    if fixed is None:
        return int(quantifier.group()[0] == "+"), 1
    least = int(fixed)
    if not comma:
        return least, least
    return least, int(limit) if limit else max(least, 1)


def _literal(character: str) -> str:
    return "\\" + character if character in _SIGNS and character != "_" else character
