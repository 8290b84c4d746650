"""What functions and the engine measure, in committed epochs: counted once, whatever fails."""

from __future__ import annotations

import time
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
from firesteel.control.views.metrics import JobMetrics, MetricView, OperatorMetrics, read_metrics
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import (
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    RuntimeContext,
)
from firesteel.datastream.window import TumblingEventTimeWindows
from firesteel.functions.output_tag import OutputTag
from firesteel.state.descriptors import ValueStateDescriptor
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
    kept = read_metrics(Storage.of(tmp_path))
    assert kept is not None
    assert kept.epoch == listening.epochs[-1].epoch
    listening.epochs.append(kept)
    check(listening)


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


class Totals(KeyedProcessFunction):
    """Counts per key, in keyed state."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        self.count.update((self.count.value() or 0) + 1)
        yield value


def run_keyed(on: Any = "process", **settings: Any) -> Listening:
    listening = Listening()
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection(list(range(NUMBERS)), Types.INT()).name("numbers")
    numbers.key_by(lambda value: value % 7, Types.INT()).process(Totals(), Types.INT()).name("totals").print()
    with executing(on, epoch_records=10, parallelism=PARALLELISM, listener=listening, **settings):
        env.execute("keyed")
    return listening


def check_usage(listening: Listening) -> None:
    """What the engine measures by itself: of operators, of the job, of workers."""
    last = listening.epochs[-1]
    numbers, totals = listening.last("numbers"), listening.last("totals")
    assert numbers.value("numBytesOut") == totals.value("numBytesIn")
    assert (totals.value("numBytesIn") or 0) > 0
    shares = ("busyTimeMsPerSecond", "backPressuredTimeMsPerSecond", "idleTimeMsPerSecond")
    for operator in (numbers, totals):
        for subtask in range(len(of(operator, shares[0]).subtasks)):
            found = [of(operator, name).subtasks[subtask] for name in shares]
            assert sum(number or 0 for number in found) == pytest.approx(1000)
        assert (operator.value("accumulateBusyTimeMs") or 0) >= 0
    assert sum(number or 0 for number in of(totals, "stateMemoryBytes").subtasks) > 0
    assert of(totals, "stateCacheHitRatio").subtasks[0] is not None
    job = {metric.name: metric.value for metric in last.job}
    assert job["numberOfCompletedCheckpoints"] == job["lastCompletedCheckpointId"] == last.epoch
    assert job["numberOfFailedCheckpoints"] == job["numRestarts"] == 0
    assert (job["lastCheckpointSize"] or 0) > 0
    for phase in ("epochPlanTime", "epochRunTime", "epochCommitTime"):
        assert job[f"{phase}.count"] == last.epoch
    assert last.bottleneck is not None
    assert last.workers
    assert all(worker.memory > worker.state_memory for worker in last.workers)


def of(operator: OperatorMetrics, name: str) -> MetricView:
    return next(metric for metric in operator.metrics if metric.name == name)


def test_the_engine_measures_time_bytes_state_and_checkpoints() -> None:
    check_usage(run_keyed())


@pytest.mark.spark
def test_usage_on_spark(tmp_path: Path) -> None:
    check_usage(run_keyed("spark", state_dir=str(tmp_path / "state"), latency_interval=1))


def test_markers_of_latency_reach_every_operator_behind_a_source() -> None:
    listening = run_keyed(latency_interval=1)
    source = listening.last("numbers").id
    totals = listening.last("totals")
    assert (of(totals, f"source_id.{source}.latency_max").value or 0) >= 0
    sink = listening.epochs[-1].operators[-1]
    arrived, visible = (
        of(sink, f"source_id.{source}.{kind}_min").value for kind in ("latency", "visibleLatency")
    )
    assert 0 <= (arrived or 0) <= (visible or 0)
    assert not [metric for metric in run_keyed().last("totals").metrics if "latency" in metric.name]


class Slow(MapFunction):
    """Works for a while on each number."""

    def map(self, value: int) -> int:
        until = time.perf_counter() + 0.002
        while time.perf_counter() < until:
            continue
        return value


def test_the_slow_operator_of_a_chain_is_the_bottleneck() -> None:
    listening = Listening()
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection(list(range(100)), Types.INT()).name("numbers")
    numbers.map(lambda value: value, Types.INT()).name("quick").map(Slow(), Types.INT()).name("slow").print()
    with executing(epoch_records=50, parallelism=1, listener=listening):
        env.execute("slow")
    found = listening.epochs[-1].bottleneck
    assert found is not None
    assert (found.name, found.subtask) == ("slow", 0)
    busy = {name: of(listening.last(name), "accumulateBusyTimeMs").value or 0 for name in ("quick", "slow")}
    assert busy["slow"] >= 200 > busy["quick"]
    held = of(listening.last("quick"), "accumulateBackPressuredTimeMs").value or 0
    assert held >= busy["slow"] - busy["quick"]
