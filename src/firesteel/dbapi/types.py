"""Types and values of PEP 249: what a column is, and values for parameters."""

from __future__ import annotations

import datetime as dt
from typing import Final

from firesteel.common.logical_types import LogicalTypeFamily, LogicalTypeRoot

_F = LogicalTypeFamily


class TypeObject:
    """Equals the type codes of a family of columns: the names of Flink's types, such as `INTEGER`."""

    def __init__(self, *families: LogicalTypeFamily) -> None:
        self._codes = frozenset(
            root.name for root in LogicalTypeRoot if not root.families.isdisjoint(families)
        )

    def __eq__(self, code: object) -> bool:
        return code is self or code in self._codes

    def __hash__(self) -> int:
        return id(self)


STRING: Final = TypeObject(_F.CHARACTER_STRING)
BINARY: Final = TypeObject(_F.BINARY_STRING)
NUMBER: Final = TypeObject(_F.NUMERIC)
DATETIME: Final = TypeObject(_F.DATETIME)
ROWID: Final = TypeObject()

Binary = bytes
Date = dt.date
Time = dt.time
Timestamp = dt.datetime


def DateFromTicks(ticks: float) -> dt.date:  # noqa: N802 - the name that PEP 249 gives it
    """Return the date of seconds since 1970, in the local time zone."""
    return TimestampFromTicks(ticks).date()


def TimeFromTicks(ticks: float) -> dt.time:  # noqa: N802
    """Return the time of day of seconds since 1970, in the local time zone."""
    return TimestampFromTicks(ticks).time()


def TimestampFromTicks(ticks: float) -> dt.datetime:  # noqa: N802
    """Return the time of seconds since 1970, in the local time zone."""
    return dt.datetime.fromtimestamp(ticks)
