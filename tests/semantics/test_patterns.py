"""Patterns in streams, however the job is run: the answers are worked out from the definition."""

from __future__ import annotations

import random

import pytest

from firesteel.cep import (
    CEP,
    AfterMatchSkipStrategy,
    Pattern,
    PatternProcessFunction,
    RichIterativeCondition,
    TimedOutPartialMatchHandler,
)
from firesteel.common import Duration, Types, WatermarkStrategy
from firesteel.common.errors import FiresteelError, RecordError
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from firesteel.datastream import OutputTag, RuntimeExecutionMode

BOUND = 12
KEYS = ("k0", "k1", "k2")
CHANCE = random.Random(3)
EVENTS = [
    (CHANCE.choice(KEYS), CHANCE.choice("aabc"), number * 3 + CHANCE.randint(0, BOUND - 1))
    for number in range(60)
]
"""Key, kind and timestamp (milliseconds), out of order by less than BOUND."""

WINDOW = 20
LATE = OutputTag("late")


class Third(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


def keyed(env, events=EVENTS, bound=BOUND):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(bound))
    timed = env.from_collection(events).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(Third())
    )
    return timed.set_parallelism(1).key_by(lambda event: event[0], Types.STRING())


def kind(letter):
    return lambda event: event[1] == letter


def in_time(events, key):
    return sorted((event for event in events if event[0] == key), key=lambda event: event[2])


def pairs(events=EVENTS):
    """Each a with the first b after it, within WINDOW; and each a without one, with the time at which that is known."""
    found, late = [], []
    for key in KEYS:
        mine = in_time(events, key)
        for place, event in enumerate(mine):
            if event[1] != "a":
                continue
            after = [other for other in mine[place + 1 :] if other[1] == "b"]
            if after and after[0][2] - event[2] < WINDOW:
                found.append((event, after[0]))
            else:
                late.append((event, event[2] + WINDOW))
    return found, late


def a_then_b():
    pattern = Pattern.begin("a").where(kind("a")).followed_by("b").where(kind("b"))
    return pattern.within(Duration.of_millis(WINDOW))


class Pairs(PatternProcessFunction, TimedOutPartialMatchHandler):
    """Pairs, with their time; partial matches that are too late, with theirs, go aside and are told apart."""

    def process_match(self, match, ctx):
        (a,), (b,) = match["a"], match["b"]
        yield a, b, ctx.timestamp()

    def process_timed_out_match(self, match, ctx):
        ctx.output(LATE, (match["a"][0], ctx.timestamp()))


def test_pairs_and_what_is_too_late(run):
    def program(env):
        found = CEP.pattern(keyed(env), a_then_b()).process(Pairs())
        return found.union(found.get_side_output(LATE))

    results = run(program)
    found, late = pairs()
    assert len(found) > 5
    assert len(late) > 5
    assert sorted((a, b, b[2]) for a, b in found) == sorted(result for result in results if len(result) == 3)
    assert sorted(late) == sorted(result for result in results if len(result) == 2)


def test_select_with_timeouts(run_in_process):
    def program(env):
        stream = CEP.pattern(keyed(env), a_then_b())
        found = stream.select(
            LATE,
            lambda match, time: (match["a"][0], time),
            lambda match: (match["a"][0], match["b"][0]),
        )
        return found.union(found.get_side_output(LATE))

    found, late = pairs()
    assert sorted(run_in_process(program), key=repr) == sorted([*found, *late], key=repr)


def test_flat_select_with_timeouts(run_in_process):
    def program(env):
        found = CEP.pattern(keyed(env), a_then_b()).flat_select(
            LATE, lambda match, time: [time, time], lambda match: iter(match["a"] + match["b"])
        )
        return found.union(found.get_side_output(LATE))

    found, late = pairs()
    expected = [event for pair in found for event in pair] + [time for _, time in late for _ in range(2)]
    assert sorted(run_in_process(program), key=repr) == sorted(expected, key=repr)


def test_absence(run_in_process):
    """An a, and no b within the time: known when the time is over, and no sooner."""

    class Times(PatternProcessFunction):
        def process_match(self, match, ctx):
            yield match["a"][0], ctx.timestamp()

    def program(env):
        pattern = Pattern.begin("a").where(kind("a")).not_followed_by("b").where(kind("b"))
        return CEP.pattern(keyed(env), pattern.within(Duration.of_millis(WINDOW))).process(Times())

    assert sorted(run_in_process(program)) == sorted(pairs()[1])


def test_loops_with_a_skip_strategy(run_in_process):
    def program(env):
        skip = AfterMatchSkipStrategy.skip_past_last_event()
        pattern = Pattern.begin("a", skip).where(kind("a")).one_or_more().greedy()
        pattern = pattern.followed_by("b").where(kind("b"))
        return CEP.pattern(keyed(env), pattern).select(lambda match: (match["a"], match["b"][0]))

    expected = []
    for key in KEYS:
        begun = []
        for event in in_time(EVENTS, key):
            if event[1] == "a":
                begun.append(event)
            elif event[1] == "b" and begun:
                expected.append((begun, event))
                begun = []
    assert sorted(run_in_process(program)) == sorted(expected)


def test_late_events_go_aside(run):
    """An event that the watermark has passed is in no match, whatever its key."""

    class ByMark(WatermarkGenerator):
        def on_event(self, event, event_timestamp, output):
            if event[1] == "w":
                output.emit_watermark(event[2])

        def on_periodic_emit(self, output):
            pass

    events = [("k", "a", 10), ("k", "w", 15), ("k", "b", 15), ("j", "b", 9), ("k", "b", 16), ("j", "w", 30)]

    def program(env):
        strategy = WatermarkStrategy.for_generator(ByMark).with_timestamp_assigner(Third())
        stream = env.from_collection(events).set_parallelism(1).assign_timestamps_and_watermarks(strategy)
        keys = stream.set_parallelism(1).key_by(lambda event: event[0])
        found = CEP.pattern(keys, a_then_b()).side_output_late_data(LATE).select(lambda match: match["b"][0])
        return found.union(found.get_side_output(LATE))

    assert sorted(run(program)) == [("j", "b", 9), ("k", "b", 15), ("k", "b", 16)]


def test_a_comparator_orders_events_of_one_time(run_in_process):
    events = [("k", letter, time) for time in (5, 9, 14) for letter in "cab"]

    def program(env):
        pattern = Pattern.begin("a").where(kind("a")).next("b").where(kind("b")).next("c").where(kind("c"))
        stream = CEP.pattern(keyed(env, events), pattern, lambda one, two: ord(one[1]) - ord(two[1]))
        return stream.select(lambda match: match["c"][0])

    assert sorted(run_in_process(program)) == [("k", "c", 5), ("k", "c", 9), ("k", "c", 14)]


def test_streams_without_keys(run_in_process):
    def program(env):
        numbers = env.from_collection([*range(20)]).set_parallelism(1)
        pattern = (
            Pattern.begin("even").where(lambda n: n % 2 == 0).next("multiple").where(lambda n: n % 3 == 0)
        )
        stream = CEP.pattern(numbers, pattern).in_processing_time()
        return stream.select(lambda match: (match["even"][0], match["multiple"][0]))

    assert run_in_process(program) == [(2, 3), (8, 9), (14, 15)]


def test_matches_across_keys_in_processing_time(run):
    def program(env):
        keys = env.from_collection(EVENTS).set_parallelism(1).key_by(lambda event: event[0])
        pattern = Pattern.begin("a").where(kind("a")).followed_by("b").where(kind("b"))
        return (
            CEP.pattern(keys, pattern).in_processing_time().select(lambda match: (*match["a"], *match["b"]))
        )

    expected = []
    for key in KEYS:
        mine = [event for event in EVENTS if event[0] == key]
        for place, event in enumerate(mine):
            after = [other for other in mine[place + 1 :] if other[1] == "b"]
            if event[1] == "a" and after:
                expected.append((event, after[0]))
    assert sorted(run(program)) == sorted(expected)


class Rising(RichIterativeCondition):
    """Whether the time is more than `step` after that of each event before."""

    def open(self, runtime_context):
        self.step = int(runtime_context.get_job_parameter("step", "3"))
        assert self.get_runtime_context() is runtime_context

    def filter(self, value, ctx):
        return all(value[2] > before[2] + self.step for before in ctx.get_events_for_pattern("up"))


def test_iterative_conditions(run_in_process):
    def program(env):
        pattern = Pattern.begin("up").where(Rising()).times(3).consecutive()
        return CEP.pattern(keyed(env), pattern).select(lambda match: tuple(match["up"]))

    expected = []
    for key in KEYS:
        mine = in_time(EVENTS, key)
        expected += [
            tuple(mine[place : place + 3])
            for place in range(len(mine) - 2)
            if mine[place + 1][2] > mine[place][2] + 3 and mine[place + 2][2] > mine[place + 1][2] + 3
        ]
    assert sorted(run_in_process(program)) == sorted(expected)


def test_batch_mode_finds_the_same(run_in_process):
    def program(env):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        return CEP.pattern(keyed(env), a_then_b()).select(lambda match: (match["a"][0], match["b"][0]))

    assert sorted(run_in_process(program)) == sorted(pairs()[0])


def test_functions_may_change_what_they_get(run_in_process):
    def spoil(match):
        copies = [event.copy() for event in match["a"]]
        for event in match["a"]:
            event.clear()
        return [*map(tuple, copies)], tuple(match["b"][0])

    def program(env):
        stream = env.from_collection([["a"], ["a"], ["b"], ["b"]]).set_parallelism(1)
        pattern = (
            Pattern.begin("a").where(lambda e: e[0] == "a").followed_by_any("b").where(lambda e: e[0] == "b")
        )
        return CEP.pattern(stream, pattern).in_processing_time().select(spoil)

    assert run_in_process(program) == [([("a",)], ("b",))] * 4


def test_events_without_a_time_are_refused(run_in_process):
    def program(env):
        keys = env.from_collection(EVENTS).key_by(lambda event: event[0])
        return CEP.pattern(keys, a_then_b()).select(str)

    with pytest.raises(RecordError, match="requires events with a timestamp"):
        run_in_process(program)


def test_an_error_in_a_function_names_the_match(run_in_process):
    def program(env):
        return CEP.pattern(keyed(env), a_then_b()).select(lambda match: match["c"])

    with pytest.raises(FiresteelError, match="KeyError: 'c'") as raised:
        run_in_process(program)
    assert "'a': [('k" in str(raised.value)
