"""What functions and the engine measure, in committed epochs: counted once, whatever fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import ProgramError
from firesteel.common.time import Time
from firesteel.common.typeinfo import Types
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from firesteel.control.listeners import EpochStats
from firesteel.control.machine import RestartPolicy
from firesteel.control.views.metrics import JobMetrics, OperatorMetrics, read_metrics
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import MapFunction, ProcessFunction, RuntimeContext
from firesteel.datastream.window import TumblingEventTimeWindows
from firesteel.functions.output_tag import OutputTag
from firesteel.testing import executing

NUMBERS = 40
ODD = OutputTag("odd", Types.INT())
PARALLELISM = 2


class Counting(MapFunction):
    """Counts what it maps, in every way; fails once at the number `fails_at`, marked by a file."""

    def __init__(self, fails_at: int | None = None, marker: Path | None = None) -> None:
        self.fails_at, self.marker = fails_at, marker

    def open(self, runtime_context: RuntimeContext) -> None:
        group = runtime_context.get_metrics_group().add_group("maps", "all")
        self.seen = group.counter("seen")
        self.odd = runtime_context.get_metrics_group().meter("odd", 60)
        self.sizes = group.distribution("sizes")
        self.last = 0
        group.gauge("last", lambda: self.last)

    def map(self, value: int) -> int:
        self.seen.inc()
        self.odd.mark_event(value % 2)
        self.sizes.update(value)
        self.last = value
        if value == self.fails_at and self.marker is not None and not self.marker.exists():
            self.marker.write_text("")
            raise ValueError("once")
        return value


class Listening:
    """Keeps the metrics of every epoch."""

    def __init__(self) -> None:
        self.epochs: list[JobMetrics] = []

    def on_epoch(self, stats: EpochStats) -> None:
        metrics = stats.metrics()
        assert metrics is not None
        self.epochs.append(metrics)

    def last(self, operator: str) -> OperatorMetrics:
        return next(found for found in self.epochs[-1].operators if found.name == operator)


def run(function: MapFunction, on: Any = "process", **settings: Any) -> Listening:
    listening = Listening()
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection(list(range(NUMBERS)), Types.INT()).name("numbers")
    stream.rebalance().map(function, Types.INT()).name("count").print().name("out")
    with executing(on, epoch_records=7, parallelism=PARALLELISM, listener=listening, **settings):
        env.execute("metrics")
    return listening


def check(listening: Listening) -> None:
    count = listening.last("count")
    assert count.value("maps.all.seen") == NUMBERS
    assert count.value("odd") == NUMBERS / 2
    assert count.value("odd.rate") == pytest.approx(NUMBERS / 2 / 60)
    sizes = [count.value(f"maps.all.sizes.{part}") for part in ("count", "sum", "min", "max", "mean")]
    assert sizes == [NUMBERS, sum(range(NUMBERS)), 0, NUMBERS - 1, (NUMBERS - 1) / 2]
    (last,) = (metric for metric in count.metrics if metric.name == "maps.all.last")
    assert last.value is None
    assert len(last.subtasks) == PARALLELISM
    assert NUMBERS - 1 in last.subtasks
    for operator in ("count", "out"):
        assert listening.last(operator).value("numRecordsIn") == NUMBERS
    for operator in ("numbers", "count"):
        assert listening.last(operator).value("numRecordsOut") == NUMBERS
    assert listening.last("numbers").value("numRecordsIn") == NUMBERS


def test_metrics_grow_from_epoch_to_epoch_and_sum_over_subtasks() -> None:
    listening = run(Counting())
    check(listening)
    seen = [
        operator.value("maps.all.seen")
        for metrics in listening.epochs
        for operator in metrics.operators
        if operator.name == "count"
    ]
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert {metrics.since for metrics in listening.epochs} == {1}


def test_an_epoch_that_failed_counts_nothing(tmp_path: Path) -> None:
    policy = RestartPolicy(attempts=2, delay_ms=0)
    marker = tmp_path / "failed"
    check(run(Counting(fails_at=20, marker=marker), restart=policy))
    assert marker.exists()


@pytest.mark.spark
def test_metrics_on_spark(tmp_path: Path) -> None:
    check(run(Counting(), "spark", state_dir=str(tmp_path / "state")))


def test_metrics_are_read_from_the_state_directory_when_the_driver_is_gone(tmp_path: Path) -> None:
    listening = run(Counting(), state_dir=str(tmp_path))
    assert read_metrics(Storage.of(tmp_path)) == listening.epochs[-1]


class SecondsOf(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value


def test_late_records_are_counted() -> None:
    listening = Listening()
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondsOf())
    times = env.from_collection([1, 50, 2, 3], Types.INT()).assign_timestamps_and_watermarks(strategy)
    windows = times.key_by(lambda time: 0).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    windows.reduce(max).name("greatest").print()
    with executing(epoch_records=1, parallelism=1, listener=listening, watermark_interval=0):
        env.execute("late")
    assert listening.last("greatest").value("numLateRecordsDropped") == 2


def test_side_outputs_count_as_output() -> None:
    class Apart(ProcessFunction):
        def process_element(self, value: int, ctx: ProcessFunction.Context) -> Iterator[Any]:
            if value % 2:
                yield ODD, value
            else:
                yield value

    listening = Listening()
    env = StreamExecutionEnvironment.get_execution_environment()
    apart = env.from_collection([1, 2, 3], Types.INT()).process(Apart(), Types.INT()).name("apart")
    apart.get_side_output(ODD).print()
    with executing(parallelism=1, listener=listening):
        env.execute("apart")
    assert listening.last("apart").value("numRecordsOut") == 3


def test_a_gauge_without_a_number_is_the_functions_error() -> None:
    class Wrong(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.get_metrics_group().gauge("size", lambda: "many")  # type: ignore[arg-type, return-value]

        def map(self, value: int) -> int:
            return value

    with pytest.raises(ProgramError, match=r"map 'count' \(.*\) requires gauge 'size' to return a number"):
        run(Wrong())
