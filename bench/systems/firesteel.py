"""Firesteel through its public API, on Spark in local mode with two task slots; state is durable after every epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bench.systems.command import Run, Task, main
from bench.tally import Pair, TallySink
from bench.workload import GAP_MS, LANES, PANES, TIMER_MS, WINDOW_MS, Outcome, Records, started_at
from firesteel.common import Configuration, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    WindowAssigner,
)

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


class Count(KeyedProcessFunction):
    """Counts each key's records in a ValueState and emits the count when it is complete."""

    def __init__(self, per_key: int) -> None:
        self._per_key = per_key

    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Pair, ctx: Any) -> Iterator[Pair]:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        if count == self._per_key:
            yield value[0], count


class CountAll(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Pair, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithKey(WindowFunction[int, Pair, int, TimeWindow]):
    def apply(self, key: int, window: TimeWindow, inputs: Iterable[int]) -> Iterator[Pair]:
        for count in inputs:
            yield key, count


class Number(TimestampAssigner):
    def extract_timestamp(self, value: Pair, record_timestamp: int) -> int:
        return value[1]


class Timers(KeyedProcessFunction):
    """Registers a timer for each record and emits a result when it is due."""

    def process_element(self, value: Pair, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value[1] + TIMER_MS)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Pair]:
        yield ctx.get_current_key(), 1


def pipeline(env: StreamExecutionEnvironment, task: Task) -> DataStream:
    """Return the job's results."""
    job = task.job
    record = Records(job, str(task.scratch / "start")).record

    def generate(index: int) -> Pair:
        return record(index // LANES, index % LANES)

    source = DataGeneratorSource(generate, count=job.records)
    records = env.from_source(source, WatermarkStrategy.no_watermarks(), "records", PAIR)
    if job.kind == "map":
        return records.map(lambda value: (value[0], value[1] + 1), PAIR)
    if job.kind in ("count", "reduce"):
        keyed = records.key_by(lambda value: value[0], Types.LONG())
        return keyed.reduce(add) if job.kind == "reduce" else keyed.process(Count(job.per_key), PAIR)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Number())
    keyed = records.assign_timestamps_and_watermarks(times).key_by(lambda value: value[0], Types.LONG())
    if job.kind == "timers":
        return keyed.process(Timers(), PAIR)
    return keyed.window(assigner(job.kind)).aggregate(CountAll(), WithKey(), Types.LONG(), PAIR)


def add(accumulated: Pair, value: Pair) -> Pair:
    """Return the sum for a key."""
    return accumulated[0], accumulated[1] + value[1]


def assigner(kind: str) -> WindowAssigner[Any, TimeWindow]:
    """Return the window assigner of a job."""
    if kind == "sliding":
        return SlidingEventTimeWindows.of(Time.milliseconds(PANES * WINDOW_MS), Time.milliseconds(WINDOW_MS))
    if kind == "session":
        return EventTimeSessionWindows.with_gap(Time.milliseconds(GAP_MS))
    return TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))


def run(task: Task) -> Run:
    """Run the job; the time is that from the first record to the commit of the last epoch."""
    configuration = Configuration()
    configuration.set_string("firesteel.master", f"local[{LANES},4]")
    configuration.set_string("firesteel.state-dir", str(task.scratch / "state"))
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(LANES)
    sink = TallySink()
    pipeline(env, task).sink_to(sink)
    env.execute()
    outcome = Outcome(sink.results, sink.total)
    return Run(task.job.records, sink.commits[-1] - started_at(str(task.scratch / "start")), outcome)


if __name__ == "__main__":
    main(run)
