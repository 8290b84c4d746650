"""A program with state of every kind, and what must be in it, worked out without any of the engine's code."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from firesteel.common import Row, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.discard import DiscardingSink
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.control.launch import ExecutorFactory
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import (
    AggregateFunction,
    CheckpointedFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
)
from firesteel.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from firesteel.datastream.window import TumblingEventTimeWindows
from firesteel.testing import LocalExecutor, ManualClock, executing

EVENTS = [(f"user{at * 7 % 11}", at, at * 100) for at in range(120)]
"""Key, number, and timestamp in milliseconds."""

RULES = {"high": 5, "low": None, "mid": 3}
NOW = 1_000_000
VISIT = Types.ROW_NAMED(["at", "page"], [Types.SQL_TIMESTAMP(), Types.STRING()])


class Mean(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, one, other):
        return one[0] + other[0], one[1] + other[1]


def last_descriptor() -> ValueStateDescriptor:
    descriptor = ValueStateDescriptor("last", Types.INT())
    # Expired values stay until they are read, so that tests can look at them.
    config = StateTtlConfig.new_builder(Time.seconds(60)).disable_cleanup_in_background().build()
    descriptor.enable_time_to_live(config)
    return descriptor


COUNT = ValueStateDescriptor("count", Types.LONG())
VISITS = ListStateDescriptor("visits", VISIT)
AMOUNTS = MapStateDescriptor("amounts", Types.INT(), Types.BIG_DEC())
HIGHEST = ReducingStateDescriptor("highest", max, Types.INT())
MEAN = AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([Types.LONG(), Types.LONG()]))
ANYTHING = ValueStateDescriptor("anything")
RULE = MapStateDescriptor("rules", Types.STRING(), Types.INT())


def visit_of(number: int) -> tuple[dt.datetime, str | None]:
    return dt.datetime(2024, 1, 1) + dt.timedelta(minutes=number), None if number % 5 == 0 else f"/{number}"


class Kinds(KeyedProcessFunction):
    """Keeps state of every kind, and puts out the count."""

    def open(self, context):
        self.count = context.get_state(COUNT)
        self.visits = context.get_list_state(VISITS)
        self.amounts = context.get_map_state(AMOUNTS)
        self.highest = context.get_reducing_state(HIGHEST)
        self.mean = context.get_aggregating_state(MEAN)
        self.anything = context.get_state(ANYTHING)
        self.last = context.get_state(last_descriptor())

    def process_element(self, value, ctx):
        number = value[1]
        self.count.update((self.count.value() or 0) + 1)
        at, page = visit_of(number)
        self.visits.add(Row(at, page))
        self.amounts.put(number % 3, Decimal(number) / 4)
        self.highest.add(number)
        self.mean.add(number)
        self.anything.update({"seen": [number]})
        self.last.update(number)
        if number == 100:
            self.amounts.clear()
        ctx.timer_service().register_event_time_timer(1_000_000 + number)
        yield f"{ctx.get_current_key()} {self.count.value()}"


class Limits(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield from ()

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULE).put(value, RULES[value])
        yield from ()


class Seen(MapFunction, CheckpointedFunction):
    """Keeps the numbers it has seen in operator list state."""

    def initialize_state(self, context):
        self.saved = context.get_operator_state_store().get_list_state(
            ListStateDescriptor("seen", Types.INT())
        )

    def snapshot_state(self, context):
        pass

    def map(self, value):
        self.saved.add(value[1])
        return str(value[1])


class Sizes(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} window {context.window().start}: {len(list(elements))}"


class ThirdField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[2]


def build(env: StreamExecutionEnvironment, sink: Path | None = None) -> None:
    """Add the program to an environment; lines of what it puts out go to a directory, or nowhere."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ThirdField())
    read = env.from_collection(EVENTS)
    # One subtask, so that the events of a key stay in order.
    stream = read.assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    keyed = stream.key_by(lambda event: event[0])
    counts = keyed.process(Kinds()).uid("kinds").name("every kind")
    rules = env.from_collection(list(RULES)).broadcast(RULE)
    limits = keyed.connect(rules).process(Limits()).uid("limits").name("limits")
    windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
    sizes = windows.process(Sizes()).uid("sizes").name("sizes")
    seen = stream.map(Seen()).uid("seen").name("seen")
    results = counts.union(limits, sizes, seen)
    if sink is None:
        results._add_sink(DiscardingSink(), "nowhere")
    else:
        parts = FileSink(sink, TextLines(), BasePathBuckets(), RollingPolicy.on_epoch())
        results.sink_to(parts).uid("out")


def expected() -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each state after all events, as tuples, sorted."""
    mine: dict[str, list[int]] = defaultdict(list)
    for key, number, _ in EVENTS:
        mine[key].append(number)
    amounts = {}
    for key, numbers in mine.items():
        for number in numbers:
            amounts[key, number % 3] = Decimal(number) / 4
            if number == 100:
                amounts = {at: amount for at, amount in amounts.items() if at[0] != key}
    return {
        "count": sorted((key, len(numbers)) for key, numbers in mine.items()),
        "visits": sorted(
            (key, at, visit_of(number)) for key, numbers in mine.items() for at, number in enumerate(numbers)
        ),
        "amounts": sorted((key, at, amount) for (key, at), amount in amounts.items()),
        "highest": sorted((key, max(numbers)) for key, numbers in mine.items()),
        "mean": sorted((key, (sum(numbers), len(numbers))) for key, numbers in mine.items()),
        "anything": sorted((key, repr({"seen": [numbers[-1]]})) for key, numbers in mine.items()),
        "last": sorted((key, numbers[-1]) for key, numbers in mine.items()),
    }


def windows(start: int) -> list[str]:
    """The lines that the window which begins at this time puts out."""
    held = Counter(key for key, _, at in EVENTS if start <= at < start + 5000)
    return sorted(f"{key} window {start}: {size}" for key, size in held.items())


@contextmanager
def environment(
    directory: Path,
    *,
    on: ExecutorFactory = LocalExecutor,
    parallelism: int = 2,
    epoch_records: int = 30,
    compact_every: int = 100,
    clock: ManualClock | None = None,
    **settings: Any,
) -> Iterator[StreamExecutionEnvironment]:
    """An environment whose jobs have their state in `directory`; they run in this process unless `on` Spark."""

    with executing(
        on,
        state_dir=str(directory),
        parallelism=parallelism,
        epoch_records=epoch_records,
        clock=clock or ManualClock(NOW),
        maintenance=MaintenancePolicy(compact_every, 1000, inline=True),
        **settings,
    ):
        yield StreamExecutionEnvironment.get_execution_environment()


def run(directory: Path, **settings: Any) -> str:
    """Run the program to its end in a state directory, which is returned."""
    with environment(directory, **settings) as env:
        build(env)
        env.execute("levels")
    return str(directory)
