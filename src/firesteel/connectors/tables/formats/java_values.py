"""Texts as Java and Flink read them, one by one; the values are those that columns store.

Each function raises ValueError for a text that Java does not read.
"""

from __future__ import annotations

import datetime as dt
import re
from calendar import monthrange
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

_WHOLE: Final = re.compile(r"[+-]?\d+", re.ASCII)
_FLOAT: Final = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX](?:[\da-fA-F]+\.?[\da-fA-F]*|\.[\da-fA-F]+)[pP][+-]?\d+[fFdD]?")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_LOOSE_DATE: Final = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)", re.ASCII)
_CLOCK: Final = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{0,9}))?", re.ASCII)
_ISO_CLOCK: Final = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?", re.ASCII)
_MIDNIGHT: Final = re.compile(r"24:00(?::00(?:\.0*)?)?")
"""The end of a day: of a time of the day alone Java makes its beginning."""

_EPOCH: Final = dt.date(1970, 1, 1).toordinal()
_DIGITS: Final = Context(prec=200, rounding=ROUND_HALF_UP)
_DAY_NANOS: Final = 86_400_000_000_000
_MOST_DIGITS: Final = 38
_MOST_DAYS: Final = 31
_MOST_MONTHS: Final = 12


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


def floating(text: str) -> float:
    """Return a floating-point number (Java: Double.parseDouble).

    >>> floating(" 1e400 "), floating("1d"), floating("-0")
    (inf, 1.0, -0.0)
    """
    stripped = text.strip()
    if _HEXADECIMAL.fullmatch(stripped):
        return float.fromhex(stripped.rstrip("fFdD") if stripped[-1] in "fFdD" else stripped)
    if not _FLOAT.fullmatch(stripped):
        raise ValueError(f"{text!r} is no number")
    if stripped.endswith(("NaN", "Infinity")):
        return float(stripped)
    return float(stripped.rstrip("fFdD"))


def decimal(text: str) -> Decimal:
    """Return a decimal number (Java: BigDecimal)."""
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return Decimal(text)


def fitted(number: Decimal, precision: int, scale: int) -> Decimal | None:
    """Return a number rounded half up to `scale`; None if it then has more digits than `precision`.

    >>> fitted(Decimal("1.005"), 3, 2), fitted(Decimal("99.995"), 4, 2)
    (Decimal('1.01'), None)
    """
    if number.adjusted() > _MOST_DIGITS:
        return None
    rounded = number.quantize(Decimal(1).scaleb(-scale), context=_DIGITS)
    return rounded if len(rounded.as_tuple().digits) <= precision else None


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
    if match is None or not 1 <= int(match[3]) <= _MOST_DAYS or not 1 <= int(match[2]) <= _MOST_MONTHS:
        raise ValueError(f"{text!r} is no date")
    year, month = int(match[1]), int(match[2])
    return dt.date(year, month, min(int(match[3]), monthrange(year, month)[1])).toordinal() - _EPOCH


def loose_date(text: str) -> int:
    """Return the days since 1970 of a date whose month and day may have one digit (Java: java.sql.Date.valueOf).

    Days that the month lacks are those of the next one.

    >>> loose_date("1970-2-30") - loose_date("1970-03-01")
    1
    """
    match = _LOOSE_DATE.fullmatch(text)
    if match is None or not 1 <= int(match[3]) <= _MOST_DAYS:
        raise ValueError(f"{text!r} is no date")
    return dt.date(int(match[1]), int(match[2]), 1).toordinal() - _EPOCH + int(match[3]) - 1


def sql_clock(text: str) -> int:
    """Return the nanoseconds of a time of the day such as 03:04:05.123 (Flink: SQL_TIME_FORMAT)."""
    return _nanos(text, _CLOCK)


def iso_clock(text: str) -> int:
    """Return the nanoseconds of a time of the day whose seconds may be left out (Java: ISO_LOCAL_TIME)."""
    return _nanos(text, _ISO_CLOCK)


def timestamp_nanos(days: int, nanos: int) -> int:
    """Return the nanoseconds since 1970 of a day and a time of the day."""
    return days * _DAY_NANOS + nanos


def in_unit(nanos: int, precision: int, unit: int) -> int:
    """Return nanoseconds in a unit of `unit` nanoseconds, cut to `precision` digits of a second.

    >>> in_unit(1_234_567_891, 3, 1_000)
    1234000
    """
    step = int(10 ** (9 - precision))
    number = nanos // step * step // unit
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError("the time is too far from 1970 for a type with more than 6 digits of a second")
    return number


def _days(text: str, pattern: re.Pattern[str]) -> int:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no date")
    return dt.date(int(match[1]), int(match[2]), int(match[3])).toordinal() - _EPOCH


def _nanos(text: str, pattern: re.Pattern[str]) -> int:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no time of the day")
    if _MIDNIGHT.fullmatch(text):
        return _DAY_NANOS
    time = dt.time(int(match[1]), int(match[2]), int(match[3] or 0))
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return seconds * 1_000_000_000 + int((match[4] or "").ljust(9, "0"))
