"""Local times of zones, and what watermark they wait for, as Flink's TimeWindowUtil has it."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from firesteel.runtime.columns.times import instant, local_time, local_times, over_until, timer_time

LOS_ANGELES = "America/Los_Angeles"
SPRING = 1615708800000
"""2021-03-14 00:00 in Los Angeles: two hours later the clock jumps from 2 to 3."""

AUTUMN = 1636268400000
"""2021-11-07 00:00 in Los Angeles: two hours later the clock goes back from 2 to 1."""

HOUR = 3_600_000


def local(text: str) -> int:
    return int(dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2021-03-14T00:00:00", SPRING),
        ("2021-03-14T01:00:00", SPRING + HOUR),
        ("2021-03-14T02:00:00", SPRING + 2 * HOUR),
        ("2021-03-14T02:59:59", SPRING + 2 * HOUR),
        ("2021-03-14T03:00:00", SPRING + 2 * HOUR),
        ("2021-03-14T04:00:00", SPRING + 3 * HOUR),
        ("2021-11-07T00:00:00", AUTUMN),
        ("2021-11-07T01:00:00", AUTUMN + 2 * HOUR),
        ("2021-11-07T02:00:00", AUTUMN + 3 * HOUR),
    ],
)
def test_timers_of_local_times(time: str, expected: int) -> None:
    assert timer_time(local(time), LOS_ANGELES) == expected


@pytest.mark.parametrize("zone", ["UTC", LOS_ANGELES, "Asia/Shanghai", "GMT+08:00", "Australia/Lord_Howe"])
@pytest.mark.parametrize("around", [SPRING, AUTUMN, 0, -HOUR])
def test_windows_are_over_when_their_timer_is_due(zone: str, around: int) -> None:
    for progress in range(around - 5 * HOUR + 7, around + 5 * HOUR, HOUR // 4):
        until = over_until(progress, zone)
        assert timer_time(until - 1, zone) <= progress < timer_time(until, zone)


@pytest.mark.parametrize("zone", [LOS_ANGELES, "Europe/Berlin", "Asia/Kolkata", "+05:30"])
def test_local_times_and_back(zone: str) -> None:
    times = np.arange(SPRING - 7, SPRING + 300 * 24 * HOUR, 13 * HOUR)
    there = local_times(times, zone)
    assert [local_time(time, zone) for time in times.tolist()] == there.tolist()
    back = np.array([instant(time, zone) for time in there.tolist()])
    assert set((times - back).tolist()) <= {0, HOUR}
