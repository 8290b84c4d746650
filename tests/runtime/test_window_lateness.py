"""Late records, firing again, early firings: watermarks stand where real Flink (PyFlink 2.3) had them."""

from __future__ import annotations

from typing import Any

import pytest

from firesteel.functions.assigners import TumblingEventTimeWindows
from firesteel.functions.continuous_triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
)
from firesteel.functions.sessions import EventTimeSessionWindows
from firesteel.functions.triggers import EventTimeTrigger, PurgingTrigger
from firesteel.functions.window_functions import ProcessWindowFunction
from tests.runtime.test_window_flink import Gap
from tests.runtime.window_harness import STEP, Event, Harness, run


class ShowTime(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, (context.window().start, context.window().end), elements, context.current_watermark()


def at(watermark: int) -> Event:
    return STEP, None, watermark


def play(harness: Harness, *events: tuple[Any, int] | Event) -> list[Any]:
    harness.play([event if len(event) == 3 else (event[0], event[1], event[1]) for event in events])
    return harness.values()


@pytest.fixture(params=[False, True], ids=["fast", "general"])
def general(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


TUMBLING = TumblingEventTimeWindows(10, 0)


def tumbling(general: bool, lateness: int, trigger: Any = None) -> Harness:
    return Harness(
        TUMBLING, general=general, trigger=trigger, allowed_lateness=lateness, window_function=ShowTime()
    )


def test_without_lateness_a_record_behind_the_window_is_late(general: bool) -> None:
    harness = tumbling(general, 0)
    assert play(harness, ("a", 1), ("a", 5), ("b", 12), ("a", 3), at(11)) == [("a", (0, 10), [1, 5, 3], 11)]
    assert play(harness, ("b", 15), at(14), ("a", 7), ("a", 11), ("b", 31), ("a", 12), ("a", 4), at(30)) == [
        ("a", (10, 20), [11, 12], 30),
        ("b", (10, 20), [12, 15], 30),
    ]
    assert harness.late() == [7, 4]


def test_within_the_lateness_a_record_makes_its_window_fire_again(general: bool) -> None:
    harness = tumbling(general, 5)
    assert play(harness, ("a", 1), ("a", 5), ("b", 12), at(11)) == [("a", (0, 10), [1, 5], 11)]
    assert play(harness, ("a", 3)) == [("a", (0, 10), [1, 5, 3], 11)]
    assert play(harness, ("b", 15), at(14), ("a", 7), ("a", 11), ("b", 31), ("a", 12), ("a", 4), at(30)) == [
        ("a", (10, 20), [11, 12], 30),
        ("b", (10, 20), [12, 15], 30),
    ]
    assert harness.late() == [7, 4]
    harness.finish()
    assert harness.leftovers() == []


def test_a_purging_trigger_shows_only_what_came_since(general: bool) -> None:
    harness = tumbling(general, 5, PurgingTrigger.of(EventTimeTrigger.create()))
    assert play(harness, ("a", 1), ("a", 5), ("b", 12), at(11)) == [("a", (0, 10), [1, 5], 11)]
    assert play(harness, ("a", 3)) == [("a", (0, 10), [3], 11)]
    assert play(harness, ("b", 15), at(14), ("a", 7), ("a", 11), ("b", 31), at(30)) == [
        ("a", (10, 20), [11], 30),
        ("b", (10, 20), [12, 15], 30),
    ]
    assert play(harness, ("a", 12), ("a", 4), at(2**63 - 1)) == [("b", (30, 40), [31], 2**63 - 1)]
    assert harness.late() == [7, 12, 4]
    assert harness.leftovers() == []


def test_a_late_firing_has_the_windows_largest_timestamp(general: bool) -> None:
    # PyFlink gives such a result the late record's own timestamp; this is what Flink's documentation promises.
    harness = tumbling(general, 5)
    harness.play([("a", 1, 1), at(11), ("a", 3, 3)])
    assert [time for time, _ in harness.out()] == [9, 9]


def test_a_session_saves_a_record_that_alone_would_be_late(general: bool) -> None:
    harness = Harness(EventTimeSessionWindows(5), general=general, window_function=ShowTime())
    assert play(harness, ("a", 1), ("b", 8), at(7)) == [("a", (1, 6), [1], 7)]
    assert play(harness, ("a", 10), ("b", 20), ("a", 6), at(19)) == [
        ("b", (8, 13), [8], 19),
        ("a", (6, 15), [10, 6], 19),
    ]
    assert play(harness, ("b", 23), ("a", 14), at(22)) == []
    assert harness.late() == [14]
    assert play(harness, ("b", 40), at(2**63 - 1)) == [
        ("b", (20, 28), [20, 23], 2**63 - 1),
        ("b", (40, 45), [40], 2**63 - 1),
    ]
    assert harness.leftovers() == []


def test_a_late_record_merges_with_sessions_that_have_fired(general: bool) -> None:
    harness = Harness(
        EventTimeSessionWindows(5), general=general, allowed_lateness=20, window_function=ShowTime()
    )
    assert play(harness, ("a", 1), ("b", 8), at(7)) == [("a", (1, 6), [1], 7)]
    assert play(harness, ("a", 10), ("b", 20), ("a", 6), ("b", 23), at(22)) == [
        ("b", (8, 13), [8], 22),
        ("a", (1, 15), [1, 10, 6], 22),
    ]
    assert play(harness, ("a", 14)) == [("a", (1, 19), [1, 10, 6, 14], 22)]
    assert play(harness, ("b", 40), at(39)) == [("b", (20, 28), [20, 23], 39)]
    harness.finish()
    assert harness.values() == [("b", (40, 45), [40], 2**63 - 1)]
    assert harness.late() == []
    assert harness.leftovers() == []


def test_a_window_seen_again_keeps_its_contents(general: bool) -> None:
    """The session's contents lie under the window of the record 10; its own window, seen again, must not hide them."""
    sessions = EventTimeSessionWindows.with_dynamic_gap(Gap())
    events: list[Event] = [("a", 10, 10), ("a", 1, 1), ("a", 1, 1)]
    harness = Harness(sessions, general=general)
    harness.play(events)
    harness.finish()
    assert harness.values() == [("a", "TimeWindow(start=1, end=21)", [10, 1, 1])]


def test_a_continuous_trigger_fires_at_every_interval_and_at_the_end() -> None:
    harness = Harness(TumblingEventTimeWindows(20, 0), trigger=ContinuousEventTimeTrigger(5))
    assert play(harness, ("a", 1), ("a", 2), ("a", 6), at(5)) == [
        ("a", "TimeWindow(start=0, end=20)", [1, 2, 6])
    ]
    assert play(harness, ("a", 7), ("a", 13), at(12)) == [
        ("a", "TimeWindow(start=0, end=20)", [1, 2, 6, 7, 13])
    ]
    assert play(harness, at(14)) == []
    assert len(play(harness, at(100))) == 2
    assert harness.leftovers() == []


def test_a_continuous_trigger_goes_on_where_sessions_merge() -> None:
    results = run(
        EventTimeSessionWindows(6),
        [("a", time, time) for time in (1, 8, 4)],
        trigger=ContinuousEventTimeTrigger(5),
    )
    assert results == [(13, ("a", "TimeWindow(start=1, end=14)", [1, 8, 4]))] * 3


def test_a_continuous_processing_time_trigger_fires_while_the_window_is_open() -> None:
    harness = Harness(TumblingEventTimeWindows(1_000, 0), trigger=ContinuousProcessingTimeTrigger(10))
    harness.time(3)
    harness.batch(("a", 1, 1))
    harness.time(9)
    assert harness.values() == []
    harness.time(10)
    assert harness.values() == [("a", "TimeWindow(start=0, end=1000)", [1])]
    harness.epoch(restart=True)
    harness.time(25)
    assert harness.values() == [("a", "TimeWindow(start=0, end=1000)", [1])]


def test_late_records_without_a_side_output_are_counted() -> None:
    harness = Harness(TUMBLING, late_tag=None)
    harness.play([at(50), ("a", 1, 1), ("a", 2, 2)])
    assert harness.operator._late_records.get_count() == 2
    assert harness.late() == []


def test_cleanup_does_not_overflow() -> None:
    harness = Harness(TUMBLING, allowed_lateness=2**63 - 1)
    harness.play([("a", 1, 1), at(50), ("a", 2, 2)])
    assert harness.values() == [
        ("a", "TimeWindow(start=0, end=10)", [1]),
        ("a", "TimeWindow(start=0, end=10)", [1, 2]),
    ]
