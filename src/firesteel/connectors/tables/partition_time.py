"""The time of a partition, from the values in the names of its directories (Flink: DefaultPartTimeExtractor)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.common.zones import java_zone

_WHO: Final = "the partition commit"
_DEFAULT: Final = re.compile(
    r"(?P<y>-?\d{1,10})-(?P<M>\d{1,2})-(?P<d>\d{1,2})"
    r"(?: (?P<H>\d{1,2}):(?P<m>\d{1,2}):(?P<s>\d{1,2})(?:\.(?P<S>\d{1,9}))?)?"
)
_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
_FIELDS: Final = frozenset("yuMdHmsS")


class PartitionTime:
    """Reads a partition's time from its values, in milliseconds since 1970; picklable.

    The text is `pattern` with the values in place of `$name`, or else the first value. It is read by `formatter`, a
    pattern of Java's DateTimeFormatter of numbers, or as `yyyy-MM-dd HH:mm:ss` or `yyyy-MM-dd`, where a month 13 is the
    next year's first. Times are those of `zone`. Raises ConfigurationError for a formatter or a zone that cannot be
    used, ConnectorError for values that are no time.

    >>> PartitionTime("$day $hour:00:00").millis({"day": "1970-01-02", "hour": "3"})
    97200000
    """

    def __init__(self, pattern: str | None = None, formatter: str | None = None, zone: str = "UTC") -> None:
        self._pattern = pattern
        self._expression = _DEFAULT if formatter is None else _compiled(formatter)
        self._lenient = formatter is None
        self._shown = formatter or "yyyy-MM-dd HH:mm:ss"
        self._zone: tzinfo = java_zone(zone, "the option 'sink.partition-commit.watermark-time-zone'")

    def millis(self, values: Mapping[str, str]) -> int:
        """Return the time of a partition with these values."""
        text = self._text(values)
        found = self._expression.fullmatch(text)
        time = None if found is None else _time(found, lenient=self._lenient)
        if time is None:
            raise ConnectorError(
                f"requires a partition whose time is written as {self._shown}",
                who=_WHO,
                got=f"{text!r} for {dict(values)}",
                hint="see the options 'partition.time-extractor.timestamp-pattern' and '...timestamp-formatter'",
            )
        return (time.replace(tzinfo=self._zone) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
            milliseconds=1
        )

    def _text(self, values: Mapping[str, str]) -> str:
        if self._pattern is None:
            return next(iter(values.values()))
        text = self._pattern
        for name, value in values.items():
            text = text.replace(f"${name}", value)
        return text


def _time(found: re.Match[str], *, lenient: bool) -> datetime | None:
    given = {name: int(text) for name, text in found.groupdict().items() if text and name != "S"}
    fraction = found.groupdict().get("S") or ""
    month, day = given.get("M", 1) - 1, given.get("d", 1) - 1
    try:
        if not lenient:
            datetime(given["y"], month + 1, day + 1, given.get("H", 0), given.get("m", 0), given.get("s", 0))
        first = datetime(given["y"] + month // 12, month % 12 + 1, 1)
    except (ValueError, OverflowError):
        return None
    return first + timedelta(
        days=day,
        hours=given.get("H", 0),
        minutes=given.get("m", 0),
        seconds=given.get("s", 0),
        microseconds=int(fraction.ljust(6, "0")[:6]),
    )


def _compiled(formatter: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern of Java's: numbers, quoted text, and other characters."""
    pieces: list[str] = []
    position = 0
    while position < len(formatter):
        match = _TOKEN.match(formatter, position)
        if match is None or (match[2] and not _is_number(match)):
            raise ConfigurationError(
                "requires a pattern of the fields y, M, d, H, m, s, S and quoted text, with numbers for all of them",
                who="the option 'partition.time-extractor.timestamp-formatter'",
                got=repr(formatter),
            )
        pieces.append(_piece(match))
        position = match.end()
    text = "".join(pieces)
    if "(?P<y>" not in text:
        raise ConfigurationError(
            "requires a pattern with a year",
            who="the option 'partition.time-extractor.timestamp-formatter'",
            got=repr(formatter),
        )
    return re.compile(text)


def _is_number(match: re.Match[str]) -> bool:
    return match[2] in _FIELDS and (match[2] in "yuS" or len(match[0]) <= 2)


def _piece(match: re.Match[str]) -> str:
    if match[1] is not None:
        return re.escape(match[1].replace("''", "'") or "'")
    if match[2] is None:
        return re.escape(match[0])
    name, width = ("y" if match[2] == "u" else match[2]), len(match[0])
    digits = rf"\d{{{width}}}" if width > 1 or name == "S" else r"\d{1,10}" if name == "y" else r"\d{1,2}"
    return rf"(?P<{name}>{digits})"
