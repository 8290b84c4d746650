"""Time zones."""

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
}
