"""The texts of single values of time and of floating point, from the numbers that columns store."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types.intervals import IntervalField
from firesteel.common.time import Instant
from firesteel.common.typeinfo.java_text import instant_text

_SECOND: Final = 1_000_000_000


def months_text(months: int) -> str:
    """Return an interval of months as SQL shows it.

    >>> months_text(14), months_text(-1)
    ('+1-02', '-0-01')
    """
    years, rest = divmod(abs(months), 12)
    return f"{'-' if months < 0 else '+'}{years}-{rest:02}"


def milliseconds_text(milliseconds: int) -> str:
    """Return an interval of days and smaller units as SQL shows it.

    >>> milliseconds_text(93_784_005), milliseconds_text(-1)
    ('+1 02:03:04.005', '-0 00:00:00.001')
    """
    seconds, fraction = divmod(abs(milliseconds), 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"{'-' if milliseconds < 0 else '+'}{days} {hour:02}:{minute:02}:{second:02}.{fraction:03}"


def time_text(milliseconds: int, precision: int) -> str:
    """Return a time of day as SQL shows it: up to `precision` digits of the fraction, zeros at the end left out.

    >>> time_text(45_296_780, 3), time_text(45_296_000, 3), time_text(45_296_780, 0)
    ('12:34:56.78', '12:34:56.0', '12:34:56')
    """
    seconds, fraction = divmod(milliseconds, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    clock = f"{hour:02}:{minute:02}:{second:02}"
    if not precision:
        return clock
    digits = f"{fraction:03}".rstrip("0") or "0"
    return f"{clock}.{digits[:precision]}"


def java_duration_text(milliseconds: int) -> str:
    """Return an interval as java.time.Duration prints it.

    >>> java_duration_text(93_784_005), java_duration_text(-1), java_duration_text(0)
    ('PT26H3M4.005S', 'PT-0.001S', 'PT0S')
    """
    sign = "-" if milliseconds < 0 else ""
    seconds, fraction = divmod(abs(milliseconds), 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    text = f"{sign}{hours}H" if hours else ""
    text += f"{sign}{minute}M" if minute else ""
    if second or fraction or not text:
        digits = f".{fraction:03}".rstrip("0") if fraction else ""
        text += f"{sign}{second}{digits}S"
    return f"PT{text}"


def java_period_text(months: int, start: IntervalField, end: IntervalField) -> str:
    """Return an interval of the units from `start` to `end` as java.time.Period prints it.

    >>> java_period_text(14, IntervalField.YEAR, IntervalField.MONTH)
    'P1Y2M'
    """
    sign = -1 if months < 0 else 1
    years, rest = (0, abs(months)) if start is IntervalField.MONTH else divmod(abs(months), 12)
    if end is IntervalField.YEAR:
        rest = 0
    text = f"{sign * years}Y" if years else ""
    text += f"{sign * rest}M" if rest else ""
    return f"P{text or '0D'}"


def java_instant_text(nanos: int) -> str:
    """Return the nanoseconds from 1970 as java.time.Instant prints them."""
    return instant_text(Instant(*divmod(nanos, _SECOND)))


def java_local_text(nanos: int) -> str:
    """Return the nanoseconds from 1970 of a wall clock as java.time.LocalDateTime prints them.

    >>> java_local_text(60_000_000_000), java_local_text(-1_000_000)
    ('1970-01-01T00:01', '1969-12-31T23:59:59.999')
    """
    text = java_instant_text(nanos)[:-1]
    return text.removesuffix(":00") if nanos % (60 * _SECOND) == 0 else text


def java_time_text(milliseconds: int) -> str:
    """Return the milliseconds since midnight as java.time.LocalTime prints them.

    >>> java_time_text(45_240_000), java_time_text(45_296_780)
    ('12:34', '12:34:56.780')
    """
    return java_local_text(milliseconds * 1_000_000).partition("T")[2]
