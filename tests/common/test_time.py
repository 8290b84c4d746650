from __future__ import annotations

import pickle
from typing import Any

import pytest

from firesteel.common import Duration, Instant, Time
from firesteel.common.constants import MAX_LONG_VALUE, MIN_LONG_VALUE
from firesteel.common.errors import ProgramError
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK


def test_durations() -> None:
    assert (
        Duration.of_days(1)
        == Duration.of_hours(24)
        == Duration.of_minutes(1440)
        == Duration.of_seconds(86400)
    )
    assert Duration.of_millis(1) == Duration.of_nanos(1_000_000)
    assert hash(Duration.of_millis(1)) == hash(Duration.of_nanos(1_000_000))
    assert Duration.of_nanos(-1_500_000).to_millis() == -1
    assert Duration.of_seconds(1) != Time.seconds(1)
    assert pickle.loads(pickle.dumps(Duration.of_nanos(7))) == Duration.of_nanos(7)
    assert (repr(Duration.of_seconds(1)), repr(Duration.of_nanos(1))) == (
        "Duration.of_millis(1000)",
        "Duration.of_nanos(1)",
    )


@pytest.mark.parametrize("amount", [1.5, "1", None, True])
def test_durations_are_whole(amount: Any) -> None:
    with pytest.raises(ProgramError, match=r"Duration.of_seconds requires a whole number; got "):
        Duration.of_seconds(amount)


def test_lengths_of_time() -> None:
    assert (
        Time.days(1)
        == Time.hours(24)
        == Time.minutes(1440)
        == Time.seconds(86400)
        == Time.milliseconds(86400000)
    )
    assert Time.seconds(2).to_milliseconds() == 2000
    assert str(Time.seconds(2)) == "2000 ms"
    assert len({Time.seconds(1), Time.milliseconds(1000)}) == 1


@pytest.mark.parametrize("millis", [0, 1, 1500, -1, -1500, 2**40])
def test_instants_keep_milliseconds(millis: int) -> None:
    assert Instant.of_epoch_milli(millis).to_epoch_milli() == millis


def test_instants() -> None:
    assert repr(Instant.of_epoch_milli(-1)) == "Instant<-1, 999000000>"
    assert len({Instant(1, 2), Instant(1, 2), Instant(2, 1)}) == 2


def test_watermarks_span_javas_long() -> None:
    assert (MIN_WATERMARK, MAX_WATERMARK) == (MIN_LONG_VALUE, MAX_LONG_VALUE) == (-(2**63), 2**63 - 1)
