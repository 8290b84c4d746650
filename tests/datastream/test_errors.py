"""Mistakes are reported where they are made: who, at which line, requires what, and what it got."""

from __future__ import annotations

import inspect

import pytest

from firesteel.common import Configuration, Time, Types
from firesteel.common.errors import (
    ConfigurationError,
    ProgramError,
    TypeMismatchError,
    UnsupportedError,
)
from firesteel.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    SinkFunction,
)
from firesteel.datastream.window import TumblingEventTimeWindows
from tests.datastream.programs import environment


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx): ...


class Plain(ProcessFunction):
    def process_element(self, value, ctx): ...


class Blocking(AsyncFunction):
    def async_invoke(self, value):
        return [value]


class Upper(MapFunction):
    def map(self, value): ...


ENV = environment()
STREAM = ENV.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
KEYED = STREAM.key_by(lambda pair: pair[0])
WINDOWED = KEYED.window(TumblingEventTimeWindows.of(Time.seconds(1)))

MISTAKES = {
    "no function": (lambda: STREAM.map(5), "map", "requires a function or a MapFunction; got an int: 5"),
    "the class": (lambda: STREAM.map(Upper), "map", "got the class Upper"),
    "a generator": (lambda: STREAM.flat_map(x for x in [1]), "flat_map", "got a generator that already runs"),
    "keyed function": (lambda: STREAM.process(Keyed()), "process", "requires a ProcessFunction; got a Keyed"),
    "function without keys": (lambda: KEYED.process(Plain()), "process", "requires a KeyedProcessFunction"),
    "no selector": (
        lambda: STREAM.key_by("name"),
        "key_by",
        "requires a function or a KeySelector; got a str: 'name'",
    ),
    "no type": (lambda: STREAM.map(str, str), "Map", "requires an output_type that is a TypeInformation"),
    "no key type": (
        lambda: STREAM.key_by(str, str),
        "key_by",
        "requires a TypeInformation; got the class str",
    ),
    "other type": (lambda: STREAM.union(STREAM.map(str)), "union", "requires streams of one type"),
    "no stream": (lambda: STREAM.union(5), "union", "requires a DataStream; got an int: 5"),
    "connect": (lambda: STREAM.connect(5), "connect", "requires a DataStream; got an int: 5"),
    "broadcast": (lambda: STREAM.broadcast(5), "broadcast", "requires a MapStateDescriptor; got an int: 5"),
    "no field": (
        lambda: STREAM.project(2),
        "project",
        "requires a stream of tuples, and indices of their fields",
    ),
    "no position": (
        lambda: KEYED.sum(1.5),
        "aggregate",
        "requires a position that is a field's index or name",
    ),
    "strategy": (
        lambda: STREAM.assign_timestamps_and_watermarks(5),
        "assign_timestamps",
        "requires a WatermarkStrategy",
    ),
    "no sink": (lambda: STREAM.sink_to(print), "sink", "requires a Sink"),
    "no tag": (
        lambda: STREAM.get_side_output("late"),
        "get_side_output",
        "requires an OutputTag; got a str: 'late'",
    ),
    "no assigner": (lambda: KEYED.window(5), "window", "requires a WindowAssigner; got an int: 5"),
    "no trigger": (lambda: WINDOWED.trigger(5), "trigger", "requires a Trigger; got an int: 5"),
    "lateness": (
        lambda: WINDOWED.allowed_lateness(-1),
        "allowed_lateness",
        "requires milliseconds that are not",
    ),
    "window function": (lambda: WINDOWED.process(max), "window", "requires a ProcessWindowFunction"),
    "aggregate": (lambda: WINDOWED.aggregate(max), "window", "requires an AggregateFunction"),
    "name of a union": (lambda: STREAM.union(STREAM).name("x"), "name", "got a union of streams"),
    "name of a partitioning": (lambda: STREAM.shuffle().name("x"), "name", "got a SHUFFLE stream"),
    "name of a key": (lambda: KEYED.name("x"), "name", "is for streams without keys"),
    "partitioned key": (lambda: KEYED.rebalance(), "rebalance", "is for streams without keys"),
    "broadcast key": (lambda: KEYED.broadcast(), "broadcast", "is for streams without keys"),
    "cached key": (lambda: KEYED.cache(), "cache", "is for streams without keys"),
    "name of a cache": (lambda: STREAM.cache().name("x"), "name", "got a cached stream"),
    "empty uid": (lambda: STREAM.map(str).uid(""), "uid", "requires a string that is not empty"),
    "uid hash": (
        lambda: STREAM.map(str).set_uid_hash("abc"),
        "set_uid_hash",
        "requires 32 hexadecimal digits",
    ),
    "parallelism": (lambda: STREAM.map(str).set_parallelism(0), "set_parallelism", "got int: 0"),
    "parallel collection": (
        lambda: STREAM.set_parallelism(2),
        "set_parallelism",
        "requires 1 for an operation that",
    ),
    "too parallel": (
        lambda: STREAM.map(str).set_max_parallelism(4).set_parallelism(5),
        "set_parallelism",
        "requires a parallelism of at most the max parallelism 4; got 5",
    ),
    "max parallelism": (lambda: ENV.set_max_parallelism(40_000), "set_max_parallelism", "from 1 to 32768"),
    "buffer timeout": (
        lambda: ENV.set_buffer_timeout(-2),
        "set_buffer_timeout",
        "requires a timeout of at least -1",
    ),
    "mode": (lambda: ENV.set_runtime_mode("BATCH"), "set_runtime_mode", "requires a RuntimeExecutionMode"),
    "collection": (lambda: ENV.from_collection(5), "from_collection", "requires a list or another iterable"),
    "source": (lambda: ENV.from_source(5, None, "x"), "source", "requires a Source; got an int: 5"),
    "configuration": (lambda: ENV.configure({}), "configure", "requires a Configuration; got a dict: {}"),
    "python file": (
        lambda: ENV.add_python_file("/no/such.py"),
        "add_python_file",
        "requires a file that exists",
    ),
    "async": (
        lambda: AsyncDataStream.ordered_wait(STREAM, Blocking(), Time.seconds(1)),
        "ordered_wait",
        "requires an async_invoke that is a coroutine function",
    ),
    "async timeout": (
        lambda: AsyncDataStream.unordered_wait(STREAM, Blocking(), 5),
        "unordered_wait",
        "requires a Time; got an int: 5",
    ),
    "limit": (
        lambda: STREAM.execute_and_collect(limit=0),
        "execute_and_collect",
        "requires a limit of at least 1",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_names_the_call_and_its_line(mistake):
    call, name, complaint = MISTAKES[mistake]
    line = inspect.getsourcelines(call)[1]
    with pytest.raises(ProgramError) as raised:
        call()
    message = str(raised.value)
    assert message.startswith(name)
    assert complaint in message
    assert any(f"test_errors.py:{number})" in message for number in range(line, line + 4))


def test_program_without_operations():
    with pytest.raises(ProgramError, match=r"execute\(\) requires at least one operation, typically a sink"):
        environment().execute()


def test_streams_of_two_environments_cannot_meet():
    large, small = environment(), environment()
    for _ in range(3):
        stream = large.from_collection([1])
    with pytest.raises(ProgramError, match="requires streams from one environment"):
        small.from_collection([1]).union(stream)
    with pytest.raises(ProgramError, match="requires streams from one environment"):
        stream.connect(small.from_collection([1]))


def test_value_that_does_not_fit_its_type():
    with pytest.raises(TypeMismatchError, match=r"^from_collection \(.*test_errors.py:\d+\).*; got str: 'x'"):
        ENV.from_collection([1, "x"], Types.INT())


def test_gap_names_the_line_and_the_reason():
    with pytest.raises(
        UnsupportedError, match=r"add_jars \(.*test_errors.py:\d+\) is not supported\n  hint: Flink's jars"
    ):
        ENV.add_jars("file:///my.jar")
    with pytest.raises(UnsupportedError, match=r"subclass firesteel\.functions\.sink\.Sink"):
        SinkFunction("org.example.Sink")


def test_unknown_option_of_our_own():
    with pytest.raises(
        ConfigurationError, match=r"got firesteel.state_dir\n  hint: did you mean firesteel.state-dir\?"
    ):
        ENV.configure(Configuration.from_dict({"firesteel.state_dir": "/tmp/x"}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("parallelism.default", "many"),
        ("execution.runtime-mode", "sometimes"),
        ("execution.checkpointing.interval", "often"),
        ("pipeline.global-job-parameters", "a"),
    ],
)
def test_option_with_a_value_it_cannot_take(key, value):
    with pytest.raises(ConfigurationError, match=key):
        environment().configure(Configuration.from_dict({key: value}))
