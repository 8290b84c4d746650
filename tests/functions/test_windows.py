"""Windows, their form in state, assigners and triggers on their own."""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

import cloudpickle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError, RecordError, StateCorruptedError
from firesteel.common.time import Duration, Time
from firesteel.functions.assigners import (
    MergingWindowAssigner,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from firesteel.functions.continuous_triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
)
from firesteel.functions.count_windows import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    GlobalWindows,
)
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.sessions import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
    SessionWindowTimeGapExtractor,
)
from firesteel.functions.triggers import (
    CountTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    TriggerResult,
)
from firesteel.functions.windows import WINDOW_CODEC, CountWindow, GlobalWindow, TimeWindow

longs = st.integers(-(2**63), 2**63 - 1)
windows = st.one_of(
    st.builds(TimeWindow, longs, longs),
    st.builds(CountWindow, longs),
    st.just(GlobalWindow.get()),
)


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element: Any) -> int:
        return int(element)


ASSIGNERS = [
    TumblingEventTimeWindows.of(Time.seconds(5)),
    TumblingProcessingTimeWindows.of(Duration.of_seconds(5), Time.seconds(1)),
    SlidingEventTimeWindows.of(Time.seconds(5), Time.seconds(2)),
    SlidingProcessingTimeWindows.of(Time.seconds(5), Time.seconds(2), Time.milliseconds(-1)),
    EventTimeSessionWindows.with_gap(Time.seconds(5)),
    ProcessingTimeSessionWindows.with_gap(Time.seconds(5)),
    EventTimeSessionWindows.with_dynamic_gap(Gap()),
    ProcessingTimeSessionWindows.with_dynamic_gap(Gap()),
    CountTumblingWindowAssigner.of(5),
    CountSlidingWindowAssigner.of(5, 2),
    GlobalWindows.create(),
]


@given(windows)
def test_a_window_survives_its_codec_and_pickle(window: Any) -> None:
    for copy in (WINDOW_CODEC.decode(WINDOW_CODEC.encode(window)), pickle.loads(pickle.dumps(window))):
        assert copy == window
        assert hash(copy) == hash(window)
        assert type(copy) is type(window)


@given(st.builds(TimeWindow, longs, longs), st.builds(TimeWindow, longs, longs))
def test_encoded_time_windows_sort_as_they_do(a: TimeWindow, b: TimeWindow) -> None:
    assert (a < b) == (WINDOW_CODEC.encode(a) < WINDOW_CODEC.encode(b))


@given(st.one_of(st.builds(TimeWindow, longs, longs), st.builds(CountWindow, longs)))
def test_serializers_read_what_they_wrote(window: Any) -> None:
    stream = BytesIO()
    assigner = ASSIGNERS[0] if isinstance(window, TimeWindow) else ASSIGNERS[8]
    serializer: Any = assigner.get_window_serializer()
    serializer.serialize(window, stream)
    stream.seek(0)
    assert serializer.deserialize(stream) == window


def test_a_window_equals_only_windows_of_its_kind() -> None:
    pair: Any = (0, 5)
    assert TimeWindow(0, 5) != pair
    assert TimeWindow(0, 5) == TimeWindow(0, 5)
    assert CountWindow(0) != GlobalWindow()
    assert GlobalWindow() == GlobalWindow.get()
    assert repr([TimeWindow(0, 5), CountWindow(1), GlobalWindow()]) == (
        "[TimeWindow(start=0, end=5), CountWindow(id=1), GlobalWindow]"
    )


def test_foreign_bytes_are_no_window() -> None:
    with pytest.raises(StateCorruptedError, match="requires the encoding of a window"):
        WINDOW_CODEC.decode(b"?")


@given(st.integers(-(10**6), 10**6), st.integers(1, 1000), st.integers(-999, 999))
def test_the_window_start_is_the_last_multiple_before_a_time(time: int, size: int, offset: int) -> None:
    start = TimeWindow.get_window_start_with_offset(time, offset, size)
    assert start <= time < start + size
    assert (start - offset) % size == 0


class _Merged(MergingWindowAssigner.MergeCallback[TimeWindow]):
    def __init__(self) -> None:
        self.found: dict[TimeWindow, set[TimeWindow]] = {}

    def merge(self, to_be_merged: Any, merge_result: TimeWindow) -> None:
        self.found[merge_result] = set(to_be_merged)


def test_windows_that_overlap_or_touch_merge() -> None:
    merged = _Merged()
    loose, touching, inside, single = TimeWindow(0, 5), TimeWindow(5, 9), TimeWindow(6, 7), TimeWindow(10, 12)
    TimeWindow.merge_windows([single, inside, loose, touching, single], merged)
    assert merged.found == {TimeWindow(0, 9): {loose, touching, inside}}


@pytest.mark.parametrize("assigner", ASSIGNERS, ids=repr)
def test_assigners_can_be_shipped(assigner: Any) -> None:
    copy = cloudpickle.loads(cloudpickle.dumps(assigner))
    assert repr(copy) == repr(assigner)
    assert type(copy.get_default_trigger(None)) is type(assigner.get_default_trigger(None))
    assert copy.is_event_time() == (copy.get_default_trigger(None).__class__ is EventTimeTrigger)


@pytest.mark.parametrize(
    "trigger",
    [
        EventTimeTrigger.create(),
        ProcessingTimeTrigger.create(),
        ContinuousEventTimeTrigger.of(Time.seconds(1)),
        ContinuousProcessingTimeTrigger.of(Time.seconds(1)),
        CountTrigger.of(3),
        NeverTrigger(),
        PurgingTrigger.of(CountTrigger.of(2)),
    ],
)
def test_triggers_can_be_shipped(trigger: Any) -> None:
    copy = cloudpickle.loads(cloudpickle.dumps(trigger))
    assert type(copy) is type(trigger)
    assert copy.can_merge() == trigger.can_merge() == (not isinstance(trigger, NeverTrigger))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TumblingEventTimeWindows.of(Time.seconds(1), Time.seconds(1)), "abs(offset) < size"),
        (lambda: TumblingProcessingTimeWindows.of(Time.seconds(0)), "size > 0"),
        (lambda: SlidingEventTimeWindows.of(Time.seconds(1), Time.seconds(0)), "abs(offset) < slide"),
        (lambda: SlidingProcessingTimeWindows.of(Time.seconds(0), Time.seconds(1)), "size > 0"),
        (lambda: EventTimeSessionWindows.with_gap(Time.seconds(0)), "a gap greater than 0"),
        (lambda: ProcessingTimeSessionWindows.with_gap(Time.seconds(-1)), "a gap greater than 0"),
        (lambda: DynamicEventTimeSessionWindows(5), "requires a SessionWindowTimeGapExtractor; got int: 5"),
        (
            lambda: DynamicProcessingTimeSessionWindows(5),
            "requires a SessionWindowTimeGapExtractor; got int: 5",
        ),
        (lambda: CountTumblingWindowAssigner.of(0), "requires window_size to be a number greater than 0"),
        (lambda: CountSlidingWindowAssigner.of(5, -1), "requires window_slide to be a number greater than 0"),
        (lambda: CountTrigger.of(0), "requires window_size to be a number greater than 0"),
        (lambda: ContinuousEventTimeTrigger.of(Time.seconds(0)), "an interval greater than 0"),
        (lambda: TumblingEventTimeWindows.of(5000), "requires a Time; got int: 5000"),
        (lambda: OutputTag(""), "requires a tag_id that is not empty"),
        (lambda: OutputTag("late", int), "requires a type_info that is a TypeInformation"),
    ],
)
def test_wrong_arguments_are_named(make: Any, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        make()
    assert message in str(caught.value)


def test_a_dynamic_gap_is_greater_than_zero() -> None:
    sessions: Any = EventTimeSessionWindows.with_dynamic_gap(Gap())
    assert sessions.assign_windows(7, 100, None) == [TimeWindow(100, 107)]
    with pytest.raises(
        RecordError, match="requires the extracted gap to be greater than 0 milliseconds; got 0"
    ):
        sessions.assign_windows(0, 100, None)


@pytest.mark.parametrize("result", TriggerResult)
def test_trigger_results(result: TriggerResult) -> None:
    assert result.is_fire() == ("FIRE" in result.name)
    assert result.is_purge() == ("PURGE" in result.name)


def test_output_tags_are_equal_by_id_and_can_be_shipped() -> None:
    tag = OutputTag("late")
    assert pickle.loads(pickle.dumps(tag)) == tag
    assert {tag: 1}[OutputTag("late")] == 1
    assert tag != OutputTag("other")
