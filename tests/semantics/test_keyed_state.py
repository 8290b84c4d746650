"""Keyed state and timers, however the job is run."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from firesteel.common import Duration, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import RuntimeExecutionMode
from firesteel.datastream.functions import (
    AggregateFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
)
from firesteel.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

EVENTS = [(f"k{number % 7}", number) for number in range(60)]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(env, events, bound=0):
    """A stream of events whose second field is their timestamp (milliseconds)."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(bound))
    source = env.from_collection(events, type_info=Types.TUPLE([Types.STRING(), Types.LONG()]))
    return source.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))


def running(events, combine):
    """The running combination of each key's values."""
    state, results = {}, []
    for key, value in events:
        state[key] = combine(state[key], value) if key in state else value
        results.append((key, state[key]))
    return Counter(results)


@pytest.mark.parametrize(("method", "combine"), [("sum", lambda a, b: a + b), ("min", min), ("max", max)])
def test_running_aggregates_of_a_field(run, method, combine):
    def program(env):
        return getattr(env.from_collection(EVENTS).key_by(lambda event: event[0]), method)(1)

    assert Counter(run(program)) == running(EVENTS, combine)


def test_reduce(run):
    def program(env):
        keyed = env.from_collection(EVENTS).key_by(lambda event: event[0])
        return keyed.reduce(lambda left, right: (left[0], left[1] + right[1]))

    assert Counter(run(program)) == running(EVENTS, lambda a, b: a + b)


def test_batch_mode_emits_only_each_keys_last_value(run):
    def program(env):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        return env.from_collection(EVENTS).key_by(lambda event: event[0]).sum(1)

    totals = defaultdict(int)
    for key, value in EVENTS:
        totals[key] += value
    assert sorted(run(program)) == sorted(totals.items())


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class AllKinds(KeyedProcessFunction):
    """Keeps the same history in all five kinds of state and reports when they disagree."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.history = runtime_context.get_list_state(ListStateDescriptor("history", Types.LONG()))
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.STRING()))
        self.total = runtime_context.get_reducing_state(
            ReducingStateDescriptor("total", lambda left, right: left + right, Types.LONG())
        )
        self.average = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("average", Average(), Types.PICKLED_BYTE_ARRAY())
        )

    def process_element(self, value, ctx):
        number = value[1]
        self.count.update((self.count.value() or 0) + 1)
        self.history.add(number)
        self.seen.put(number, value[0])
        if number % 5 == 0:
            self.seen.remove(number)
        self.total.add(number)
        self.average.add(number)
        history = list(self.history.get())
        assert len(history) == self.count.value()
        assert sum(history) == self.total.get()
        assert sorted(self.seen.keys()) == sorted(each for each in history if each % 5)
        yield ctx.get_current_key(), self.count.value(), self.total.get(), self.average.get()


def test_all_kinds_of_state_agree(run):
    expected, history = [], defaultdict(list)
    for key, number in EVENTS:
        history[key].append(number)
        mine = history[key]
        expected.append((key, len(mine), sum(mine), sum(mine) / len(mine)))
    results = run(lambda env: env.from_collection(EVENTS).key_by(lambda event: event[0]).process(AllKinds()))
    assert Counter(results) == Counter(expected)


def test_state_is_cleared(run):
    class Alternate(KeyedProcessFunction):
        def open(self, runtime_context):
            self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.LONG()))
            self.entries = runtime_context.get_map_state(
                MapStateDescriptor("map", Types.LONG(), Types.LONG())
            )

        def process_element(self, value, ctx):
            if self.value.value() is None:
                self.value.update(value[1])
                self.entries.put_all({value[1]: 1, -value[1]: 1})
            else:
                yield value[0], self.value.value(), len(list(self.entries.items()))
                self.value.clear()
                self.entries.clear()
                assert self.entries.is_empty()

    events = [(key, number) for number in range(1, 7) for key in ("a", "b")]
    results = run(lambda env: env.from_collection(events).key_by(lambda event: event[0]).process(Alternate()))
    assert sorted(results) == [(key, number, 2) for key in ("a", "b") for number in (1, 3, 5)]


@pytest.mark.parametrize(
    "key",
    [lambda event: event[1] % 3 == 0, lambda event: (event[0], event[1] % 2), lambda event: event[1] / 2],
)
def test_keys_of_any_type_come_back_as_they_were(run, key):
    class Remember(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1])
            yield from ()

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), timestamp

    events = EVENTS[:12]
    results = run(lambda env: timed(env, events).key_by(key).process(Remember()))
    expected = {(repr(key(event)), event[1]) for event in events}
    assert {(repr(current), timestamp) for current, timestamp in results} == expected


class Timers(KeyedProcessFunction):
    """Registers timers twice, deletes one, and chains another from on_timer."""

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        timestamp = value[1]
        service.register_event_time_timer(timestamp + 10)
        service.register_event_time_timer(timestamp + 10)
        service.register_event_time_timer(timestamp + 5)
        service.delete_event_time_timer(timestamp + 5)
        yield "element", value[0], ctx.timestamp()

    def on_timer(self, timestamp, ctx):
        assert ctx.timer_service().current_watermark() >= timestamp
        yield "timer", ctx.get_current_key(), timestamp
        if timestamp < 1000:
            ctx.timer_service().register_event_time_timer(timestamp + 1000)


def test_event_time_timers_fire_once_in_order_and_can_be_deleted(run):
    events = [("a", 1), ("b", 2), ("a", 4), ("a", 30), ("b", 40)]
    results = run(lambda env: timed(env, events).key_by(lambda event: event[0]).process(Timers()))
    fired = [result for result in results if result[0] == "timer"]
    expected = [("timer", key, at + 10 + more) for key, at in events for more in (0, 1000)]
    assert sorted(fired) == sorted(expected)
    for key in ("a", "b"):
        mine = [timestamp for _, current, timestamp in fired if current == key]
        assert mine == sorted(mine)


def test_processing_time_timers_fire_when_their_time_has_come(run_in_process):
    class Later(KeyedProcessFunction):
        def process_element(self, value, ctx):
            now = ctx.timer_service().current_processing_time()
            ctx.timer_service().register_processing_time_timer(now)
            ctx.timer_service().register_processing_time_timer(now + 3_600_000)
            yield from ()

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), ctx.timer_service().current_processing_time() >= timestamp

    # A timer still pending when bounded input ends does not fire, as in Flink.
    results = run_in_process(lambda env: env.from_collection(["a", "b"]).key_by(lambda v: v).process(Later()))
    assert sorted(results) == [("a", True), ("b", True)]


def test_keyed_state_in_a_plain_rich_function(run):
    class Number(MapFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

        def map(self, value):
            self.count.update((self.count.value() or 0) + 1)
            return value[0], self.count.value()

    results = run(lambda env: env.from_collection(EVENTS).key_by(lambda event: event[0]).map(Number()))
    assert Counter(results) == running([(key, 1) for key, _ in EVENTS], lambda a, b: a + b)


RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


def test_broadcast_state_reaches_every_subtask(run):
    class Collect(BroadcastProcessFunction):
        def process_element(self, value, ctx):
            yield from ()

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(value[0], value[1])
            yield value[0], sum(ctx.get_broadcast_state(RULES).values())

    def program(env):
        rules = env.from_collection([("a", 1), ("b", 2), ("a", 5)]).broadcast(RULES)
        return env.from_collection(range(9)).map(lambda value: value).connect(rules).process(Collect())

    one = [("a", 1), ("b", 3), ("a", 7)]
    assert Counter(run(program)) == Counter(one * run.parallelism)


def test_keyed_broadcast_state_is_read_with_keyed_state(run):
    class Apply(KeyedBroadcastProcessFunction):
        def open(self, runtime_context):
            self.waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", Types.LONG()))

        def process_element(self, value, ctx):
            self.waiting.add(value[1])
            ctx.timer_service().register_event_time_timer(1000)
            yield from ()

        def on_timer(self, timestamp, ctx):
            factor = ctx.get_broadcast_state(RULES).get(ctx.get_current_key())
            yield ctx.get_current_key(), factor, sorted(self.waiting.get())

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(value[0], value[1])
            yield from ()

    def program(env):
        rules = timed(env, [("a", 10), ("b", 20)]).broadcast(RULES)
        events = timed(env, [("a", 1), ("b", 2), ("a", 3)])
        return events.key_by(lambda event: event[0]).connect(rules).process(Apply())

    assert sorted(run(program)) == [("a", 10, [1, 3]), ("b", 20, [2])]


def test_batch_mode_serves_one_key_after_the_other_in_the_order_of_timestamps(run):
    class Trace(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(100)
            yield value[0], value[1], ctx.timer_service().current_watermark() == -(2**63)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), timestamp, "timer"

    def program(env):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        events = [("a", 5), ("b", 3), ("a", 2), ("b", 1), ("a", 14)]
        return timed(env, events).key_by(lambda event: event[0]).process(Trace())

    results = run(program)
    mine = {key: [result[1:] for result in results if result[0] == key] for key in ("a", "b")}
    assert mine["a"] == [(2, True), (5, True), (14, True), (100, "timer")]
    assert mine["b"] == [(1, True), (3, True), (100, "timer")]
    assert [key for key, *_ in results] in (["a"] * 4 + ["b"] * 3, ["b"] * 3 + ["a"] * 4)
