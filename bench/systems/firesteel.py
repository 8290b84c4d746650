"""Firesteel through its public API, on Spark in local mode with two task slots; state is durable after every epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from bench.systems.command import Run, Task, main
from bench.workload import LANES, WINDOW_MS, Outcome, Records, started_at
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
from firesteel.datastream.window import TimeWindow, TumblingEventTimeWindows
from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
Pair = tuple[int, int]


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


class _TallyWriter(SinkWriter[Pair]):
    def __init__(self) -> None:
        self._results = 0
        self._total = 0

    def write(self, values: Sequence[Pair], timestamps: Sequence[int | None] | None) -> None:
        self._results += len(values)
        self._total += sum([value[1] for value in values])

    def prepare_commit(self) -> list[Pair]:
        return [(self._results, self._total)]


class _TallyCommitter(Committer):
    def __init__(self, add: Callable[[int, int], None]) -> None:
        self._add = add

    def commit(self, committables: Sequence[Pair]) -> None:
        for results, total in committables:
            self._add(results, total)


class TallySink(Sink[Pair]):
    """Counts what reaches it; the time of a commit is the time at which its epoch's results are visible."""

    def __init__(self) -> None:
        self.results = 0
        self.total = 0
        self.ended = 0.0

    def create_writer(self, context: WriterContext) -> SinkWriter[Pair]:
        return _TallyWriter()

    def create_committer(self) -> Committer:
        return _TallyCommitter(self._add)

    def _add(self, results: int, total: int) -> None:
        self.results += results
        self.total += total
        self.ended = time.time()


def pipeline(env: StreamExecutionEnvironment, task: Task) -> DataStream:
    """The job's results."""
    job = task.job
    record = Records(job, str(task.scratch / "start")).record

    def generate(index: int) -> Pair:
        return record(index // LANES, index % LANES)

    source = DataGeneratorSource(generate, count=job.records)
    records = env.from_source(source, WatermarkStrategy.no_watermarks(), "records", PAIR)
    if job.kind == "map":
        return records.map(lambda value: (value[0], value[1] + 1), PAIR)
    if job.kind == "count":
        keyed = records.key_by(lambda value: value[0], Types.LONG())
        return keyed.process(Count(job.per_key), PAIR)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Number())
    keyed = records.assign_timestamps_and_watermarks(times).key_by(lambda value: value[0], Types.LONG())
    windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
    return windowed.aggregate(CountAll(), WithKey(), Types.LONG(), PAIR)


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
    return Run(task.job.records, sink.ended - started_at(str(task.scratch / "start")), outcome)


if __name__ == "__main__":
    main(run)
