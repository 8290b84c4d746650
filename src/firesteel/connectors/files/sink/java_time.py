"""Java's date and time patterns (java.time.format.DateTimeFormatter)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from firesteel.common.errors import ConfigurationError

_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_NUMBERS: Final[dict[str, Callable[[datetime], int]]] = {
    "d": lambda time: time.day,
    "D": lambda time: time.timetuple().tm_yday,
    "H": lambda time: time.hour,
    "k": lambda time: time.hour or 24,
    "K": lambda time: time.hour % 12,
    "h": lambda time: time.hour % 12 or 12,
    "m": lambda time: time.minute,
    "s": lambda time: time.second,
}


class JavaTimePattern:
    """A pattern such as `yyyy-MM-dd--HH` or `yyyy/'week of' MMM`; English names; no week-based fields.

    Raises ConfigurationError for an unknown letter and for an open quote.

    >>> JavaTimePattern("yy-M-dd'T'HH:mm:ss.SSS E a").format(1_000_000_123, UTC)
    '70-1-12T13:46:40.123 Mon PM'
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._pieces: list[str | Callable[[datetime], str]] = []
        position = 0
        while position < len(pattern):
            match = _TOKEN.match(pattern, position)
            if match is None:
                raise _unusable(pattern, "a quote that is not closed")
            self._pieces.append(self._piece(match))
            position = match.end()

    def _piece(self, match: re.Match[str]) -> str | Callable[[datetime], str]:
        if match[1] is not None:
            return match[1].replace("''", "'") or "'"
        if match[2] is None:
            return match[0]
        return _field(self.pattern, match[2], len(match[0]))

    def format(self, millis: int, zone: tzinfo | None) -> str:
        """Return the text of a time in milliseconds since the epoch, in a zone (None: this machine's)."""
        utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
        time = utc.astimezone(zone)
        return "".join(piece if isinstance(piece, str) else piece(time) for piece in self._pieces)

    def __reduce__(self) -> tuple[type[JavaTimePattern], tuple[str]]:
        return JavaTimePattern, (self.pattern,)


def _field(pattern: str, letter: str, width: int) -> Callable[[datetime], str]:
    if letter in _NUMBERS:
        number = _NUMBERS[letter]
        return lambda time: f"{number(time):0{width}d}"
    if letter in "yu":
        return lambda time: f"{time.year % 100:02d}" if width == 2 else f"{time.year:0{width}d}"
    if letter in "ML" and width <= 4:
        return lambda time: _named(_MONTHS[time.month - 1], time.month, width)
    if letter in "Qq" and width <= 2:
        return lambda time: f"{(time.month + 2) // 3:0{width}d}"
    if letter == "E" and width <= 4:
        return lambda time: _DAYS[time.weekday()][: None if width == 4 else 3]
    if letter == "a" and width == 1:
        return lambda time: "AM" if time.hour < 12 else "PM"
    if letter == "S" and width <= 9:
        return lambda time: f"{time.microsecond:06d}000"[:width]
    if letter == "Z" and width <= 3:
        return lambda time: time.strftime("%z")[:5]
    raise _unusable(pattern, f"the field {letter * width!r}")


def _named(name: str, number: int, width: int) -> str:
    if width <= 2:
        return f"{number:0{width}d}"
    return name if width == 4 else name[:3]


def _unusable(pattern: str, got: str) -> ConfigurationError:
    return ConfigurationError(
        "requires a pattern of years, months, days, hours, minutes, seconds and quoted text",
        who=f"the date-time pattern {pattern!r}",
        got=got,
    )
