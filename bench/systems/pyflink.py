"""PyFlink: `process` mode (separate Python workers, the default) and `thread` mode (Python inside the JVM).

Settings in favour of PyFlink: typed edges, object reuse, large bundles, a state cache that holds every key of the small
jobs, real worker processes (by default a local PyFlink runs its workers as threads of one interpreter), and no
checkpoints, though that leaves its state less durable than that of the others.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyflink.common import Configuration, Time, Types, WatermarkStrategy  # type: ignore[import-not-found]
from pyflink.common.watermark_strategy import TimestampAssigner  # type: ignore[import-not-found]
from pyflink.datastream import (  # type: ignore[import-not-found]
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource  # type: ignore[import-not-found]
from pyflink.datastream.functions import SinkFunction  # type: ignore[import-not-found]
from pyflink.datastream.state import ValueStateDescriptor  # type: ignore[import-not-found]
from pyflink.datastream.window import (  # type: ignore[import-not-found]
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]

from bench.systems.command import Run, Task, main
from bench.workload import (
    GAP_MS,
    LANES,
    PANES,
    PER_WINDOW_AND_KEY,
    TIMER_MS,
    WINDOW_MS,
    Job,
    Outcome,
    Records,
    started_at,
)

WORKERS_VARIABLE = "_python_worker_execution_mode"
PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


class Generate(MapFunction):  # type: ignore[misc]
    """A lane is a half of the indices, or every other index if `dealt`."""

    def __init__(self, job: Job, start: str, dealt: bool) -> None:
        self._job = job
        self._start = start
        self._dealt = dealt
        self._half = job.records // LANES

    def open(self, runtime_context: Any) -> None:
        self._record = Records(self._job, self._start).record

    def map(self, index: int) -> tuple[int, int]:
        if self._dealt:
            return self._record(index // LANES, index % LANES)
        return self._record(index % self._half, index // self._half)


class Tally:
    """Counts one subtask's results and leaves the figures in a file when the function is closed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.results = 0
        self.total = 0

    def leave(self) -> None:
        figures = {"results": self.results, "total": self.total, "ended": time.time()}
        Path(self._folder, f"{uuid.uuid4()}.tally").write_text(json.dumps(figures), encoding="ascii")


class Increment(MapFunction):  # type: ignore[misc]
    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def map(self, value: tuple[int, int]) -> tuple[int, int]:
        key, number = value
        number += 1
        tally = self._tally
        tally.results += 1
        tally.total += number
        return key, number

    def close(self) -> None:
        self._tally.leave()


class Count(KeyedProcessFunction):  # type: ignore[misc]
    """Counts each key's records in a ValueState and emits the count when it is complete."""

    def __init__(self, per_key: int, tally: Tally) -> None:
        self._per_key = per_key
        self._tally = tally

    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: Any) -> Iterator[tuple[int, int]]:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        if count == self._per_key:
            self._tally.results += 1
            self._tally.total += count
            yield value[0], count

    def close(self) -> None:
        self._tally.leave()


class Timers(KeyedProcessFunction):  # type: ignore[misc]
    """Registers a timer for each record and emits a result when it is due."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def process_element(self, value: tuple[int, int], ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value[1] + TIMER_MS)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int]]:
        self._tally.results += 1
        self._tally.total += 1
        yield ctx.get_current_key(), 1

    def close(self) -> None:
        self._tally.leave()


class Counted(MapFunction):  # type: ignore[misc]
    """Counts what a reduction emits, as its function does not see a key's first record."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def map(self, value: tuple[int, int]) -> tuple[int, int]:
        self._tally.results += 1
        self._tally.total += value[1]
        return value

    def close(self) -> None:
        self._tally.leave()


class CountAll(AggregateFunction):  # type: ignore[misc]
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: tuple[int, int], accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithKey(WindowFunction):  # type: ignore[misc]
    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def apply(self, key: int, window: Any, inputs: Iterable[int]) -> Iterator[tuple[int, int]]:
        for count in inputs:
            self._tally.results += 1
            self._tally.total += count
            yield key, count

    def close(self) -> None:
        self._tally.leave()


class Number(TimestampAssigner):  # type: ignore[misc]
    def extract_timestamp(self, value: tuple[int, int], record_timestamp: int) -> int:
        return value[1]


def environment(mode: str) -> StreamExecutionEnvironment:
    """Return a local environment with two subtasks."""
    os.environ[WORKERS_VARIABLE] = "process"
    settings = {
        "python.execution-mode": mode,
        "python.fn-execution.bundle.size": "100000",
        "python.fn-execution.bundle.time": "1000",
        "python.state.cache-size": "1000000",
        "pipeline.object-reuse": "true",
    }
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    return env.set_parallelism(LANES)


def pipeline(env: StreamExecutionEnvironment, task: Task) -> DataStream:
    """Return the job's results."""
    job, tally = task.job, Tally(str(task.scratch))
    indices = env.from_source(
        NumberSequenceSource(0, job.records - 1), WatermarkStrategy.no_watermarks(), "indices", Types.LONG()
    )
    # A subtask that is up first may read all splits of a small source, and the second lane's records would be late.
    dealt = job.kind in PER_WINDOW_AND_KEY
    if dealt:
        indices = indices.set_parallelism(1).rebalance()
    records = indices.map(Generate(job, str(task.scratch / "start"), dealt), PAIR)
    if job.kind == "map":
        return records.map(Increment(tally), PAIR)
    if job.kind in ("count", "reduce"):
        keyed = records.key_by(lambda value: value[0], Types.LONG())
        if job.kind == "reduce":
            return keyed.reduce(add).map(Counted(tally), PAIR)
        return keyed.process(Count(job.per_key, tally), PAIR)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Number())
    keyed = records.assign_timestamps_and_watermarks(times).key_by(lambda value: value[0], Types.LONG())
    if job.kind == "timers":
        return keyed.process(Timers(tally), PAIR)
    return keyed.window(assigner(job.kind)).aggregate(CountAll(), WithKey(tally), Types.LONG(), PAIR)


def add(accumulated: tuple[int, int], value: tuple[int, int]) -> tuple[int, int]:
    """Return the sum for a key."""
    return accumulated[0], accumulated[1] + value[1]


def assigner(kind: str) -> Any:
    """Return the window assigner of a job."""
    if kind == "sliding":
        return SlidingEventTimeWindows.of(Time.milliseconds(PANES * WINDOW_MS), Time.milliseconds(WINDOW_MS))
    if kind == "session":
        return EventTimeSessionWindows.with_gap(Time.milliseconds(GAP_MS))
    return TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))


def run(task: Task) -> Run:
    """Run the job into a sink that discards, and gather what its functions counted."""
    env = environment(task.mode)
    discard = get_gateway().jvm.org.apache.flink.streaming.api.functions.sink.legacy.DiscardingSink()
    pipeline(env, task).add_sink(SinkFunction(discard))
    env.execute()
    tallies = [json.loads(path.read_text(encoding="ascii")) for path in task.scratch.glob("*.tally")]
    outcome = Outcome(sum(tally["results"] for tally in tallies), sum(tally["total"] for tally in tallies))
    ended = max((tally["ended"] for tally in tallies), default=time.time())
    return Run(task.job.records, ended - started_at(str(task.scratch / "start")), outcome)


if __name__ == "__main__":
    main(run)
