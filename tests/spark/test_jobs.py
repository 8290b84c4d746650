"""Jobs on Spark that are watched and cancelled, and jobs whose workers die."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Encoder, JobStatus, WatermarkStrategy
from firesteel.common.errors import EngineError, FiresteelError
from firesteel.control.running import running_jobs
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink
from firesteel.datastream.functions import MapFunction, RuntimeContext
from firesteel.testing import ScriptedSource, executing

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.fixture
def env() -> Iterator[StreamExecutionEnvironment]:
    with executing("spark", parallelism=2, epoch_records=4):
        yield StreamExecutionEnvironment.get_execution_environment()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_client_waits_for_the_result(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1, 2, 3]).map(lambda value: value + 1).print()
    client = env.execute_async("three")
    result = client.get_job_execution_result().result()
    assert result.get_job_id() == client.get_job_id()
    assert result.get_net_runtime() > 0
    assert client.get_job_status().result() is JobStatus.FINISHED


def test_a_client_cancels_a_job_that_would_never_end(env: StreamExecutionEnvironment) -> None:
    endless = ScriptedSource([1, 2, 3], bounded=False)
    stream = env.from_source(endless, WatermarkStrategy.no_watermarks(), "endless")
    assert (
        next(iter(stream.map(lambda value: value).execute_and_collect())) == 1
    )  # leaving the iterator ends the job
    env.from_source(endless, WatermarkStrategy.no_watermarks(), "endless").print()
    client = env.execute_async("endless")
    assert client.get_job_status().result() is JobStatus.RUNNING
    client.cancel().result()
    with pytest.raises(FiresteelError, match="was cancelled"):
        client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.CANCELED


@pytest.mark.timeout(120)
def test_cancelling_interrupts_an_epoch_that_hangs(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    began = tmp_path / "began"
    os.mkfifo(began)

    def hang(value: int) -> int:
        began.write_text("now")
        threading.Event().wait()
        return value

    env.from_collection([1]).map(hang).print()
    client = env.execute_async("hangs")
    assert began.read_text() == "now"  # blocks until the function runs
    client.cancel().result()
    with pytest.raises(FiresteelError, match="was cancelled"):
        client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.CANCELED
    # The workers are free again.
    numbers = env.from_collection(list(range(8))).map(lambda value: value + 1)
    assert sorted(numbers.execute_and_collect()) == list(range(1, 9))


class Closed(MapFunction):
    """Leaves a file behind when it is closed, named after its process."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def open(self, runtime_context: RuntimeContext) -> None:
        self._subtask = runtime_context.get_index_of_this_subtask()
        (self._directory / f"opened-{self._subtask}-{os.getpid()}").touch()

    def map(self, value: int) -> int:
        return value

    def close(self) -> None:
        (self._directory / f"closed-{self._subtask}-{os.getpid()}").touch()


@pytest.mark.parametrize("how", ["stop", "cancel"])
def test_functions_are_closed_in_their_workers_when_a_job_ends_early(
    env: StreamExecutionEnvironment, tmp_path: Path, how: str
) -> None:
    endless = ScriptedSource(list(range(8)), list(range(8)), bounded=False)
    stream = env.from_source(endless, WatermarkStrategy.no_watermarks(), "endless")
    with stream.map(Closed(tmp_path)).execute_and_collect() as results:
        assert sorted(islice(results, 16)) == sorted([*range(8), *range(8)])
        # Leaving the block cancels the job.
        if how == "stop":
            running_jobs()[-1].stop().result()
    opened = {path.name.removeprefix("opened") for path in tmp_path.glob("opened*")}
    closed = {path.name.removeprefix("closed") for path in tmp_path.glob("closed*")}
    assert opened
    assert closed == opened


def test_a_worker_that_dies_once_costs_nothing(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    marker = tmp_path / "died"

    def frail(value: int) -> str:
        if value == 11 and not marker.exists():
            marker.touch()
            die()
        return str(value)

    sink = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).build()
    source = ScriptedSource(list(range(16)))
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    stream.key_by(lambda value: value % 3).map(frail).sink_to(sink)
    env.execute()
    assert marker.exists()
    parts = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and path.name[0] != "."]
    written = sorted(int(line) for path in parts for line in path.read_text().splitlines())
    assert written == list(range(16))


def test_a_worker_that_always_dies_ends_the_job_with_a_clear_error(env: StreamExecutionEnvironment) -> None:
    def frail(value: Any) -> None:
        die()

    env.from_collection([1]).map(frail).print()
    with pytest.raises(EngineError) as caught:
        env.execute()
    assert str(caught.value) == (
        "Spark could not run the epoch's job; got Python worker exited unexpectedly (crashed)\n"
        "  hint: a worker process was killed (out of memory?), or native code it calls crashed"
    )
