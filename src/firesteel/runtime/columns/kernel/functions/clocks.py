"""Time zones, and times as texts of a pattern (Flink: DateTimeUtils; Java: DateTimeFormatter)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row, by_value

_EPOCH: Final = dt.datetime(1970, 1, 1)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_LETTERS: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+", re.DOTALL)
_OFFSET: Final = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2})(?::?(\d{2}))?")


@lru_cache(100)
def zone_of(name: str) -> dt.tzinfo:
    """Return the zone of a name of Java's: a region, or an offset such as GMT+02:00. Raises ComputeError."""
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        delta = dt.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return dt.timezone(-delta if sign == "-" else delta)
    try:
        return ZoneInfo("UTC" if name in ("GMT", "Z") else name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ComputeError(f"there is no time zone {name!r}") from None


def instant(local: int, zone: dt.tzinfo) -> int:
    """Return the microseconds from 1970 of a wall clock in a zone, itself in microseconds.

    As in Java, a clock that is shown twice is the earlier time, and one that is left out is moved by what was left out.
    """
    try:
        wall = _EPOCH + dt.timedelta(microseconds=local)
        offset = wall.replace(tzinfo=zone, fold=0).utcoffset()
    except OverflowError:
        return local
    assert offset is not None
    return local - offset // _MICROSECOND


def local_time(micros: int, zone: dt.tzinfo) -> int:
    """Return what the clock of a zone shows, in microseconds from 1970."""
    try:
        moment = (_EPOCH + dt.timedelta(microseconds=micros)).replace(tzinfo=dt.UTC).astimezone(zone)
    except OverflowError:
        return micros
    offset = moment.utcoffset()
    assert offset is not None
    return micros + offset // _MICROSECOND


def _zoned(function: Callable[[int, dt.tzinfo], int]) -> Callable[[str], VectorFunction]:
    def family(zone: str) -> VectorFunction:
        found = zone_of(zone)
        return by_value(
            lambda value: None if value is None else function(value, found), "BIGINT", "BIGINT", pa.int64()
        )

    return family


@lru_cache(1000)
def _parts(pattern: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of a pattern: letters, and texts between them (with an empty letter)."""
    found, end = [], 0
    for part in _LETTERS.finditer(pattern):
        if part.start() != end:
            raise ComputeError(f"the pattern {pattern!r} has an unfinished quote")
        end = part.end()
        if part.group(2):
            found.append((part.group(2), part.group()))
        elif part.group(1) is not None:
            found.append(("", part.group(1).replace("''", "'") or "'"))
        else:
            found.append(("", part.group()))
    if end != len(pattern):
        raise ComputeError(f"the pattern {pattern!r} has an unfinished quote")
    return tuple(found)


def formatted(nanos: int, pattern: str) -> str:
    """Return a wall clock, in nanoseconds from 1970, as a pattern of Java's DateTimeFormatter says.

    >>> formatted(1_709_210_096_789_000_000, "EEE, d MMM yyyy HH:mm:ss.SSS")
    'Thu, 29 Feb 2024 12:34:56.789'
    """
    wall = _EPOCH + dt.timedelta(microseconds=nanos // 1000)
    return "".join(
        text if not letter else _field(letter, len(text), wall, nanos % 10**9)
        for letter, text in _parts(pattern)
    )


def _field(letter: str, count: int, wall: dt.datetime, nanos: int) -> str:
    match letter:
        case "y" | "u":
            return f"{wall.year % 100:02}" if count == 2 else f"{wall.year:0{count}}"
        case "M" | "L":
            names = _MONTHS[wall.month - 1]
            return f"{wall.month:0{count}}" if count < 3 else names[:3] if count == 3 else names
        case "d":
            return f"{wall.day:0{count}}"
        case "D":
            return f"{wall.timetuple().tm_yday:0{count}}"
        case "E":
            name = _DAYS[wall.weekday()]
            return name[:3] if count <= 3 else name
        case "e":
            return f"{wall.isoweekday() % 7 + 1:0{count}}"
        case "Q":
            return f"{(wall.month + 2) // 3:0{count}}" if count < 3 else f"Q{(wall.month + 2) // 3}"
        case "a":
            return "AM" if wall.hour < 12 else "PM"
        case "H":
            return f"{wall.hour:0{count}}"
        case "h":
            return f"{(wall.hour + 11) % 12 + 1:0{count}}"
        case "K":
            return f"{wall.hour % 12:0{count}}"
        case "k":
            return f"{(wall.hour + 23) % 24 + 1:0{count}}"
        case "m":
            return f"{wall.minute:0{count}}"
        case "s":
            return f"{wall.second:0{count}}"
        case "S":
            return f"{nanos:09}"[:count].ljust(count, "0")
        case "n":
            return f"{nanos:0{count}}"
        case "A":
            return f"{((wall.hour * 60 + wall.minute) * 60 + wall.second) * 1000 + nanos // 10**6:0{count}}"
    raise ComputeError(f"the letter {letter!r} in a pattern of times is not supported")


_READ: Final = {
    "y": "year",
    "u": "year",
    "M": "month",
    "L": "month",
    "d": "day",
    "H": "hour",
    "m": "minute",
    "s": "second",
    "S": "fraction",
    "h": "hour12",
    "a": "half",
}


@lru_cache(1000)
def _reader(pattern: str) -> re.Pattern[str]:
    found = []
    parts = _parts(pattern)
    for place, (letter, text) in enumerate(parts):
        if not letter:
            found.append(re.escape(text))
            continue
        name = _READ.get(letter)
        if name is None:
            raise ComputeError(f"the letter {letter!r} in a pattern of times to read is not supported")
        adjacent = place + 1 < len(parts) and bool(parts[place + 1][0])
        found.append(_digits_of(name, len(text), adjacent))
    return re.compile("".join(found))


def _digits_of(name: str, count: int, adjacent: bool) -> str:
    if name == "half":
        return "(?P<half>[AaPp][Mm])"
    if name == "month" and count >= 3:
        words = [month[:3] if count == 3 else month for month in _MONTHS]
        return f"(?P<word>{'|'.join(words)})"
    digits = f"{{{count}}}" if count > 1 or adjacent else "{1,19}"
    if name == "year" and count == 4 and not adjacent:
        digits = "{4,19}"
    return rf"(?P<{name}>\d{digits})"


def read(text: str, pattern: str) -> int:
    """Return the nanoseconds from 1970 of a wall clock that is written as a pattern says. Raises ComputeError."""
    found = _reader(pattern).fullmatch(text)
    if found is None:
        raise ComputeError(f"{text!r} is not written as {pattern!r}")
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    year = int(parts.get("year", 1970))
    if len(parts.get("year", "1970")) == 2:
        year += 2000
    month = int(parts.get("month", 1))
    if "word" in parts:
        month = [name[:3] for name in _MONTHS].index(parts["word"][:3]) + 1
    hour = int(parts.get("hour", 0))
    if "hour12" in parts:
        hour = int(parts["hour12"]) % 12 + (12 if parts.get("half", "am").lower() == "pm" else 0)
    try:
        wall = dt.datetime(
            year,
            month,
            int(parts.get("day", 1)),
            hour,
            int(parts.get("minute", 0)),
            int(parts.get("second", 0)),
        )
    except ValueError:
        raise ComputeError(f"{text!r} is no time") from None
    fraction = int(parts.get("fraction", "0")[:9].ljust(9, "0"))
    return (wall - _EPOCH) // _MICROSECOND * 1000 + fraction


def attempted_read(text: str, pattern: str) -> int | None:
    """Return what `read` returns, None where it raises."""
    try:
        return read(text, pattern)
    except ComputeError:
        return None


def _family(
    function: Callable[..., Any], result: str, arrow: pa.DataType, *parameters: str
) -> Callable[[], VectorFunction]:
    return lambda: by_row(function, parameters, result, arrow)


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "instant": _zoned(instant),
    "local_time": _zoned(local_time),
    "instant_of": _family(
        lambda local, zone: instant(local, zone_of(zone)), "BIGINT", pa.int64(), "BIGINT", "VARCHAR"
    ),
    "local_time_of": _family(
        lambda micros, zone: local_time(micros, zone_of(zone)), "BIGINT", pa.int64(), "BIGINT", "VARCHAR"
    ),
    "formatted": _family(formatted, "VARCHAR", pa.string(), "BIGINT", "VARCHAR"),
    "read_time": _family(attempted_read, "BIGINT", pa.int64(), "VARCHAR", "VARCHAR"),
}
