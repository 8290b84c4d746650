"""List state of functions, however the job is run."""

from __future__ import annotations

from collections import defaultdict

import pytest

from firesteel.common import Time, Types
from firesteel.datastream import AsyncDataStream, RuntimeExecutionMode
from firesteel.datastream.functions import (
    AsyncFunction,
    BroadcastProcessFunction,
    CheckpointedFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from firesteel.datastream.state import ListStateDescriptor, MapStateDescriptor
from firesteel.datastream.window import CountTumblingWindowAssigner
from tests.recovery.tokens import Tokens, assert_shared_out

COUNT = ListStateDescriptor("count", Types.LONG())
RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())
EVENTS = list(range(40))


class Numbering(CheckpointedFunction):
    """Numbers what its subtask sees; `open` comes after the state is there."""

    def initialize_state(self, context):
        assert not hasattr(self, "subtask")
        self.saved = context.get_operator_state_store().get_list_state(COUNT)
        self.count = sum(self.saved.get())
        assert context.is_restored() or self.count == 0

    def snapshot_state(self, context):
        self.saved.update([self.count])

    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()
        assert self.count >= 0

    def number(self, *ignored):
        self.count += 1
        return self.subtask, self.count


class Map(Numbering, MapFunction):
    map = Numbering.number


class OneByOne(Numbering):
    def one(self, value, ctx=None):
        yield self.number()


class FlatMap(OneByOne, FlatMapFunction):
    flat_map = OneByOne.one


class Process(OneByOne, ProcessFunction):
    process_element = OneByOne.one


class KeyedProcess(OneByOne, KeyedProcessFunction):
    process_element = OneByOne.one


class CoMap(Numbering, CoMapFunction):
    map1 = map2 = Numbering.number


class CoFlatMap(OneByOne, CoFlatMapFunction):
    flat_map1 = flat_map2 = OneByOne.one


class CoProcess(OneByOne, CoProcessFunction):
    process_element1 = process_element2 = OneByOne.one


class KeyedCoProcess(OneByOne, KeyedCoProcessFunction):
    process_element1 = process_element2 = OneByOne.one


class Silent:
    def process_broadcast_element(self, value, ctx):
        yield from ()


class Broadcast(OneByOne, Silent, BroadcastProcessFunction):
    process_element = OneByOne.one


class KeyedBroadcast(OneByOne, Silent, KeyedBroadcastProcessFunction):
    process_element = OneByOne.one


class Async(Numbering, AsyncFunction):
    async def async_invoke(self, value):
        return [self.number()]


class Window(Numbering, ProcessWindowFunction):
    def process(self, key, context, elements):
        yield self.number()


def by_last_digit(value):
    return value % 10


def spread(env):
    return env.from_collection(EVENTS).rebalance()


def halves(env):
    return env.from_collection(EVENTS[:20]).rebalance(), env.from_collection(EVENTS[20:]).rebalance()


def keyed(env):
    return env.from_collection(EVENTS).key_by(by_last_digit)


def keyed_halves(env):
    return [half.key_by(by_last_digit) for half in halves(env)]


def connected(first, second):
    return first.connect(second)


def rules(env):
    return env.from_collection(["a", "b"]).broadcast(RULES)


PROGRAMS = {
    "map": lambda env: spread(env).map(Map()),
    "keyed map": lambda env: keyed(env).map(Map()),
    "flat_map": lambda env: spread(env).flat_map(FlatMap()),
    "process": lambda env: spread(env).process(Process()),
    "keyed process": lambda env: keyed(env).process(KeyedProcess()),
    "co-map": lambda env: connected(*halves(env)).map(CoMap()),
    "co-flat_map": lambda env: connected(*halves(env)).flat_map(CoFlatMap()),
    "co-process": lambda env: connected(*halves(env)).process(CoProcess()),
    "keyed co-process": lambda env: connected(*keyed_halves(env)).process(KeyedCoProcess()),
    "broadcast": lambda env: spread(env).connect(rules(env)).process(Broadcast()),
    "keyed broadcast": lambda env: keyed(env).connect(rules(env)).process(KeyedBroadcast()),
    "async": lambda env: AsyncDataStream.ordered_wait(spread(env), Async(), Time.seconds(9)),
    "window": lambda env: keyed(env).window(CountTumblingWindowAssigner.of(1)).process(Window()),
}


def assert_numbered_without_gap(results):
    """Every subtask has counted 1, 2, 3, ..., across all epochs and wherever it ran."""
    numbers = defaultdict(list)
    for subtask, number in results:
        numbers[subtask].append(number)
    assert len(results) == len(EVENTS)
    for of_subtask in numbers.values():
        assert sorted(of_subtask) == list(range(1, len(of_subtask) + 1))


def test_lists_last_over_epochs(run):
    assert_numbered_without_gap(run(PROGRAMS["map"]))


@pytest.mark.parametrize("kind", PROGRAMS)
def test_functions_of_every_kind_have_lists(run_in_process, kind):
    assert_numbered_without_gap(run_in_process(PROGRAMS[kind]))


def test_filter(run_in_process):
    class EveryOther(Numbering, FilterFunction):
        def filter(self, value):
            return self.number()[1] % 2 == 1

    def program(env):
        return env.from_collection(EVENTS).filter(EveryOther()).set_parallelism(1)

    assert len(run_in_process(program)) == len(EVENTS) // 2


def test_reduce(run_in_process):
    class Last(Numbering, ReduceFunction):
        def reduce(self, left, right):
            return right[0], self.number()

    def program(env):
        pairs = env.from_collection(EVENTS).map(lambda value: (by_last_digit(value), None))
        return pairs.key_by(lambda pair: pair[0]).reduce(Last())

    numbers = [number for _, number in run_in_process(program) if number is not None]
    assert len(numbers) == len(set(numbers)) == len(EVENTS) - 10


def test_batch_mode(run_in_process):
    def program(env):
        env.set_runtime_mode(RuntimeExecutionMode.BATCH)
        return keyed(env).process(KeyedProcess())

    assert_numbered_without_gap(run_in_process(program))


def test_a_union_list_can_be_shared_out_by_place(run):
    assert_shared_out(run(lambda env: spread(env).map(Tokens())), run.parallelism)
