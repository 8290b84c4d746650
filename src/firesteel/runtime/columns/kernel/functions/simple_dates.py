"""Times written and read by patterns as Java's SimpleDateFormat has them, which is lenient.

It reads the beginning of a text, as many digits as there are, and months and hours beyond the usual ones go on in the
next year or day.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import pyarrow as pa

from firesteel.common.calendar_days import day_number
from firesteel.runtime.columns.kernel.functions.clocks import local_time, zone_of
from firesteel.runtime.columns.kernel.functions.patterns_of_time import (
    DAYS,
    MONTHS,
    Part,
    number_field,
    parts_of,
)
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

_EPOCH: Final = dt.datetime(1970, 1, 1)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_SECONDS_OF_DAY: Final = 86_400
_JULIAN_EPOCH: Final = 2_440_588
_READ: Final = frozenset("yMLdDHhKkmsSaE")


def formatted(millis: int, pattern: str) -> str:
    """Return a wall clock, in milliseconds from 1970, as a pattern says.

    >>> formatted(1_709_210_096_789, "u d/M/yy HH:mm:ss.SSS")
    '4 29/2/24 12:34:56.789'
    """
    wall = _EPOCH + dt.timedelta(milliseconds=millis)
    return "".join(_field(part, wall) if part.letter else part.text for part in parts_of(pattern))


def _field(part: Part, wall: dt.datetime) -> str:
    letter, count = part.letter, len(part.text)
    match letter:
        case "y":
            return f"{wall.year % 100:02}" if count == 2 else f"{wall.year:0{count}}"
        case "M" | "L" if count > 2:
            return MONTHS[wall.month - 1][: 3 if count == 3 else None]
        case "E":
            return DAYS[wall.weekday()][: 3 if count <= 3 else None]
        case "a":
            return "AM" if wall.hour < 12 else "PM"
        case "G":
            return "AD"
        case "M" | "L":
            return f"{wall.month:0{count}}"
        case "u":
            return f"{wall.isoweekday():0{count}}"
        case "S":
            return f"{wall.microsecond // 1000:0{count}}"
    return number_field(part, wall)


@lru_cache(1000)
def _reader(pattern: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return the expression that a text has to begin with, and the letters of its groups."""
    found, letters = [], []
    parts = parts_of(pattern)
    for place, part in enumerate(parts):
        if not part.letter:
            found.append(re.escape(part.text))
            continue
        if part.letter not in _READ:
            raise ComputeError(f"the letter {part.letter!r} in a pattern of times to read is not supported")
        count = len(part.text)
        abutting = place + 1 < len(parts) and bool(parts[place + 1].letter)
        letters.append("word" if part.letter in "ML" and count > 2 else part.letter)
        found.append(("" if abutting else r"[ \t]*") + _group(part.letter, count, abutting))
    return re.compile("".join(found), re.ASCII | re.IGNORECASE | re.DOTALL), tuple(letters)


def _group(letter: str, count: int, abutting: bool) -> str:
    if letter == "a":
        return "(AM|PM)"
    if letter == "E" or (letter in "ML" and count > 2):
        names = DAYS if letter == "E" else MONTHS
        return f"({'|'.join([*names, *(name[:3] for name in names)])})"
    return rf"(?=.{{{count}}})((?>{_of_width(count)}))" if abutting else r"(-?\d{1,18}+)"


def _of_width(count: int) -> str:
    """Return the expression of a number of so many characters at most, blanks before it and its sign included."""
    found = []
    for blanks in range(count):
        width = count - blanks
        signed = rf"-\d{{1,{width - 1}}}|" if width > 1 else ""
        found.append(rf"[ \t]{{{blanks}}}(?:{signed}\d{{1,{width}}})")
    return "|".join(found)


def read(text: str, pattern: str) -> int | None:
    """Return the milliseconds from 1970 of the wall clock that a text begins with; None if it does not.

    >>> read("1970-13-1 rest", "yyyy-MM-dd") == 365 * 86_400_000, read("x", "yyyy")
    (True, None)
    """
    expression, letters = _reader(pattern)
    found = expression.match(text)
    if found is None or not found.end():
        return None
    values = dict(zip(letters, found.groups(), strict=True))
    month = int(values.get("M", values.get("L", 1)))
    if "word" in values:
        month = [name[:3].lower() for name in MONTHS].index(values["word"][:3].lower()) + 1
    year = _year(values.get("y", "1970"), pattern) + (month - 1) // 12
    day = _first_day(year, (month - 1) % 12 + 1) + int(values.get("d", 1)) - 1
    if "D" in values:
        day = _first_day(year, 1) + int(values["D"]) - 1
    seconds = (_hour(values) * 60 + int(values.get("m", 0))) * 60 + int(values.get("s", 0))
    return (day * _SECONDS_OF_DAY + seconds) * 1000 + int(values.get("S", 0))


def _first_day(year: int, month: int) -> int:
    """Return the days from 1970 of the first day of a month, by the Julian calendar before November 1582."""
    if (year, month) > (1582, 10):
        return day_number(year, month, 1)
    shift = (14 - month) // 12
    years = year + 4800 - shift
    of_year = (153 * (month + 12 * shift - 3) + 2) // 5
    return of_year + 365 * years + years // 4 - 32_082 - _JULIAN_EPOCH


def _year(text: str, pattern: str) -> int:
    """Return a year; of two digits, for a pattern of two, it is one from 80 years ago to 20 years from now."""
    if len(text) != 2 or not text.isdigit() or "yyy" in pattern:
        return int(text)
    start = dt.datetime.now(dt.UTC).year - 80
    return start + (int(text) - start) % 100


def _hour(values: dict[str, str]) -> int:
    if "H" in values:
        return int(values["H"])
    if "k" in values:
        return int(values["k"]) % 24
    half = 12 if values.get("a", "").upper() == "PM" else 0
    return int(values.get("h", values.get("K", 0))) % 12 + half


def calendar_instant(local: int, zone: dt.tzinfo) -> int:
    """Return the milliseconds from 1970 of a wall clock in a zone, itself in milliseconds.

    A clock that is shown twice is the later time, unlike that of a timestamp; one that is left out is moved by what was
    left out.
    """
    try:
        wall = _EPOCH + dt.timedelta(milliseconds=local)
    except OverflowError:
        return local
    offsets = [wall.replace(tzinfo=zone, fold=fold).utcoffset() or dt.timedelta() for fold in (0, 1)]
    return local - min(offsets) // _MICROSECOND // 1000


def _lenient_zone(name: str) -> dt.tzinfo:
    """Return a zone by its name; UTC for a name that is none."""
    try:
        return zone_of(name)
    except ComputeError:
        return dt.UTC


def _unix_seconds(zone: str) -> VectorFunction:
    found = zone_of(zone)

    def seconds(text: str, pattern: str) -> int:
        local = read(text, pattern)
        if local is None:
            return -(1 << 63)
        millis = calendar_instant(local, found)
        return abs(millis) // 1000 * (-1 if millis < 0 else 1)

    return by_row(seconds, ("VARCHAR", "VARCHAR"), "BIGINT", pa.int64())


def _of_unix(zone: str) -> VectorFunction:
    found = zone_of(zone)

    def text(seconds: int, pattern: str) -> str:
        return formatted(local_time(seconds * 1_000_000, found) // 1000, pattern)

    return by_row(text, ("BIGINT", "VARCHAR"), "VARCHAR", pa.string())


_USUAL: Final = "yyyy-MM-dd HH:mm:ss"


def _reformatted(text: str, pattern: str) -> str | None:
    local = read(text, _USUAL)
    return None if local is None else formatted(local, pattern)


def _converted(text: str, from_zone: str, to_zone: str) -> str | None:
    local = read(text, _USUAL)
    if local is None:
        return None
    micros = calendar_instant(local, _lenient_zone(from_zone)) * 1000
    return formatted(local_time(micros, _lenient_zone(to_zone)) // 1000, _USUAL)


def _day(text: str, pattern: str) -> int | None:
    local = read(text, pattern)
    return None if local is None else local // (_SECONDS_OF_DAY * 1000)


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "unix_seconds": _unix_seconds,
    "of_unix": _of_unix,
    "reformatted": lambda: by_row(_reformatted, ("VARCHAR", "VARCHAR"), "VARCHAR", pa.string()),
    "zone_converted": lambda: by_row(_converted, ("VARCHAR",) * 3, "VARCHAR", pa.string()),
    "read_day": lambda: by_row(_day, ("VARCHAR", "VARCHAR"), "DATE", pa.date32()),
}
