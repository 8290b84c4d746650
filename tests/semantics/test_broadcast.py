"""An event meets every rule that came with it or before it, wherever epochs end and however rules and events travel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from firesteel.common import Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import (
    BroadcastProcessFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from firesteel.datastream.state import MapStateDescriptor
from firesteel.datastream.window import TumblingEventTimeWindows

RULES = MapStateDescriptor("rules", Types.LONG(), Types.LONG())
COUNT = 60


class Match(BroadcastProcessFunction):
    """Emits each event with the number of rules it could see that are not newer than it."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        rules = ctx.get_broadcast_state(RULES)
        yield value, sum(rules.contains(number) for number in range(value + 1))

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(value, value)


class KeyedMatch(KeyedBroadcastProcessFunction):
    process_element = Match.process_element
    process_broadcast_element = Match.process_broadcast_element


class Again(KeyedBroadcastProcessFunction):
    """As Match, over what a Match has emitted; an event that missed a rule before stays one that did."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        event, seen = value
        rules = ctx.get_broadcast_state(RULES)
        yield event, min(seen, sum(rules.contains(number) for number in range(event + 1)))

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(value, value)


class EmitRules(BroadcastProcessFunction):
    """Hands rules on, as what it emits for a broadcast record."""

    def process_element(self, value: Any, ctx: Any) -> None:
        pass

    def process_broadcast_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value


class PlainAgain(BroadcastProcessFunction):
    process_element = Again.process_element
    process_broadcast_element = Again.process_broadcast_element


def numbers(env: StreamExecutionEnvironment) -> DataStream:
    """One stream that is both rules and events, so that rule n comes with event n."""
    return env.from_collection(list(range(COUNT)), Types.LONG())


def plain(env: StreamExecutionEnvironment) -> DataStream:
    stream = numbers(env)
    return stream.connect(stream.broadcast(RULES)).process(Match())


def keyed(env: StreamExecutionEnvironment) -> DataStream:
    stream = numbers(env)
    return stream.key_by(lambda value: value % 7).connect(stream.broadcast(RULES)).process(KeyedMatch())


def rules_travel_far(env: StreamExecutionEnvironment) -> DataStream:
    stream = numbers(env)
    rules = (
        stream.key_by(lambda value: value % 5).map(lambda value: value).rebalance().map(lambda value: value)
    )
    return stream.connect(rules.broadcast(RULES)).process(Match())


def events_travel_far(env: StreamExecutionEnvironment) -> DataStream:
    stream = numbers(env)
    events = (
        stream.key_by(lambda value: value % 5).map(lambda value: value).rebalance().map(lambda value: value)
    )
    return events.connect(stream.broadcast(RULES)).process(Match())


def two_in_one_task(env: StreamExecutionEnvironment) -> DataStream:
    stream = numbers(env)
    first = stream.connect(stream.broadcast(RULES)).process(Match())
    return first.connect(stream.broadcast(RULES)).process(PlainAgain())


def rules_of_rules(env: StreamExecutionEnvironment) -> DataStream:
    stream = numbers(env)
    rules = stream.connect(stream.broadcast(RULES)).process(EmitRules(), Types.LONG()).set_parallelism(1)
    first = stream.connect(stream.broadcast(RULES)).process(Match())
    keyed = first.key_by(lambda value: value[0] % 3)
    return keyed.connect(rules.broadcast(RULES)).process(Again())


def rules_of_a_union(env: StreamExecutionEnvironment) -> DataStream:
    stream = numbers(env)
    rules = stream.filter(lambda value: value % 2).union(stream.filter(lambda value: value % 2 == 0))
    return stream.connect(rules.broadcast(RULES)).process(Match())


PROGRAMS = [
    plain, keyed, rules_travel_far, events_travel_far, two_in_one_task, rules_of_rules, rules_of_a_union,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_an_event_meets_the_rules_that_came_with_it(run: Any, program: Any) -> None:
    assert sorted(run(program)) == [(number, number + 1) for number in range(COUNT)]


class Number(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value * 100


def test_watermarks_pass_a_broadcast(run: Any) -> None:
    """Windows behind it see all events: those of the rules' side hold nothing back and let nothing be late."""

    def program(env: StreamExecutionEnvironment) -> DataStream:
        times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Number())
        stream = numbers(env).assign_timestamps_and_watermarks(times)
        matched = stream.connect(stream.broadcast(RULES)).process(Match(), Types.TUPLE([Types.LONG()] * 2))
        windows = matched.key_by(lambda value: 0).window(TumblingEventTimeWindows.of(Time.seconds(1)))
        return windows.reduce(lambda left, right: (min(left[0], right[0]), left[1] + right[1]))

    expected = [(at, sum(range(at + 1, at + 11))) for at in range(0, COUNT, 10)]
    assert sorted(run(program)) == expected


class CountRules(BroadcastProcessFunction):
    """Emits each event, its timestamp, and how many rules it could see."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, ctx.timestamp(), sum(1 for _ in ctx.get_broadcast_state(RULES))

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(value, value)


class KeyedCountRules(KeyedBroadcastProcessFunction):
    process_element = CountRules.process_element
    process_broadcast_element = CountRules.process_broadcast_element


@pytest.mark.parametrize("keyed", [False, True])
def test_in_batch_mode_all_rules_come_before_all_events(run: Any, keyed: bool) -> None:
    def program(env: StreamExecutionEnvironment) -> DataStream:
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Number())
        stream = numbers(env).assign_timestamps_and_watermarks(times)
        rules = stream.broadcast(RULES)
        if keyed:
            return stream.key_by(lambda value: value % 3).connect(rules).process(KeyedCountRules())
        return stream.connect(rules).process(CountRules())

    found = run(program)
    assert sorted(found) == [(number, number * 100, COUNT) for number in range(COUNT)]
    if run.parallelism == 1 and not keyed:
        assert found == sorted(found)
