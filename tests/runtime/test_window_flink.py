"""Windows against what real Flink answered: the expected values are literal outputs of PyFlink 2.3."""

from __future__ import annotations

from typing import Any

import pytest

from firesteel.common.time import Time
from firesteel.functions.assigners import SlidingEventTimeWindows, TumblingEventTimeWindows
from firesteel.functions.count_windows import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    GlobalWindows,
)
from firesteel.functions.sessions import EventTimeSessionWindows, SessionWindowTimeGapExtractor
from firesteel.functions.triggers import CountTrigger, PurgingTrigger
from tests.runtime.window_harness import Event, Harness, run

TIMES = (1, 2, 3, 5, 8, 12, 13, 14, 15, 29, 30, 31)
EVENTS: list[Event] = [("a", time, time) for time in TIMES]


def millis(amount: int) -> Time:
    return Time.milliseconds(amount)


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element: Any) -> int:
        return 20 if element == 1 else 5


CASES: dict[str, tuple[Any, Any, list[tuple[int, str, list[int]]]]] = {
    "tumbling with an offset": (
        TumblingEventTimeWindows.of(millis(10), millis(3)),
        None,
        [
            (2, "TimeWindow(start=-7, end=3)", [1, 2]),
            (12, "TimeWindow(start=3, end=13)", [3, 5, 8, 12]),
            (22, "TimeWindow(start=13, end=23)", [13, 14, 15]),
            (32, "TimeWindow(start=23, end=33)", [29, 30, 31]),
        ],
    ),
    "sliding with an offset": (
        SlidingEventTimeWindows.of(millis(10), millis(4), millis(1)),
        None,
        [
            (2, "TimeWindow(start=-7, end=3)", [1, 2]),
            (6, "TimeWindow(start=-3, end=7)", [1, 2, 3, 5]),
            (10, "TimeWindow(start=1, end=11)", [1, 2, 3, 5, 8]),
            (14, "TimeWindow(start=5, end=15)", [5, 8, 12, 13, 14]),
            (18, "TimeWindow(start=9, end=19)", [12, 13, 14, 15]),
            (22, "TimeWindow(start=13, end=23)", [13, 14, 15]),
            (30, "TimeWindow(start=21, end=31)", [29, 30]),
            (34, "TimeWindow(start=25, end=35)", [29, 30, 31]),
            (38, "TimeWindow(start=29, end=39)", [29, 30, 31]),
        ],
    ),
    "tumbling count": (
        CountTumblingWindowAssigner.of(3),
        None,
        [
            (3, "CountWindow(id=0)", [1, 2, 3]),
            (12, "CountWindow(id=1)", [5, 8, 12]),
            (15, "CountWindow(id=2)", [13, 14, 15]),
            (31, "CountWindow(id=3)", [29, 30, 31]),
        ],
    ),
    "sliding count": (
        CountSlidingWindowAssigner.of(4, 2),
        None,
        [
            (5, "CountWindow(id=0)", [1, 2, 3, 5]),
            (12, "CountWindow(id=1)", [3, 5, 8, 12]),
            (14, "CountWindow(id=2)", [8, 12, 13, 14]),
            (29, "CountWindow(id=3)", [13, 14, 15, 29]),
            (31, "CountWindow(id=4)", [15, 29, 30, 31]),
        ],
    ),
    "sliding count with gaps between windows": (
        CountSlidingWindowAssigner.of(2, 3),
        None,
        [
            (2, "CountWindow(id=0)", [1, 2]),
            (8, "CountWindow(id=1)", [5, 8]),
            (14, "CountWindow(id=2)", [13, 14]),
            (30, "CountWindow(id=3)", [29, 30]),
        ],
    ),
    "sessions with a dynamic gap": (
        EventTimeSessionWindows.with_dynamic_gap(Gap()),
        None,
        [
            (20, "TimeWindow(start=1, end=21)", [1, 2, 3, 5, 8, 12, 13, 14, 15]),
            (35, "TimeWindow(start=29, end=36)", [29, 30, 31]),
        ],
    ),
    "global with a purging count trigger": (
        GlobalWindows.create(),
        PurgingTrigger.of(CountTrigger.of(3)),
        [
            (3, "GlobalWindow", [1, 2, 3]),
            (12, "GlobalWindow", [5, 8, 12]),
            (15, "GlobalWindow", [13, 14, 15]),
            (31, "GlobalWindow", [29, 30, 31]),
        ],
    ),
    "global with a count trigger": (
        GlobalWindows.create(),
        CountTrigger.of(5),
        [
            (8, "GlobalWindow", [1, 2, 3, 5, 8]),
            (29, "GlobalWindow", [1, 2, 3, 5, 8, 12, 13, 14, 15, 29]),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("epoch", [0, 1, 5])
def test_results_and_timestamps_are_those_of_flink(name: str, epoch: int) -> None:
    assigner, trigger, expected = CASES[name]
    harness = Harness(assigner, trigger=trigger)
    harness.play(EVENTS, epoch=epoch, restart=True)
    harness.finish()
    assert harness.out() == [(time, ("a", window, contents)) for time, window, contents in expected]


COUNTED: dict[str, tuple[Any, int, list[tuple[str, list[int]]]]] = {
    "in tumbling windows": (
        TumblingEventTimeWindows.of(millis(10)),
        2,
        [
            ("TimeWindow(start=0, end=10)", [1, 2]),
            ("TimeWindow(start=0, end=10)", [1, 2, 3, 5]),
            ("TimeWindow(start=10, end=20)", [12, 13]),
            ("TimeWindow(start=10, end=20)", [12, 13, 14, 15]),
            ("TimeWindow(start=30, end=40)", [30, 31]),
        ],
    ),
    "in sessions": (
        EventTimeSessionWindows.with_gap(millis(5)),
        3,
        [
            ("TimeWindow(start=1, end=8)", [1, 2, 3]),
            ("TimeWindow(start=1, end=17)", [1, 2, 3, 5, 8, 12]),
            ("TimeWindow(start=1, end=20)", [1, 2, 3, 5, 8, 12, 13, 14, 15]),
            ("TimeWindow(start=29, end=36)", [29, 30, 31]),
        ],
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_count_trigger_fires_and_keeps_the_contents(name: str) -> None:
    assigner, count, expected = COUNTED[name]
    results = run(assigner, EVENTS, trigger=CountTrigger.of(count))
    assert [value[1:] for _, value in results] == expected


def test_reduce_passes_the_value_through() -> None:
    results = run(
        TumblingEventTimeWindows.of(millis(10)),
        [("a", ("a", time), time) for time in TIMES],
        mode="reduce",
        function=lambda a, b: (a[0], a[1] + b[1]),
    )
    assert results == [(9, ("a", 19)), (19, ("a", 54)), (29, ("a", 29)), (39, ("a", 61))]
