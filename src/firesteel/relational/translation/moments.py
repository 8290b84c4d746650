"""Days and milliseconds of times in the kernel's SQL, whose whole numbers are divided towards 0 as in Java."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import LocalZonedTimestampType, LogicalType, TimestampType

DAY: Final = 86_400_000
"""The milliseconds of a day."""


def floored(number: str, unit: int) -> str:
    """Return the largest multiple of a unit that is not above a number."""
    return f"({number} - (({number} % {unit}) + {unit}) % {unit})"


def days_text(text: str) -> str:
    """Return the milliseconds from 1970 of a date."""
    return f"(CAST({text} - DATE '1970-01-01' AS BIGINT) * {DAY})"


def millis(text: str, given: LogicalType) -> str:
    """Return the whole milliseconds from 1970 of a timestamp, of which none are above it."""
    assert isinstance(given, TimestampType | LocalZonedTimestampType)
    if given.precision > 6:
        return f"({floored(f'epoch_ns({text})', 1_000_000)} // 1000000)"
    if given.precision > 3:
        return f"({floored(f'epoch_us({text})', 1000)} // 1000)"
    return f"(epoch_us({text}) // 1000)"


def nanos_beyond(text: str, given: LogicalType) -> str:
    """Return the nanoseconds of a timestamp beyond its whole milliseconds."""
    assert isinstance(given, TimestampType | LocalZonedTimestampType)
    if given.precision > 6:
        return f"((epoch_ns({text}) % 1000000 + 1000000) % 1000000)"
    if given.precision > 3:
        return f"((epoch_us({text}) % 1000 + 1000) % 1000 * 1000)"
    return "0"


def epoch_day(text: str, given: LogicalType, exact: bool = False) -> str:
    """Return the day of a timestamp as a DATE; before 1970, Flink takes the following one unless it is `exact`."""
    number = millis(text, given)
    return f"make_date(CAST({floored(number, DAY) if exact else number} // {DAY} AS INTEGER))"


def timestamp_of(number: str, given: LogicalType) -> str:
    """Return the timestamp, of a type, of milliseconds from 1970."""
    assert isinstance(given, TimestampType | LocalZonedTimestampType)
    return (
        f"make_timestamp_ns({number} * 1000000)"
        if given.precision > 6
        else f"make_timestamp({number} * 1000)"
    )
