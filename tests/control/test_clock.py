"""The times a job goes by, whatever is done to the machine's clock."""

from __future__ import annotations

import logging

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firesteel.control.clock import JobTime, Moment, ProcessingTime, SteadyTime
from firesteel.testing import ManualClock

HOUR = 3_600_000
moves = st.lists(
    st.one_of(
        st.tuples(st.just("advance"), st.integers(1, 5000)),
        st.tuples(st.just("set"), st.integers(0, 2_000_000)),
    ),
    max_size=30,
)


@given(moves)
def test_steady_time_is_what_has_passed(steps):
    clock = ManualClock(1_000_000)
    steady, passed = SteadyTime(clock), 0
    for act, amount in steps:
        getattr(clock, act)(amount)
        passed += amount if act == "advance" else 0
        assert steady.now() == 1_000_000 + passed


@given(moves)
@example([("set", 995_000), ("advance", 5000)])
def test_processing_time_never_goes_back_never_stands_still_and_follows_the_wall_clock(steps):
    clock = ManualClock(1_000_000)
    time = ProcessingTime(clock)
    before = time.now()
    for act, amount in steps:
        getattr(clock, act)(amount)
        now = time.now()
        assert now >= max(before, clock.now())
        if act == "advance":
            assert now >= before + amount // 2
        before = now


def test_small_steps_add_up_while_the_wall_clock_is_behind():
    clock = ManualClock(HOUR)
    time = ProcessingTime(clock)
    assert time.now() == HOUR
    clock.set(0)
    for _ in range(1000):
        clock.advance(1)
        time.now()
    assert time.now() == HOUR + 500


def test_the_wall_clock_catches_up():
    clock = ManualClock(10_000)
    time = ProcessingTime(clock)
    assert time.now() == 10_000
    clock.set(9_000)
    clock.advance(2_000)
    assert time.now() == 11_000 == clock.now()
    clock.advance(10)
    assert time.now() == 11_010


def test_a_driver_whose_clock_is_behind_the_last_epoch_says_so(caplog):
    time = ProcessingTime(ManualClock(1000))
    with caplog.at_level(logging.WARNING, "firesteel.control"):
        time.at_least(1500)
        assert caplog.messages == []
        time.at_least(8000)
    assert "7.0 s behind" in caplog.text
    assert time.now() == 8000


@pytest.mark.parametrize("earlier", [0, 999])
def test_an_earlier_epoch_before_now_changes_nothing(earlier):
    time = ProcessingTime(ManualClock(1000))
    time.at_least(earlier)
    assert time.now() == 1000


@pytest.mark.parametrize("seen", [0, 400, 1000, HOUR])
def test_steady_time_goes_on_from_what_an_earlier_driver_has_seen(seen):
    clock = ManualClock(1000)
    steady = SteadyTime(clock)
    steady.at_least(seen)
    assert steady.now() == max(seen, 1000)
    clock.set(5)
    clock.advance(30)
    assert steady.now() == max(seen, 1000) + 30


def test_a_run_begins_when_it_resumes_and_not_before_the_last_epoch():
    clock = ManualClock(1000)
    time = JobTime(clock)
    time.resume(processing=0, steady=0)
    clock.advance(50)
    assert time.now() == Moment(processing=1050, steady=1050, resumed=1000)
    time.resume(processing=3000, steady=2000)
    assert time.now() == Moment(processing=3000, steady=2000, resumed=2000)
