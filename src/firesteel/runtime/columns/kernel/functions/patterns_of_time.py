"""Times written and read by patterns as Java's DateTimeFormatter has them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final, NamedTuple

import pyarrow as pa

from firesteel.common.calendar_days import day_number, last_day
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_EPOCH: Final = dt.datetime(1970, 1, 1)
_DAY: Final = dt.timedelta(days=1)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_PARTS: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[\[\]]|[^A-Za-z'\[\]]+", re.DOTALL)


class Part(NamedTuple):
    """A run of one letter of a pattern, or a text between such runs, which has no letter."""

    letter: str
    text: str
    quoted: bool = False


@lru_cache(1000)
def parts_of(pattern: str) -> tuple[Part, ...]:
    """Return the parts of a pattern. Raises ComputeError if a quote in it does not end."""
    found, end = [], 0
    for part in _PARTS.finditer(pattern):
        if part.start() != end:
            break
        end = part.end()
        if part.group(2):
            found.append(Part(part.group(2), part.group()))
        elif part.group(1) is not None:
            found.append(Part("", part.group(1).replace("''", "'") or "'", True))
        else:
            found.append(Part("", part.group()))
    if end != len(pattern):
        raise ComputeError(f"the pattern {pattern!r} has an unfinished quote")
    return tuple(found)


def formatted(micros: int, nanos: int, pattern: str) -> str:
    """Return a wall clock, in microseconds from 1970 and the nanoseconds beyond them, as a pattern says.

    >>> formatted(1_709_210_096_789_000, 0, "EEE, d MMM yyyy HH:mm:ss.SSS")
    'Thu, 29 Feb 2024 12:34:56.789'
    """
    wall = _EPOCH + dt.timedelta(microseconds=micros)
    return "".join(
        _field(part.letter, len(part.text), wall, wall.microsecond * 1000 + nanos)
        if part.letter
        else ("" if part.text in "[]" and not part.quoted else part.text)
        for part in parts_of(pattern)
    )


def _field(letter: str, count: int, wall: dt.datetime, nanos: int) -> str:
    match letter:
        case "y" | "u":
            return f"{wall.year % 100:02}" if count == 2 else f"{wall.year:0{count}}"
        case "M" | "L":
            names = MONTHS[wall.month - 1]
            return f"{wall.month:0{count}}" if count < 3 else names[:3] if count == 3 else names
        case "E":
            name = DAYS[wall.weekday()]
            return name[:3] if count <= 3 else name
        case "Q" | "q":
            return f"{(wall.month + 2) // 3:0{count}}" if count < 3 else f"Q{(wall.month + 2) // 3}"
        case "a":
            return "AM" if wall.hour < 12 else "PM"
        case "G":
            return "AD" if count < 4 else "Anno Domini"
        case "S":
            return f"{nanos:09}"[:count].ljust(count, "0")
        case "n":
            return f"{nanos:0{count}}"
        case "Y":
            year = _week_end(wall).year
            return f"{year % 100:02}" if count == 2 else f"{year:0{count}}"
        case "A":
            return f"{(wall - _EPOCH) % _DAY // _MILLISECOND:0{count}}"
    return number_field(Part(letter, letter * count), wall)


def number_field(part: Part, wall: dt.datetime) -> str:
    """Return a number that both kinds of patterns have a letter for. Raises ComputeError for other letters."""
    number = _NUMBERS.get(part.letter)
    if number is None:
        raise ComputeError(f"the letter {part.letter!r} in a pattern of times is not supported")
    return f"{number(wall):0{len(part.text)}}"


def _week_end(wall: dt.datetime) -> dt.datetime:
    """Return the Saturday of a week; weeks begin on Sundays, as in the United States."""
    return wall + _DAY * (6 - wall.isoweekday() % 7)


def _week_of_year(wall: dt.datetime) -> int:
    end = _week_end(wall)
    return (end.timetuple().tm_yday + 6) // 7


_NUMBERS: Final[dict[str, Callable[[dt.datetime], int]]] = {
    "d": lambda wall: wall.day,
    "D": lambda wall: wall.timetuple().tm_yday,
    "e": lambda wall: wall.isoweekday() % 7 + 1,
    "H": lambda wall: wall.hour,
    "h": lambda wall: (wall.hour + 11) % 12 + 1,
    "K": lambda wall: wall.hour % 12,
    "k": lambda wall: (wall.hour + 23) % 24 + 1,
    "m": lambda wall: wall.minute,
    "s": lambda wall: wall.second,
    "w": _week_of_year,
    "W": lambda wall: (wall.day + 12 - wall.isoweekday() % 7) // 7,
    "F": lambda wall: (wall.day + 6) // 7,
}


class _Reader(NamedTuple):
    """A pattern to read by: the expression, and the letter of each of its groups."""

    expression: re.Pattern[str]
    letters: tuple[str, ...]


@lru_cache(1000)
def _reader(pattern: str) -> _Reader:
    found: list[str] = []
    letters: list[str] = []
    parts = parts_of(pattern)
    for place, part in enumerate(parts):
        if part.letter:
            adjacent = place + 1 < len(parts) and bool(parts[place + 1].letter)
            found.append(_group(part, adjacent))
            letters.append("word" if part.letter in "ML" and len(part.text) > 2 else part.letter)
        elif part.text in ("[", "]") and not part.quoted:
            found.append("(?:" if part.text == "[" else ")?")
        else:
            found.append(re.escape(part.text))
    return _Reader(re.compile("".join(found), re.ASCII), tuple(letters))


def _group(part: Part, adjacent: bool) -> str:
    letter, count = part.letter, len(part.text)
    if letter == "a":
        return "(AM|PM)"
    if letter in "MLE" and count > 2:
        names = DAYS if letter == "E" else MONTHS
        return f"({'|'.join(name[:3] if count == 3 else name for name in names)})"
    if letter == "S":
        return rf"(\d{{{count}}})"
    if letter not in "yuMLdDHhKkms":
        raise ComputeError(f"the letter {letter!r} in a pattern of times to read is not supported")
    if letter in "yu" and count > 2 and not adjacent:
        return rf"(\d{{{count},19}})"
    return rf"(\d{{{count}}})" if count > 1 or adjacent else r"(\d{1,19})"


def read(text: str, pattern: str, digits: int = 3) -> int | None:
    """Return the time from 1970 of a wall clock that is written as a pattern says, or as a plain timestamp.

    Its unit are the parts of a second that have so many digits: milliseconds. None if it is written in no such way.

    >>> read("2.1.1970", "d.M.yyyy") == read("1970-1-2", "d.M.yyyy") == 86_400_000
    True
    """
    expression, letters = _reader(pattern)
    found = expression.fullmatch(text)
    if found is None:
        return _plain(text, digits)
    values: dict[str, str] = {}
    for letter, value in zip(letters, found.groups(), strict=True):
        if value is not None and not _same(letter, values.setdefault(letter, value), value):
            return _plain(text, digits)
    return _resolved(values, digits) if _is_time(values) else _plain(text, digits)


def _same(letter: str, one: str, other: str) -> bool:
    """Return whether what was read by two parts with the same letter is one value."""
    if letter == "S":
        return one.rstrip("0") == other.rstrip("0")
    return one == other or (one.isdecimal() and other.isdecimal() and int(one) == int(other))


def _is_time(values: dict[str, str]) -> bool:
    return all(
        lowest <= int(values[letter]) <= highest
        for letter, (lowest, highest) in _RANGES.items()
        if letter in values and not (letter in "yu" and len(values[letter]) == 2)
    )


_RANGES: Final = {
    "y": (1, 9999),
    "u": (0, 9999),
    **dict.fromkeys("ML", (1, 12)),
    "d": (1, 31),
    "D": (1, 366),
    "H": (0, 23),
    "k": (1, 24),
    "h": (1, 12),
    "K": (0, 11),
    **dict.fromkeys("ms", (0, 59)),
}


def _resolved(values: dict[str, str], digits: int) -> int:
    """Return the time of the values of letters; what is missing is that of 1970-01-01 00:00:00."""
    year_text = values.get("y", values.get("u", "1970"))
    year = int(year_text) + (2000 if len(year_text) == 2 else 0)
    month = int(values.get("M", values.get("L", 1)))
    if "word" in values:
        month = [name[:3] for name in MONTHS].index(values["word"][:3]) + 1
    day = day_number(year, month, min(int(values.get("d", 1)), last_day(year, month)))
    if "D" in values:
        day = day_number(year, 1, 1) + int(values["D"]) - 1
    seconds = (_hour(values) * 60 + int(values.get("m", 0))) * 60 + int(values.get("s", 0))
    return _in_parts(day * 86_400 + seconds, values.get("S"), digits)


def _in_parts(seconds: int, fraction: str | None, digits: int) -> int:
    """Return a time in the parts of a second that have so many digits; further digits of the fraction are cut off."""
    return seconds * int(10**digits) + int((fraction or "")[:digits].ljust(digits, "0"))


def _hour(values: dict[str, str]) -> int:
    if "H" in values:
        return int(values["H"])
    if "k" in values:
        return int(values["k"]) % 24
    if "a" not in values or not ("h" in values or "K" in values):
        return 0
    return int(values.get("h", values.get("K", 0))) % 12 + (12 if values["a"] == "PM" else 0)


_PLAIN: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?", re.ASCII
)


def _plain(text: str, digits: int) -> int | None:
    """Return the time that a text is as java.sql reads it: days that a month does not have are of the next one."""
    found = _PLAIN.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    seconds = (hour * 60 + minute) * 60 + second
    day_of = day_number(max(year, 1), month, 1) + day - 1
    return _in_parts(day_of * 86_400 + seconds, found.group(7), digits)


def _read_time(digits: str) -> VectorFunction:
    return by_row(partial(read, digits=int(digits)), ("VARCHAR", "VARCHAR"), "BIGINT", pa.int64())


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "formatted": lambda: by_row(formatted, ("BIGINT", "INTEGER", "VARCHAR"), "VARCHAR", pa.string()),
    "read_time": _read_time,
}
