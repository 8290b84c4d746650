"""Java's regular expressions.

Python's are the nearest to them that there are; what differs in writing is rewritten, and what Python lacks is refused
by name when the pattern is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

_ENDS: Final = "\n\r\x85\u2028\u2029"
_CLASSES: Final = {
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Upper": "A-Z",
    "Lower": "a-z",
    "Punct": re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "Space": r"\s",
    "XDigit": "0-9a-fA-F",
    "ASCII": "\\x00-\\x7f",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
}


class PatternError(ValueError):
    """A pattern that Java does not accept, or that cannot be expressed here."""


@lru_cache(1000)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of Java's, compiled. Raises PatternError.

    >>> compiled(r"(?<word>[a-z&&[b-d]]+)")
    Traceback (most recent call last):
        ...
    firesteel.runtime.columns.kernel.functions.patterns.PatternError: intersections of character classes (&&)
    """
    try:
        return re.compile(_rewritten(pattern), re.ASCII)
    except re.error as error:
        raise PatternError(str(error)) from None


def _rewritten(pattern: str) -> str:
    found: list[str] = []
    place, within = 0, 0
    while place < len(pattern):
        character = pattern[place]
        if character == "\\":
            text, place = _escape(pattern, place, bool(within))
            found.append(text)
            continue
        if within:
            if pattern.startswith("&&", place):
                raise PatternError("intersections of character classes (&&)")
            if character == "[":
                raise PatternError("character classes within each other")
            within = 0 if character == "]" else 1
            found.append(character)
        elif character == "[":
            within = 1
            found.append(character)
        elif pattern.startswith("(?<", place) and pattern[place + 3 : place + 4] not in ("=", "!"):
            found.append("(?P<")
            place += 2
        elif character == ".":
            found.append(f"[^{_ENDS}]")
        elif character == "$":
            found.append(f"(?=(?:\r\n|[{_ENDS}])?\\Z)")
        else:
            found.append(character)
        place += 1
    return "".join(found)


def _escape(pattern: str, place: int, within: bool) -> tuple[str, int]:
    following = pattern[place + 1 : place + 2]
    if following == "Q":
        end = pattern.find("\\E", place + 2)
        end = len(pattern) if end < 0 else end
        return re.escape(pattern[place + 2 : end]), min(end + 2, len(pattern))
    if following in ("p", "P"):
        named = re.match(r"\{(?:Is)?(\w+)\}", pattern[place + 2 :])
        if named is None or named.group(1) not in _CLASSES:
            raise PatternError(f"the class {pattern[place : place + 8]}")
        negation = "^" if following == "P" else ""
        if within and negation:
            raise PatternError("a negated class within a class")
        text = _CLASSES[named.group(1)]
        return (text if within else f"[{negation}{text}]"), place + 2 + named.end()
    if following == "z":
        return r"\Z", place + 2
    if following == "Z":
        return f"(?=(?:\r\n|[{_ENDS}])?\\Z)", place + 2
    if following == "k":
        named = re.match(r"<(\w+)>", pattern[place + 2 :])
        if named is not None:
            return f"(?P={named.group(1)})", place + 2 + named.end()
    return pattern[place : place + 2], place + 2


def _found(text: str, pattern: str) -> bool:
    if not pattern:
        return False
    return _compiled_or_refused(pattern).search(text) is not None


def _compiled_or_refused(pattern: str) -> re.Pattern[str]:
    try:
        return compiled(pattern)
    except PatternError as error:
        raise ComputeError(f"the regular expression {pattern!r}: {error}") from None


def _or_nothing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is NULL for a pattern that does not compile, as Flink's are."""

    def compute(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except PatternError:
            return None

    return compute


def _extracted(text: str, pattern: str, group: int) -> str | None:
    expression = compiled(pattern)
    found = expression.search(text)
    if found is None or group < 0 or group > expression.groups:
        return None
    return found.group(group)


def _all_extracted(text: str, pattern: str, group: int) -> list[str | None] | None:
    expression = compiled(pattern)
    if group < 0 or group > expression.groups:
        return None
    return [found.group(group) for found in expression.finditer(text)]


def _replaced(text: str, pattern: str, replacement: str) -> str:
    """Return a text with all matches replaced; a replacement has no references to groups, as Flink quotes it."""
    return compiled(pattern).sub(lambda _: replacement, text)


def split(text: str, pattern: str, most: int = 0) -> list[str]:
    """Return the parts between matches, as Java's String.split does: at most so many, or without empty ones at the end.

    >>> split("a,b,,", ","), split("a=b=c", "=", 2)
    (['a', 'b'], ['a', 'b=c'])
    """
    expression = _compiled_or_refused(pattern)
    found: list[str] = []
    start = 0
    for part in expression.finditer(text):
        if part.end() == 0 or (most and len(found) == most - 1):
            continue
        found.append(text[start : part.start()])
        start = part.end()
    found.append(text[start:])
    while not most and len(found) > 1 and not found[-1]:
        found.pop()
    return found


def _counted(text: str, pattern: str) -> int:
    return sum(1 for _ in compiled(pattern).finditer(text))


def _part(text: str, pattern: str) -> str | None:
    found = compiled(pattern).search(text)
    return None if found is None else found.group()


def _place(text: str, pattern: str) -> int:
    found = compiled(pattern).search(text)
    return 0 if found is None else found.start() + 1


@lru_cache(1000)
def similar(pattern: str, escape: str | None) -> re.Pattern[str]:
    """Return the pattern of SIMILAR TO, compiled: ``%`` and ``_`` stand for characters."""
    found: list[str] = []
    place, within = 0, False
    while place < len(pattern):
        character = pattern[place]
        if character == escape and place + 1 < len(pattern):
            found.append(re.escape(pattern[place + 1]))
            place += 1
        elif within:
            within = character != "]"
            found.append(character)
        elif character == "[":
            within = True
            found.append(character)
        elif character in "%_":
            found.append("(?s:.*)" if character == "%" else "(?s:.)")
        elif character in ".^$\\":
            found.append(re.escape(character))
        else:
            found.append(character)
        place += 1
    try:
        return re.compile("".join(found), re.ASCII)
    except re.error as error:
        raise ComputeError(f"the pattern {pattern!r}: {error}") from None


def _family(
    function: Callable[..., Any], result: str, arrow: pa.DataType, *more: str
) -> Callable[[], VectorFunction]:
    return lambda: by_row(function, ("VARCHAR", "VARCHAR", *more), result, arrow)


_TEXT: Final = pa.string()
FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "regexp": _family(_found, "BOOLEAN", pa.bool_()),
    "regexp_extract": _family(_or_nothing(_extracted), "VARCHAR", _TEXT, "INTEGER"),
    "regexp_extract_all": _family(_or_nothing(_all_extracted), "VARCHAR[]", pa.list_(_TEXT), "INTEGER"),
    "regexp_replace": _family(_or_nothing(_replaced), "VARCHAR", _TEXT, "VARCHAR"),
    "regexp_count": _family(_or_nothing(_counted), "INTEGER", pa.int32()),
    "regexp_substr": _family(_or_nothing(_part), "VARCHAR", _TEXT),
    "regexp_instr": _family(_or_nothing(_place), "INTEGER", pa.int32()),
    "similar": _family(
        lambda text, pattern: similar(pattern, None).fullmatch(text) is not None, "BOOLEAN", pa.bool_()
    ),
    "similar_escaped": _family(
        lambda text, pattern, escape: similar(pattern, escape).fullmatch(text) is not None,
        "BOOLEAN",
        pa.bool_(),
        "VARCHAR",
    ),
}
