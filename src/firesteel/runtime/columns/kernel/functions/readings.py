"""Texts to dates and times, as Flink's casts read them (Flink: DateTimeUtils; Java: DateTimeFormatter)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from firesteel.common.calendar_days import cut, day_number, day_or_last, last_day, wall_clock
from firesteel.common.java_numbers import BLANKS
from firesteel.runtime.columns.kernel.functions.parsing import reader, refusal
from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction

_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_STAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{1,2})?-([0-9]{1,2})?"
    r"(?: ([0-9]{1,2})?:([0-9]{1,2})?:([0-9]{1,2})?(?:\.([0-9]{0,9}))?)?"
)
_DAY: Final = 86_400_000
_SECOND: Final = 1_000_000_000


def _number(text: str, whole: str, kind: str) -> int:
    trimmed = text.strip(BLANKS)
    if _WHOLE.fullmatch(trimmed) is None:
        raise refusal(whole, kind)
    return int(trimmed)


def date(text: str) -> int:
    """Return the days from 1970 of the date before the first blank; what is left out of it is 1.

    >>> date("2024-2-9") == date("2024-02-09 12:00:00"), date("1970")
    (True, 0)
    """
    head = text.partition(" ")[0] if text.find(" ") > 0 else text
    year, month, day = [*(_number(part, text, "DATE") for part in head.split("-", 2)), 1, 1][:3]
    if year > 9999 or not 1 <= month <= 12 or not 1 <= day <= last_day(year, month):
        raise refusal(text, "DATE")
    return day_number(year, month, day)


def clock(text: str) -> int:
    """Return the milliseconds since midnight of a text; what stands after a sign is added or subtracted.

    >>> clock("12:34:56.5"), clock("1:2") == clock("01:02:00"), clock("12:00:00+02:30") == clock("14:30")
    (45296500, True, True)
    """
    start = text.find("-")
    sign = 1 if start < 0 else -1
    start = text.find("+") if start < 0 else start
    head, zone = (text, "0") if start < 0 else (text[:start], text[start + 1 :])
    if head.count(":") < 2 and ":" in zone:
        raise refusal(text, "TIME")
    hour, minute, second = [*head.split(":", 2), "0", "0"][:3]
    second, _, fraction = second.partition(".")
    numbers = [_number(part, text, "TIME") for part in (hour, minute, second)]
    if numbers[0] > 23 or max(numbers[1:]) > 59:
        raise refusal(text, "TIME")
    moved = [*(sign * _number(part, text, "TIME") for part in zone.split(":", 1)), 0]
    minutes = (numbers[0] + moved[0]) * 60 + numbers[1] + moved[1]
    return ((minutes * 60 + numbers[2]) * 1000 + _milliseconds(fraction.strip(BLANKS))) % _DAY


def _milliseconds(fraction: str) -> int:
    """Return the milliseconds of a fraction, rounded by its fourth digit; other characters count as 0."""
    digits = "".join(digit if digit in "0123456789" else "0" for digit in fraction)
    return int(digits[:3].ljust(3, "0")) + (digits[3:4] >= "5")


def timestamp(text: str) -> int:
    """Return the nanoseconds from 1970 of a wall clock; a day that the month does not have is its last one.

    >>> timestamp("1970-1-1 0:0:1.5"), timestamp("2023-02-29") == timestamp("2023-02-28")
    (1500000000, True)
    """
    found = _STAMP.fullmatch(text)
    if found is None:
        raise refusal(text, "TIMESTAMP")
    year, month, day = (int(part or 1) for part in found.group(1, 2, 3))
    hour, minute, second = (int(part or 0) for part in found.group(4, 5, 6))
    fraction = int((found.group(7) or "").ljust(9, "0"))
    midnight = (hour, minute, second, fraction) == (24, 0, 0, 0)
    is_date = year > 0 and 1 <= month <= 12 and 1 <= day <= 31
    if not is_date or minute > 59 or second > 59 or (hour > 23 and not midnight):
        raise refusal(text, "TIMESTAMP")
    seconds = (hour * 60 + minute) * 60 + second
    return wall_clock(day_or_last(year, month, day), seconds * _SECOND + fraction)


def _to_date(tried: str = "") -> VectorFunction:
    return reader(date, tried, "DATE", pa.date32())


def _to_time(precision: str, tried: str = "") -> VectorFunction:
    unit = 10 ** max(3 - int(precision), 0)
    return reader(lambda text: clock(text) // unit * unit, tried, "INTEGER", pa.int32())


def _to_timestamp(precision: str, tried: str = "") -> VectorFunction:
    """Return what reads timestamps as nanoseconds or, of up to six digits, microseconds."""
    digits = int(precision)
    unit = 1 if digits > 6 else 1000

    def number(text: str) -> int:
        value = cut(timestamp(text), digits) // unit
        if not -(1 << 63) <= value < 1 << 63:
            raise ComputeError(f"{text!r} is beyond the years that TIMESTAMP({precision}) has")
        return value

    return reader(number, tried, "BIGINT", pa.int64())


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "text_to_date": _to_date,
    "text_to_time": _to_time,
    "text_to_timestamp": _to_timestamp,
}
