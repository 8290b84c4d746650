"""Windows, however the job is run: the answer is that of the definition, worked out by hand over the events."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from firesteel.common import Duration, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from firesteel.datastream import OutputTag
from firesteel.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from firesteel.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

BOUND = 15
EVENTS = [(f"k{number % 5}", (number * 7) % 11 + number * 3) for number in range(50)]
"""Key and timestamp (milliseconds), out of order by less than BOUND."""


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def keyed(env, in_order=False):
    """The events by key; `in_order`: as they come, where more than one subtask would mix them."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(BOUND))
    source = env.from_collection(EVENTS, type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
    timed = source.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))
    if in_order:
        timed.set_parallelism(1)
    return timed.key_by(lambda event: event[0], Types.STRING())


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Bounds(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, sum(elements)

    def clear(self, context):
        pass


class Contents(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, window.start, window.end, tuple(sorted(value[1] for value in inputs)))]


def counted(size, slide=None, offset=0):
    """Each key's windows and how many events they hold."""
    counts = Counter()
    for key, time in EVENTS:
        start = (time - offset) // (slide or size) * (slide or size) + offset
        while start > time - size:
            counts[key, start, start + size] += 1
            start -= slide or size
    return sorted((key, start, end, count) for (key, start, end), count in counts.items())


@pytest.mark.parametrize("offset", [0, 4])
def test_tumbling_windows_aggregate_incrementally(run, offset):
    windows = TumblingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(offset))
    results = run(lambda env: keyed(env).window(windows).aggregate(Count(), Bounds()))
    assert sorted(results) == counted(20, offset=offset)


def test_sliding_windows(run):
    windows = SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(5))
    results = run(lambda env: keyed(env).window(windows).aggregate(Count(), Bounds()))
    assert sorted(results) == counted(20, slide=5)


def sessions(gap):
    by_key = defaultdict(list)
    for key, time in EVENTS:
        by_key[key].append(time)
    expected = []
    for key, times in by_key.items():
        group = []
        for time in [*sorted(times), None]:
            if group and (time is None or time > group[-1] + gap):
                expected.append((key, group[0], group[-1] + gap, tuple(group)))
                group = []
            group.append(time)
    return sorted(expected)


@pytest.mark.parametrize("gap", [5, 16, 40])
def test_sessions_merge_whatever_the_order_of_arrival(run, gap):
    windows = EventTimeSessionWindows.with_gap(Time.milliseconds(gap))
    results = run(lambda env: keyed(env).window(windows).apply(Contents()))
    assert sorted(results) == sessions(gap)


def test_reduce_in_windows(run):
    windows = TumblingEventTimeWindows.of(Time.milliseconds(50))
    results = run(
        lambda env: keyed(env).window(windows).reduce(lambda left, right: (left[0], max(left[1], right[1])))
    )
    latest = {}
    for key, time in EVENTS:
        latest[key, time // 50] = max(time, latest.get((key, time // 50), 0))
    assert sorted(results) == sorted((key, time) for (key, _), time in latest.items())


def test_windows_over_all_keys(run):
    class Total(AllWindowFunction):
        def apply(self, window, inputs):
            yield window.start, len(list(inputs))

    windows = TumblingEventTimeWindows.of(Time.milliseconds(30))
    results = run(lambda env: keyed(env).window_all(windows).apply(Total()))
    assert sorted(results) == sorted(Counter(time // 30 * 30 for _, time in EVENTS).items())


def test_global_windows_fire_by_their_trigger(run):
    def program(env):
        windows = keyed(env).window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(4)))
        return windows.aggregate(Count())

    assert run(program) == [4] * (5 * (10 // 4))


def test_count_windows(run):
    results = run(
        lambda env: (
            keyed(env, in_order=True)
            .count_window(3)
            .reduce(lambda left, right: (left[0], left[1] + right[1]))
        )
    )
    by_key = defaultdict(list)
    for key, time in EVENTS:
        by_key[key].append(time)
    expected = [
        (key, sum(times[start : start + 3]))
        for key, times in by_key.items()
        for start in range(0, len(times) - 2, 3)
    ]
    assert sorted(results) == sorted(expected)


class EachRecord(WatermarkGenerator):
    """A watermark right behind each record, so that what is late is the same however the job is cut into epochs."""

    def __init__(self):
        self.highest = 0

    def on_event(self, event, event_timestamp, output):
        self.highest = max(self.highest, event_timestamp)
        output.emit_watermark(self.highest - 1)

    def on_periodic_emit(self, output):
        pass


LATE = [("a", 1), ("a", 12), ("a", 5), ("a", 23), ("a", 14), ("a", 3), ("a", 40), ("a", 25), ("a", 31)]


@pytest.mark.parametrize("lateness", [0, 5])
def test_what_is_late_goes_to_the_side_or_fires_again(run_in_process, lateness):
    late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))

    def program(env):
        strategy = WatermarkStrategy.for_generator(EachRecord).with_timestamp_assigner(SecondField())
        source = env.from_collection(LATE, type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
        windowed = (
            source.assign_timestamps_and_watermarks(strategy)
            .set_parallelism(1)
            .key_by(lambda event: event[0])
            .window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
            .allowed_lateness(lateness)
            .side_output_late_data(late)
            .apply(Contents(), Types.PICKLED_BYTE_ARRAY())
        )
        missed = windowed.get_side_output(late).map(
            lambda event: ("late", event[1]), Types.PICKLED_BYTE_ARRAY()
        )
        return windowed.union(missed)

    window = {0: ("a", 0, 10), 10: ("a", 10, 20), 20: ("a", 20, 30), 30: ("a", 30, 40), 40: ("a", 40, 50)}
    if lateness == 0:
        expected = [(*window[0], (1,)), (*window[10], (12,)), (*window[20], (23,)), (*window[40], (40,))]
        expected += [("late", time) for time in (5, 14, 3, 25, 31)]
    else:
        expected = [
            (*window[0], (1,)), (*window[0], (1, 5)), (*window[10], (12,)), (*window[10], (12, 14)),
            (*window[20], (23,)), (*window[30], (31,)), (*window[40], (40,)), ("late", 3), ("late", 25),
        ]  # fmt: skip
    assert sorted(map(repr, run_in_process(program))) == sorted(map(repr, expected))


def test_processing_time_windows_close_by_the_clock(run_in_process):
    windows = TumblingProcessingTimeWindows.of(Time.hours(1))
    # Bounded input ends before the hour does; a pending processing-time window does not fire then, as in Flink.
    assert run_in_process(lambda env: keyed(env).window(windows).aggregate(Count())) == []
