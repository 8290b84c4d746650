"""What user code in windows is handed, and what it may do wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from firesteel.common.errors import ProgramError, RecordError, UserFunctionError
from firesteel.functions.assigners import (
    MergingWindowAssigner,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from firesteel.functions.count_windows import CountTumblingWindowAssigner, GlobalWindows
from firesteel.functions.elements import AggregateFunction
from firesteel.functions.sessions import EventTimeSessionWindows, ProcessingTimeSessionWindows
from firesteel.functions.triggers import (
    CountTrigger,
    EventTimeTrigger,
    PurgingTrigger,
    Trigger,
    TriggerResult,
)
from firesteel.functions.window_functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from firesteel.functions.windows import TimeWindow, Window
from firesteel.state.descriptors import ListStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from tests.runtime.window_harness import LATE, STEP, Harness, run

TUMBLING = TumblingEventTimeWindows(10, 0)
EVENTS: list[Any] = [("a", 1, 1), ("b", 2, 2), ("a", 3, 3), ("a", 14, 14)]


class Sum(AggregateFunction):
    def open(self, runtime_context: Any) -> None:
        self.opened = runtime_context.get_task_name()

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return accumulator + value

    def get_result(self, accumulator: int) -> str:
        return f"sum {accumulator}"

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Labelled(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        return [(key, window.start, value) for value in inputs]


class Firings(ProcessWindowFunction[Any, Any, Any, Any]):
    """Counts the firings of each window and of each key."""

    def __init__(self) -> None:
        self.cleared: list[Any] = []

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        own = context.window_state().get_state(ValueStateDescriptor("firings"))
        own.update((own.value() or 0) + 1)
        shared = context.global_state().get_state(ValueStateDescriptor("firings"))
        shared.update((shared.value() or 0) + 1)
        yield key, context.window().start, own.value(), shared.value(), list(elements)

    def clear(self, context: Any) -> None:
        self.cleared.append((context.window(), context.current_watermark()))
        context.window_state().get_state(ValueStateDescriptor("firings")).clear()


def test_an_aggregate_can_be_seen_by_a_window_function() -> None:
    results = run(TUMBLING, EVENTS, mode="aggregate", function=Sum(), window_function=Labelled())
    assert results == [(9, ("a", 0, "sum 4")), (9, ("b", 0, "sum 2")), (19, ("a", 10, "sum 14"))]


def test_window_and_global_state_are_apart_and_cleared_with_the_window() -> None:
    function = Firings()
    harness = Harness(TUMBLING, allowed_lateness=5, window_function=function)
    harness.play([("a", 1, 1), (STEP, None, 9), ("a", 2, 2), ("a", 14, 14), (STEP, None, 13)])
    harness.epoch()
    assert harness.values() == [("a", 0, 1, 1, [1]), ("a", 0, 2, 2, [1, 2])]
    assert function.cleared == []
    harness.finish()
    assert harness.values() == [("a", 10, 1, 3, [14])]
    assert [window for window, _ in function.cleared] == [TimeWindow(0, 10), TimeWindow(10, 20)]
    assert len(harness.leftovers()) == 1, "only the state of the key is left"


def test_without_keys_functions_see_no_key() -> None:
    class Count(AllWindowFunction[Any, Any, Any]):
        def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
            yield window.start, len(list(inputs))

    class CountWithContext(ProcessAllWindowFunction[Any, Any, Any]):
        def process(self, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
            return [(context.window().start, len(list(elements)))]

    events = [(0, value, time) for _, value, time in EVENTS]
    for arguments in ({"mode": "apply", "window_function": Count()}, {"window_function": CountWithContext()}):
        assert run(TUMBLING, events, by_key=False, **arguments) == [(9, (0, 3)), (19, (10, 1))]


def test_merging_windows_have_no_window_state() -> None:
    harness = Harness(EventTimeSessionWindows(5), window_function=Firings())
    harness.batch(("a", 1, 1))
    with pytest.raises(ProgramError, match=r"window \(job.py:7\).*cannot have state per window.*'firings'"):
        harness.finish()


def test_processing_time_sessions_close_after_the_gap() -> None:
    harness = Harness(ProcessingTimeSessionWindows(10))
    for now in (0, 4, 20):
        harness.time(now)
        harness.batch(("a", now, None))
        harness.epoch(restart=True)
    harness.time(29)
    assert harness.out() == [
        (13, ("a", "TimeWindow(start=0, end=14)", [0, 4])),
        (29, ("a", "TimeWindow(start=20, end=30)", [20])),
    ]
    assert harness.leftovers() == []


def test_side_outputs_of_window_functions() -> None:
    def split(key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        for value in inputs:
            yield (LATE, value) if value % 2 else value

    harness = Harness(TUMBLING, mode="apply", window_function=split)
    harness.play(EVENTS)
    harness.finish()
    assert (harness.values(), harness.late()) == ([2, 14], [1, 3])


class FireOnBig(Trigger[Any, Any]):
    """Fires on every second big value, throws the window away at -1, remembers in state of all kinds."""

    def __init__(self) -> None:
        self._big = ReducingStateDescriptor("count", lambda a, b: a + b)
        self._seen = ListStateDescriptor("seen")

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.get_partitioned_state(self._seen).add(element)
        if element == -1:
            return TriggerResult.PURGE
        big = ctx.get_partitioned_state(self._big)
        if element > 10:
            big.add(1)
            ctx.register_event_time_timer(timestamp + 1)
        return TriggerResult.FIRE if (big.get() or 0) >= 2 else TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Any) -> None:
        ctx.merge_partitioned_state(self._big)
        ctx.merge_partitioned_state(self._seen)

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(self._big).clear()
        ctx.get_partitioned_state(self._seen).clear()


@pytest.mark.parametrize("restart", [False, True])
def test_a_custom_trigger_has_state_and_timers_of_its_own(restart: bool) -> None:
    harness = Harness(TumblingEventTimeWindows(100, 0), trigger=FireOnBig(), allowed_lateness=7)
    harness.play([("a", 5, 1), ("a", 20, 2), ("b", 30, 3), ("a", 40, 4)], epoch=1, restart=restart)
    assert harness.values() == [("a", "TimeWindow(start=0, end=100)", [5, 20, 40])]
    harness.watermark(4)
    assert harness.values() == [
        ("a", "TimeWindow(start=0, end=100)", [5, 20, 40]),
        ("b", "TimeWindow(start=0, end=100)", [30]),
    ]
    harness.play([("a", 6, 6), ("a", -1, 7), ("a", 8, 8)], epoch=1, restart=restart)
    # The count is still two, so each record fires; the one that purged left nothing behind.
    assert harness.values() == [
        ("a", "TimeWindow(start=0, end=100)", [6]),
        ("a", "TimeWindow(start=0, end=100)", [8]),
    ]
    harness.finish()
    assert harness.leftovers() == []


def test_trigger_state_merges_with_its_windows() -> None:
    results = run(
        EventTimeSessionWindows(10), [("a", 20, 0), ("a", 20, 15), ("a", 1, 8)], trigger=FireOnBig()
    )
    assert results[0] == (24, ("a", "TimeWindow(start=0, end=25)", [20, 20, 1]))


@dataclass(frozen=True)
class Shard(Window):
    """A window of the user's own."""

    number: int

    def max_timestamp(self) -> int:
        return self.number * 100 + 99


class ByShard(WindowAssigner[Any, Shard]):
    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[Shard]:
        return [Shard(timestamp // 100)] if element >= 0 else []

    def get_default_trigger(self, env: Any) -> Trigger[Any, Any]:
        return EventTimeTrigger.create()

    def get_window_serializer(self) -> Any:
        return None

    def is_event_time(self) -> bool:
        return True


def test_windows_of_the_users_own_survive_a_restart() -> None:
    harness = Harness(ByShard())
    harness.play([("a", 1, 5), ("a", 2, 120), ("a", -1, 130), ("a", 3, 7)], epoch=1, restart=True)
    harness.finish()
    assert harness.out() == [(99, ("a", "Shard(number=0)", [1, 3])), (199, ("a", "Shard(number=1)", [2]))]
    assert (harness.late(), harness.leftovers()) == ([], [])


class Shrinking(MergingWindowAssigner[Any, TimeWindow]):
    """Breaks the rules: merges into a window that has ended."""

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[TimeWindow]:
        return [TimeWindow(timestamp, timestamp + 10)]

    def merge_windows(self, windows: Iterable[TimeWindow], callback: Any) -> None:
        windows = list(windows)
        if len(windows) > 1:
            callback.merge(windows, TimeWindow(0, 1))

    def get_default_trigger(self, env: Any) -> Trigger[Any, Any]:
        return EventTimeTrigger.create()

    def get_window_serializer(self) -> Any:
        return None

    def is_event_time(self) -> bool:
        return True


def test_a_merge_into_the_past_is_refused() -> None:
    harness = Harness(Shrinking())
    harness.watermark(5)
    with pytest.raises(RecordError, match=r"window \(job.py:7\) requires that merged windows end after"):
        harness.play([("a", 1, 10), ("a", 2, 11)])


@pytest.mark.parametrize(
    "assigner", [TUMBLING, SlidingEventTimeWindows(10, 5, 0), EventTimeSessionWindows(5)], ids=repr
)
@pytest.mark.parametrize("general", [False, True])
def test_event_time_needs_timestamps(assigner: Any, general: bool) -> None:
    harness = Harness(assigner, general=general)
    with pytest.raises(RecordError, match=r"window \(job.py:7\) requires records with timestamps") as caught:
        harness.batch(("a", 1, 1), ("a", 2, None))
    assert "assign_timestamps_and_watermarks" in str(caught.value)
    assert caught.value.details == "record: 2"


@pytest.mark.parametrize("general", [False, True])
def test_an_exception_names_the_record(general: bool) -> None:
    harness = Harness(TUMBLING, general=general, mode="reduce", function=lambda a, b: a / b)
    with pytest.raises(UserFunctionError, match="ZeroDivisionError") as caught:
        harness.batch(("a", 4, 1), ("b", 6, 1), ("a", 0, 1), ("b", 2, 1))
    assert caught.value.who == "window (job.py:7)"
    assert caught.value.got == "the record 0"


@pytest.mark.parametrize("general", [False, True])
def test_an_exception_in_a_session_names_the_record(general: bool) -> None:
    harness = Harness(EventTimeSessionWindows(5), general=general, mode="reduce", function=lambda a, b: a / b)
    with pytest.raises(UserFunctionError, match="ZeroDivisionError") as caught:
        harness.batch(("a", 4, 1), ("a", 0, 2), ("a", 2, 3))
    assert caught.value.got == "the record 0"


def test_an_exception_of_a_window_function_names_the_operator() -> None:
    harness = Harness(TUMBLING, mode="apply", window_function=lambda key, window, inputs: 1 / 0)
    harness.batch(*EVENTS)
    with pytest.raises(UserFunctionError, match=r"window \(job.py:7\) failed.*ZeroDivisionError"):
        harness.finish()


def test_a_window_function_returns_an_iterable_or_none() -> None:
    assert run(TUMBLING, EVENTS, mode="apply", window_function=lambda key, window, inputs: None) == []
    with pytest.raises(RecordError, match=r"requires the window function of apply\(\) to return an iterable"):
        run(TUMBLING, EVENTS, mode="apply", window_function=lambda key, window, inputs: 5)


def test_a_trigger_returns_a_trigger_result() -> None:
    class Forgetful(FireOnBig):
        def on_element(self, *arguments: Any) -> Any:
            return None

    with pytest.raises(
        RecordError, match="requires its trigger to return a TriggerResult; got a NoneType from Forgetful"
    ):
        run(TUMBLING, EVENTS, trigger=Forgetful())


def test_records_kept_by_several_windows_are_apart() -> None:
    def grow(a: list[int], b: list[int]) -> list[int]:
        a.extend(b)
        return a

    results = run(
        SlidingEventTimeWindows(10, 5, 0),
        [("a", [1], 6), ("a", [2], 7)],
        mode="reduce",
        function=grow,
    )
    assert results == [(9, [1, 2]), (14, [1, 2])]


def test_a_none_empties_an_accumulator_as_in_flink() -> None:
    for general in (False, True):
        results = run(
            TUMBLING,
            [("a", 1, 1), ("a", None, 2), ("a", 3, 3)],
            general=general,
            mode="aggregate",
            function=Sum(),
        )
        assert results == [(9, "sum 3")]


def test_count_windows_keep_keys_apart_and_leave_nothing_but_counts() -> None:
    harness = Harness(CountTumblingWindowAssigner.of(2), trigger=PurgingTrigger.of(CountTrigger.of(2)))
    harness.play(
        [("a", 1, None), ("b", 2, None), ("a", 3, None), ("b", 4, None), ("a", 5, None)],
        epoch=2,
        restart=True,
    )
    assert harness.out() == [
        (None, ("a", "CountWindow(id=0)", [1, 3])),
        (None, ("b", "CountWindow(id=0)", [2, 4])),
    ]


def test_global_windows_fire_only_by_their_trigger() -> None:
    assert run(GlobalWindows.create(), EVENTS) == []


def test_a_timer_of_the_past_fires_with_the_next_record_of_processing_time() -> None:
    harness = Harness(TumblingProcessingTimeWindows(1, 0))
    harness.time(5)
    harness.batch(("a", "x", None))
    assert harness.out() == [(5, ("a", "TimeWindow(start=5, end=6)", ["x"]))]
    assert harness.leftovers() == []


def test_functions_are_opened_once_and_closed() -> None:
    calls: list[str] = []

    class Watched(Labelled):
        def open(self, runtime_context: Any) -> None:
            calls.append(runtime_context.get_task_name_with_subtasks())

        def close(self) -> None:
            calls.append("closed")

    aggregate = Sum()
    harness = Harness(TUMBLING, mode="aggregate", function=aggregate, window_function=Watched())
    harness.epoch()
    harness.operator.close()
    assert calls == ["window (1/1)", "closed"]
    assert aggregate.opened == "window"
