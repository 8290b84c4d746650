"""Columns of times as numbers of milliseconds, and the local time of a zone.

Windows are computed on local times: milliseconds since 1970 on a clock without a zone. For a TIMESTAMP column these are
its values; a TIMESTAMP_LTZ is first shifted to the session's zone, as in Flink (`TimeWindowUtil`). Watermarks are
never shifted, so `timer_time` says which watermark a local time waits for.
"""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ProgramError
from firesteel.common.time import MAX_WATERMARK
from firesteel.common.zones import java_zone
from firesteel.functions.columns.windows import WindowAssignment
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.state.arrangements.columns import numbers

Times = npt.NDArray[np.int64]
"""Times in milliseconds."""

_PER_MILLISECOND: Final = {"us": 1_000, "ns": 1_000_000}
_HOUR: Final = 3_600_000
_MOST_SHIFT: Final = 4 * _HOUR
"""More than a clock is ever changed by."""

_FIRST_DATE: Final = -62_000_000_000_000
_LAST_DATE: Final = 253_000_000_000_000
"""Within the years 1 to 9999, which dates of zones are known for."""

_EPOCH: Final = dt.datetime(1970, 1, 1)
_INSTANT: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)


def milliseconds(column: pa.Array) -> Times:
    """Return the milliseconds of a column of timestamps without NULL, rounded down.

    >>> milliseconds(pa.array([1_999, -1], pa.timestamp("us"))).tolist()
    [1, -1]
    """
    factor = _PER_MILLISECOND.get(getattr(column.type, "unit", "ms"), 1)
    values = numbers(column)
    return values if factor == 1 else values // factor


def present_times(batch: ColumnBatch, place: int, who: str) -> Times:
    """Return the milliseconds of a time attribute. Raises ProgramError for NULL."""
    return milliseconds(present_column(batch, place, who))


def present_column(batch: ColumnBatch, place: int, who: str) -> pa.Array:
    """Return the column of a time attribute. Raises ProgramError for NULL."""
    column = batch.rows.column(place)
    if column.null_count:
        raise ProgramError(
            "requires that the time attribute is not NULL",
            who=who,
            got=f"a row whose column {batch.rows.schema.names[place]!r} is NULL",
            hint="filter out such rows, or compute the column with COALESCE",
        )
    return column


def times_of(batch: ColumnBatch, window: WindowAssignment, processing_time: int, who: str) -> Times:
    """Return the local time of each row: that of its time attribute, or the processing time.

    Raises ProgramError for a time attribute that is NULL, as Flink does.
    """
    if not window.event_time:
        return local_times(np.full(len(batch), processing_time), window.zone)
    assert window.time is not None
    return local_times(present_times(batch, window.time, who), window.zone)


def timestamps(times: Times, kind: pa.DataType) -> pa.Array:
    """Return times as a column of type `kind`, a timestamp.

    >>> timestamps(np.array([1_500]), pa.timestamp("us")).cast(pa.int64()).to_pylist()
    [1500000]
    """
    return pa.array(times * _PER_MILLISECOND.get(kind.unit, 1)).view(kind)


def local_times(times: Times, zone: str) -> Times:
    """Return points on the time line as local times of a zone.

    >>> local_times(np.array([0]), "Asia/Shanghai").tolist()
    [28800000]
    """
    if zone == "UTC":
        return times
    fixed = _zone(zone).utcoffset(None)
    if fixed is not None:
        return times + fixed // _MILLISECOND
    instants = pa.array(times).view(pa.timestamp("ms", zone))
    return numbers(pc.local_timestamp(instants))


def local_time(time: int, zone: str) -> int:
    """Return a point on the time line as the local time of a zone."""
    return int(local_times(np.array([time]), zone)[0])


def instant(time: int, zone: str) -> int:
    """Return the point on the time line of a local time.

    Of two points it is the earlier one. A time that the zone leaves out moves on by what is left out, as in Java.
    """
    if zone == "UTC":
        return time
    local = (_EPOCH + time * _MILLISECOND).replace(tzinfo=_zone(zone))
    return (local - _INSTANT) // _MILLISECOND


def instants(times: Times, zone: str) -> Times:
    """Return the point on the time line of each local time, as `instant` does."""
    if zone == "UTC":
        return times
    values, places = np.unique(times, return_inverse=True)
    found = np.fromiter((instant(value, zone) for value in values.tolist()), np.int64, len(values))
    return found[places]


def timer_time(time: int, zone: str) -> int:
    """Return the watermark at which a local time is over, as Flink's `toEpochMillsForTimer` has it.

    A time that occurs twice is over when it is so for the second time, one that is left out when the clock jumps.

    >>> timer_time(5, "UTC"), timer_time(28_800_005, "Asia/Shanghai")
    (5, 5)
    """
    if zone == "UTC" or time == MAX_WATERMARK:
        return time
    first = instant(time, zone)
    if not _changes_clocks(zone):
        return first
    distance = instant(time + _HOUR, zone) - first
    if distance == 0:
        return first - first % _HOUR
    return first + _HOUR if distance > _HOUR else first


def over_until(progress: int, zone: str) -> int:
    """Return the largest local time that windows may end at and be over, once time has progressed so far.

    >>> over_until(9, "UTC"), over_until(9, "Asia/Shanghai")
    (10, 28800010)
    """
    if zone == "UTC" or not _FIRST_DATE < progress < _LAST_DATE:
        return min(progress, MAX_WATERMARK - 1) + 1
    near = local_time(progress, zone)
    low, high = near - _MOST_SHIFT, near + _MOST_SHIFT
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if timer_time(middle - 1, zone) <= progress else (low, middle)
    return low


@lru_cache(64)
def _zone(name: str) -> dt.tzinfo:
    return java_zone(name, "the session's time zone")


@lru_cache(64)
def _changes_clocks(zone: str) -> bool:
    """Return whether a zone has summer time today."""
    year = dt.datetime.now(dt.UTC).year
    months = (dt.datetime(year, month, 15, tzinfo=_zone(zone)) for month in range(1, 13))
    return len({moment.utcoffset() for moment in months}) > 1
