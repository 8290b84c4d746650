"""Texts as Java and Flink read them, one by one; the values are those that columns store.

Each function raises ValueError for a text that Java does not read.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import Final

from firesteel.common.calendar_days import cut, day_number, day_or_last

_WHOLE: Final = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DATE: Final = re.compile(r"(?!0000)(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_LOOSE_DATE: Final = re.compile(r"(?!0000)(\d{4})-(\d\d?)-(\d\d?)", re.ASCII)
_CLOCK: Final = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{0,9}))?", re.ASCII)
_ISO_CLOCK: Final = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?", re.ASCII)
_MIDNIGHT: Final = re.compile(r"24:00(?::00(?:\.0*)?)?")
"""The end of a day: of a time of the day alone Java makes its beginning."""

_DAY_NANOS: Final = 86_400_000_000_000
_MOST_DAYS: Final = 31


def whole(text: str, bits: int) -> int:
    """Return a whole number of so many bits (Java: Integer.parseInt).

    >>> whole("+07", 8)
    7
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} is no whole number")
    return in_range(int(text), bits)


def in_range(number: int, bits: int) -> int:
    """Return a number that fits so many bits."""
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"{number} has more than {bits} bits")
    return number


def decimal(text: str) -> Decimal:
    """Return a decimal number (Java: BigDecimal)."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return Decimal(text)


def iso_date(text: str) -> int:
    """Return the days since 1970 of a date such as 2020-01-31 (Java: ISO_LOCAL_DATE).

    >>> iso_date("1970-01-02")
    1
    """
    return _days(text, _DATE)


def lenient_date(text: str) -> int:
    """Return the days since 1970 of a date within a timestamp: a day that the month lacks is its last one, as in Java.

    >>> lenient_date("1970-02-31") - iso_date("1970-02-28")
    0
    """
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no date")
    return day_or_last(int(match[1]), int(match[2]), int(match[3]))


def loose_date(text: str) -> int:
    """Return the days since 1970 of a date whose month and day may have one digit (Java: java.sql.Date.valueOf).

    Days that the month lacks are those of the next one.

    >>> loose_date("1970-2-30") - loose_date("1970-03-01")
    1
    """
    match = _LOOSE_DATE.fullmatch(text)
    if match is None or not 1 <= int(match[3]) <= _MOST_DAYS:
        raise ValueError(f"{text!r} is no date")
    return day_number(int(match[1]), int(match[2]), 1) + int(match[3]) - 1


def sql_clock(text: str) -> int:
    """Return the nanoseconds of a time of the day such as 03:04:05.123 (Flink: SQL_TIME_FORMAT)."""
    return _nanos(text, _CLOCK)


def iso_clock(text: str) -> int:
    """Return the nanoseconds of a time of the day whose seconds may be left out (Java: ISO_LOCAL_TIME)."""
    return _nanos(text, _ISO_CLOCK)


def in_unit(nanos: int, precision: int, unit: int) -> int:
    """Return nanoseconds in a unit of `unit` nanoseconds, cut to `precision` digits of a second.

    >>> in_unit(1_234_567_891, 3, 1_000)
    1234000
    """
    number = cut(nanos, precision) // unit
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError("the time is too far from 1970 for a type with more than 6 digits of a second")
    return number


def _days(text: str, pattern: re.Pattern[str]) -> int:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no date")
    return day_number(int(match[1]), int(match[2]), int(match[3]))


def _nanos(text: str, pattern: re.Pattern[str]) -> int:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no time of the day")
    if _MIDNIGHT.fullmatch(text):
        return _DAY_NANOS
    time = dt.time(int(match[1]), int(match[2]), int(match[3] or 0))
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return seconds * 1_000_000_000 + int((match[4] or "").ljust(9, "0"))
