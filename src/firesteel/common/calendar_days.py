"""Days of the calendar by number, as Java counts them: of any year, from 1970 on."""

from __future__ import annotations

import datetime as dt
from calendar import isleap
from typing import Final

_EPOCH: Final = dt.date(1970, 1, 1).toordinal()
_LONG_MONTHS: Final = frozenset({1, 3, 5, 7, 8, 10, 12})
_FEBRUARY: Final = 2
_CYCLE_YEARS: Final = 400
_CYCLE_DAYS: Final = 146_097
"""The days of 400 years, after which the calendar repeats itself."""

_DAY_NANOS: Final = 86_400_000_000_000


def day_number(year: int, month: int, day: int) -> int:
    """Return the days from 1970 of a date, of any year.

    Raises ValueError for a date that does not exist.

    >>> day_number(1970, 1, 2), day_number(0, 1, 1), day_number(10000, 1, 1)
    (1, -719528, 2932897)
    """
    cycles, rest = divmod(year, _CYCLE_YEARS)
    ordinal = dt.date(rest + _CYCLE_YEARS, month, day).toordinal()
    return ordinal + (cycles - 1) * _CYCLE_DAYS - _EPOCH


def last_day(year: int, month: int) -> int:
    """Return the number of days of a month."""
    if month == _FEBRUARY:
        return 29 if isleap(year) else 28
    return 31 if month in _LONG_MONTHS else 30


def day_or_last(year: int, month: int, day: int) -> int:
    """Return the days from 1970 of a date whose day is the month's last one if the month does not have it.

    Raises ValueError for a month that does not exist, and for a day that no month has.

    >>> day_or_last(1970, 2, 31) == day_number(1970, 2, 28)
    True
    """
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise ValueError(f"there is no day {day} of a month {month}")
    return day_number(year, month, min(day, last_day(year, month)))


def wall_clock(days: int, nanos: int) -> int:
    """Return the nanoseconds from 1970 of a day and of the nanoseconds since its beginning."""
    return days * _DAY_NANOS + nanos


def cut(nanos: int, precision: int) -> int:
    """Return nanoseconds without the digits of a second beyond a precision.

    >>> cut(1_234_567_891, 3), cut(-1, 0)
    (1234000000, -1000000000)
    """
    unit: int = 10 ** (9 - precision)
    return nanos // unit * unit
