"""Epochs begin at least so far apart, unless there is more to read than the last one took."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.common import Types, WatermarkStrategy
from firesteel.common.configuration import Configuration
from firesteel.common.job_status import JobStatus
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.control.handle import JobHandle
from firesteel.control.pacing import EAGER_POLL_MS, EAGER_POLLS, POLL_MS, Pacing
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.testing import ManualClock, executing
from tests.recovery.jobs import Interrupting, start

BEGIN = 1_000_000
RATE = 1000


def test_a_job_without_input_looks_for_it_often_at_first() -> None:
    pacing = Pacing(0)
    pacing.began(0, more=False)
    assert [pacing.pause(now) for now in range(EAGER_POLLS)] == [EAGER_POLL_MS] * EAGER_POLLS
    assert pacing.pause(EAGER_POLLS) == POLL_MS
    pacing.began(EAGER_POLLS, more=False)
    assert pacing.pause(EAGER_POLLS) == EAGER_POLL_MS


def test_a_rest_is_no_look() -> None:
    pacing = Pacing(3000)
    pacing.began(0, more=False)
    assert [pacing.pause(now) for now in range(2 * EAGER_POLLS)] == [*range(3000, 3000 - 2 * EAGER_POLLS, -1)]
    assert pacing.pause(3000) == EAGER_POLL_MS


def test_a_run_that_begins_does_not_wait() -> None:
    pacing = Pacing(3000)
    assert pacing.rest(5) == 0
    pacing.began(5, more=False)
    assert pacing.rest(6) == 2999
    pacing.resume()
    assert pacing.rest(6) == 0


class Timers(KeyedProcessFunction):
    """Asks for a timer 10 ms after each record, and puts out when it fired."""

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 10)
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[int]:
        yield ctx.timer_service().current_processing_time() - BEGIN


def numbers(env: StreamExecutionEnvironment, count: int | None) -> Any:
    source = DataGeneratorSource(lambda index: index, count=count, records_per_second=RATE)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())


def run(directory: Path, count: int, clock: ManualClock, on: str = "process", **more: Any) -> list[Any]:
    options = Configuration.from_dict({"firesteel.epoch.min-interval": "500 ms"})
    with executing(on, clock=clock, state_dir=str(directory), retained=1000, parallelism=1, **more):  # type: ignore[arg-type]
        env = StreamExecutionEnvironment.get_execution_environment(options)
        return [
            *numbers(env, count)
            .key_by(lambda number: 0, Types.LONG())
            .process(Timers())
            .execute_and_collect()
        ]


def epochs(directory: Path) -> list[tuple[int, int]]:
    """Return when each epoch with records began, since the job began (milliseconds), and how many it has."""
    reader = ManifestReader(Storage.of(directory))
    manifests = [reader.read(epoch) for epoch in reader.epochs()]
    return [(found.processing_time - BEGIN, found.records) for found in manifests if found.records]


@pytest.mark.parametrize(
    "on", ["process", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")])]
)
def test_epochs_begin_so_far_apart_and_take_what_has_come(tmp_path: Path, on: str) -> None:
    fired = run(tmp_path, 2000, ManualClock(BEGIN), on)
    found = epochs(tmp_path)
    assert sum(records for _, records in found) == 2000
    assert all(after - before >= 500 for (before, _), (after, _) in pairwise(found))
    assert len(found) <= 5
    assert all(after - before >= 500 for before, after in pairwise(sorted(set(fired))))


def test_an_epoch_that_leaves_something_is_followed_at_once(tmp_path: Path) -> None:
    run(tmp_path, 2000, ManualClock(BEGIN), max_epoch_records=100)
    found = epochs(tmp_path)
    assert max(records for _, records in found) == 100
    assert found[-1][0] <= 2000 + 500
    assert len({began for began, _ in found}) <= 6


@pytest.mark.parametrize("asked", ["stop", "rescale"])
def test_what_is_asked_of_a_job_that_rests_is_done_at_once(tmp_path: Path, asked: str) -> None:
    answers: list[Future[str]] = []
    times: list[int] = []
    handles: list[JobHandle] = []
    started = threading.Event()

    def act() -> None:
        assert started.wait(60)
        [handle] = handles
        answers.append(handle.rescale(2) if asked == "rescale" else handle.stop())
        answers[0].add_done_callback(lambda _: times.append(clock.now()))
        if asked == "rescale":
            answers[0].add_done_callback(lambda _: handle.stop())

    clock = Interrupting(100, act)
    options = Configuration.from_dict({"firesteel.epoch.min-interval": "1 h"})
    with executing("process", clock=clock, state_dir=str(tmp_path), parallelism=1):
        env = StreamExecutionEnvironment.get_execution_environment(options)
        numbers(env, None).map(lambda number: number + 1, Types.LONG()).print()
        handles.append(start(env))
        started.set()
        handles[0].wait()
    assert answers[0].exception(0) is None
    assert times[0] - BEGIN < 3_600_000
    assert handles[0].status is JobStatus.FINISHED
