"""Windows against their definition, for any order of arrival, any cut into batches and epochs, and both code paths."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firesteel.common.time import Time
from firesteel.functions.assigners import (
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from firesteel.functions.elements import AggregateFunction
from firesteel.functions.sessions import (
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    SessionWindowTimeGapExtractor,
)
from firesteel.functions.triggers import EventTimeTrigger
from firesteel.functions.windows import TimeWindow
from tests.runtime.window_harness import STEP, Event, Harness


class Collecting(AggregateFunction):
    """Accumulates in a list that it changes in place."""

    def create_accumulator(self) -> list[Any]:
        return []

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator: list[Any]) -> Any:
        return sorted(accumulator)

    def merge(self, acc_a: list[Any], acc_b: list[Any]) -> list[Any]:
        return acc_a + acc_b


MODES: dict[str, dict[str, Any]] = {
    "process": {},
    "apply": {
        "mode": "apply",
        "window_function": lambda key, window, inputs: [(key, window, sorted(inputs))],
    },
    "reduce": {"mode": "reduce", "function": lambda a, b: a + b},
    "aggregate": {"mode": "aggregate", "function": Collecting()},
}

keys = st.sampled_from(["a", "b", 1, ("x", 2)])
times = st.integers(-60, 160)
records = st.lists(st.tuples(keys, times), max_size=40)
cuts = st.fixed_dictionaries(
    {"batch": st.integers(1, 12), "epoch": st.integers(0, 9), "restart": st.booleans()}
)


def numbered(pairs: list[tuple[Any, int]]) -> list[Event]:
    return [(key, number, time) for number, (key, time) in enumerate(pairs)]


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    """Records in any order, with watermarks in between that make some of them late."""
    events: list[Event] = []
    watermark = -80
    for event in numbered(draw(records)):
        if draw(st.booleans()):
            watermark += draw(st.integers(1, 25))
            events.append((STEP, None, watermark))
        events.append(event)
    return events


def contents(results: list[tuple[Any, str, list[int]]]) -> dict[tuple[Any, str], list[int]]:
    found = {(key, window): sorted(elements) for key, window, elements in results}
    assert len(found) == len(results), "a window fired twice"
    return found


def expected(pairs: list[Event], windows_of: Any) -> dict[tuple[Any, str], list[int]]:
    found: dict[tuple[Any, str], list[int]] = defaultdict(list)
    for key, number, time in pairs:
        for window in windows_of(time):
            found[key, repr(window)].append(number)
    return dict(found)


@given(records, cuts, st.integers(1, 40), st.integers(-40, 40))
def test_tumbling_windows_are_a_group_by(
    pairs: list[tuple[Any, int]], cut: dict[str, Any], size: int, offset: int
) -> None:
    offset %= size
    events = numbered(pairs)
    harness = Harness(TumblingEventTimeWindows(size, offset))
    harness.play(events, **cut)
    harness.finish()

    def windows_of(time: int) -> list[TimeWindow]:
        start = (time - offset) // size * size + offset
        return [TimeWindow(start, start + size)]

    assert contents(harness.values()) == expected(events, windows_of)
    assert harness.leftovers() == []


@given(records, cuts, st.integers(1, 40), st.integers(1, 25), st.integers(-24, 24))
def test_sliding_windows_hold_every_record_they_cover(
    pairs: list[tuple[Any, int]], cut: dict[str, Any], size: int, slide: int, offset: int
) -> None:
    offset = offset % slide
    events = numbered(pairs)
    harness = Harness(SlidingEventTimeWindows(size, slide, offset))
    harness.play(events, **cut)
    harness.finish()
    starts = [start for start in range(-300, 300) if (start - offset) % slide == 0]

    def windows_of(time: int) -> list[TimeWindow]:
        return [TimeWindow(start, start + size) for start in starts if start <= time < start + size]

    assert contents(harness.values()) == expected(events, windows_of)
    assert harness.leftovers() == []


def sessions_of(events: list[Event], gap: int) -> dict[tuple[Any, str], list[int]]:
    """Sessions by definition: records of a key whose neighbours in time are at most a gap apart."""
    by_key: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for key, number, time in events:
        assert time is not None
        by_key[key].append((time, number))
    found: dict[tuple[Any, str], list[int]] = {}
    for key, members in by_key.items():
        session: list[tuple[int, int]] = []
        for time, number in [*sorted(members), (10**9, -1)]:
            if session and time > session[-1][0] + gap:
                window = TimeWindow(session[0][0], session[-1][0] + gap)
                found[key, repr(window)] = sorted(number for _, number in session)
                session = []
            session.append((time, number))
    return found


@pytest.mark.parametrize("general", [False, True], ids=["fast", "general"])
@given(records, cuts, st.integers(1, 30))
def test_sessions_are_what_gaps_separate(
    general: bool, pairs: list[tuple[Any, int]], cut: dict[str, Any], gap: int
) -> None:
    events = numbered(pairs)
    harness = Harness(EventTimeSessionWindows.with_gap(Time.milliseconds(gap)), general=general)
    harness.play(events, **cut)
    harness.finish()
    assert contents(harness.values()) == sessions_of(events, gap)
    assert harness.leftovers() == []


@given(records, cuts, st.integers(1, 30), st.data())
def test_lateness_lets_sessions_merge_in_any_order(
    pairs: list[tuple[Any, int]], cut: dict[str, Any], gap: int, data: st.DataObject
) -> None:
    """With enough allowed lateness, the last firing of each session is the session by definition."""
    events = numbered(pairs)
    watermarked: list[Event] = []
    for event in events:
        watermarked.append(event)
        if data.draw(st.booleans()):
            watermarked.append((STEP, None, data.draw(st.integers(-70, 150))))
    harness = Harness(EventTimeSessionWindows(gap), allowed_lateness=1_000)
    harness.play(watermarked, **cut)
    harness.finish()
    last = {(key, window): sorted(elements) for key, window, elements in harness.values()}
    sessions = sessions_of(events, gap)
    assert {pane: last[pane] for pane in sessions} == sessions
    assert harness.late() == []
    assert harness.leftovers() == []


class GapOfNumber(SessionWindowTimeGapExtractor):
    """Gaps of 1 to 14 milliseconds."""

    def extract(self, element: Any) -> int:
        return 1 + element * 5 % 14


ASSIGNERS = {
    "tumbling": lambda: TumblingEventTimeWindows(20, 3),
    "sliding": lambda: SlidingEventTimeWindows(20, 7, 2),
    "session": lambda: EventTimeSessionWindows(11),
    "dynamic session": lambda: DynamicEventTimeSessionWindows(GapOfNumber()),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ASSIGNERS)
@given(stream=streams(), lateness=st.sampled_from([0, 1, 15]), cut=cuts)
@example(
    stream=[("a", number, time) for number, time in enumerate([0, 0, -1, 0, -12])],
    lateness=0,
    cut={"batch": 3, "epoch": 0, "restart": False},
)
@example(
    stream=[(STEP, None, -7), *(("a", number, time) for number, time in enumerate([0, 0, -7, 0]))],
    lateness=0,
    cut={"batch": 4, "epoch": 0, "restart": False},
)
def test_hot_loops_give_what_the_general_path_gives(
    kind: str, mode: str, stream: list[Event], lateness: int, cut: dict[str, Any]
) -> None:
    seen = []
    for general in (False, True):
        arguments = {"allowed_lateness": lateness, **MODES[mode]}
        harness = Harness(ASSIGNERS[kind](), general=general, **arguments)
        # The general path takes the records one by one and never ends an epoch.
        harness.play(stream, **({"batch": 1} if general else cut))
        harness.finish()
        out = map(without_order, harness.out()) if "session" in kind and mode == "process" else harness.out()
        seen.append((sorted(map(repr, out)), sorted(harness.late()), harness.leftovers()))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("kind", ["session", "dynamic session"])
@given(
    stream=streams(),
    lateness=st.sampled_from([0, 1, 15]),
    batch=st.integers(1, 12),
    epoch=st.integers(1, 9),
    restart=st.booleans(),
)
def test_sessions_leave_the_timers_of_the_general_path_between_epochs_and_fire_in_its_order(
    kind: str, stream: list[Event], lateness: int, batch: int, epoch: int, restart: bool
) -> None:
    arguments = {"allowed_lateness": lateness, **MODES["aggregate"]}
    fast, general = (Harness(ASSIGNERS[kind](), general=general, **arguments) for general in (False, True))
    for start in range(0, len(stream), epoch):
        for harness in (fast, general):
            harness.play(stream[start : start + epoch], batch=batch)
            harness.epoch(restart=restart)
        assert fast.event_timers() == general.event_timers()
    fast.finish()
    general.finish()
    if not lateness:  # else late firings come key by key, not record by record
        assert fast.out() == general.out()


def without_order(record: Any) -> Any:
    """Sessions that merge append their elements to one another: which comes first Flink leaves open."""
    timestamp, (key, window, elements) = record
    return timestamp, (key, window, sorted(elements))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "assigner", [TumblingProcessingTimeWindows(10, 3), SlidingProcessingTimeWindows(10, 4, 1)], ids=repr
)
@given(records=st.lists(st.tuples(keys, st.integers(0, 6)), max_size=25), cut=cuts)
def test_processing_time_loops_give_what_the_general_path_gives(
    assigner: Any, mode: str, records: list[tuple[Any, int]], cut: dict[str, Any]
) -> None:
    seen = []
    for general in (False, True):
        harness = Harness(assigner, general=general, **MODES[mode])
        now = 0
        for number, (key, passed) in enumerate(records):
            now += passed
            harness.time(now)
            harness.batch((key, number, None), (key, -number, None))
            if cut["epoch"] and not general and number % cut["epoch"] == 0:
                harness.epoch(restart=cut["restart"])
        harness.time(now + 100)
        seen.append((harness.out(), harness.leftovers()))
    assert seen[0] == seen[1]


@given(stream=streams(), cut=cuts)
def test_a_record_is_in_a_window_or_late_but_never_lost(stream: list[Event], cut: dict[str, Any]) -> None:
    harness = Harness(TumblingEventTimeWindows(20, 0), trigger=EventTimeTrigger())
    harness.play(stream, **cut)
    harness.finish()
    taken = [number for _, _, elements in harness.values() for number in elements]
    assert sorted(taken + harness.late()) == sorted(number for key, number, _ in stream if key != STEP)
