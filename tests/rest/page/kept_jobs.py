"""Jobs that run for all that a server can tell: a process holds the locks of their drivers and writes what these would.

python -m tests.rest.page.kept_jobs DIRECTORY        keeps the jobs of a cluster until SIGTERM
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from firesteel.checkpoint.objects import Storage
from firesteel.common.configuration import Configuration
from firesteel.common.typeinfo import Types
from firesteel.connectors.discard import DiscardingSink
from firesteel.control.commands import DriverStatus, now_ms, read_status, write_status
from firesteel.control.views.metrics import (
    JobMetrics,
    MetricView,
    OperatorMetrics,
    read_metrics,
    write_metrics,
)
from firesteel.control.views.plans import read_plan, write_plan
from firesteel.datastream import DataStream, StreamExecutionEnvironment
from firesteel.rest.dispatcher import Dispatcher, new_job_id
from firesteel.rest.records import DriverProcess, JobRecord, Submission
from firesteel.testing import executing
from harness.waiting import until

EVERY: Final = 2.0
"""How often a driver measures, and says that it lives (seconds)."""

WIDE: Final = "wide"
"""The job of a thousand operators."""

PARALLELISM: Final = 2
_LANES: Final = 20
_STEPS: Final = 50
_CROSSING: Final = 7
_FULL_MS: Final = 1_000.0

_KEPT: Final = "kept"
"""The file that says that all jobs run."""

Program = Callable[[StreamExecutionEnvironment], None]


def counting(env: StreamExecutionEnvironment) -> None:
    """Build five operators in four vertices."""
    numbers = env.from_collection(list(range(40)), Types.INT()).name("numbers").rebalance()
    same = numbers.map(lambda value: value, Types.INT()).name("same").filter(lambda value: value >= 0)
    sums = same.key_by(lambda value: value % 4).reduce(lambda one, other: one + other).name("sum")
    sums.rebalance().sink_to(DiscardingSink()).name("out")


def wide(env: StreamExecutionEnvironment) -> None:
    """Build a thousand operators, each a vertex of its own, in lanes that read of each other now and then."""
    lanes: list[DataStream] = [
        env.from_collection(list(range(4)), Types.INT()).name(f"numbers {lane}") for lane in range(_LANES)
    ]
    for step in range(1, _STEPS - 1):
        lanes = [
            _step(
                lanes[lane].union(lanes[lane - 1]) if _crosses(lane, step) else lanes[lane], f"{lane}.{step}"
            )
            for lane in range(_LANES)
        ]
    for lane, last in enumerate(lanes):
        last.rebalance().sink_to(DiscardingSink()).name(f"out {lane}")


def _crosses(lane: int, step: int) -> bool:
    return (lane + step) % _CROSSING == 0 and step % 2 == 1


def _step(stream: DataStream, name: str) -> DataStream:
    return stream.rebalance().map(lambda value: value, Types.INT()).name(f"step {name}")


def made(directory: Path, jobs: int) -> list[str]:
    """Make the files of so many small jobs and of the wide one; return their ids, that of the wide one last.

    A job of either kind has run in this process, and others of its kind are copies under other names.
    """
    cluster, program = directory / "cluster", directory / "program"
    for needed in (cluster, program):
        needed.mkdir(parents=True)
    dispatcher = Dispatcher(cluster, jobs * PARALLELISM + PARALLELISM)
    found: list[str] = []
    for build, names in ((counting, [f"orders {number}" for number in range(jobs)]), (wide, [WIDE])):
        state = directory / f"state of {names[0]}"
        _run(build, state)
        for name in names:
            submission = Submission(new_job_id(), "main.py", now_ms() + len(found), slots=PARALLELISM)
            record = dispatcher.submit(submission, program)
            shutil.copytree(state, record.state)
            _name(record, name)
            found.append(record.id)
    return found


def _run(build: Program, state: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    build(env)
    with executing(epoch_records=10, parallelism=PARALLELISM, state_dir=str(state)):
        env.execute("kept")


def _name(record: JobRecord, name: str) -> None:
    storage = _storage(record)
    plan = read_plan(storage)
    assert plan is not None
    description = msgspec.structs.replace(plan.description, name=name)
    write_plan(storage, msgspec.structs.replace(plan, job_id=record.id, description=description))


def _storage(record: JobRecord) -> Storage:
    found = record.state_storage()
    assert found is not None
    return found


class KeptJob:
    """The driver of a job, as far as others see it: its status is that of a process that lives, its numbers change."""

    def __init__(self, record: JobRecord) -> None:
        self._storage = _storage(record)
        status, metrics = read_status(self._storage), read_metrics(self._storage)
        assert status is not None
        assert metrics is not None
        now = now_ms()
        record.write("driver", DriverProcess(os.getpid(), now, 1))
        self._status: DriverStatus = msgspec.structs.replace(
            status, job_id=record.id, status="RUNNING", pid=os.getpid(), started_at=now, error=None
        )
        self._metrics: JobMetrics = metrics
        self._chance = random.Random(record.id)

    def report(self) -> None:
        """Write the status and other numbers of each operator."""
        now = now_ms()
        operators = tuple(self._measured(each) for each in self._metrics.operators)
        epoch = self._status.epoch + 1
        self._status = msgspec.structs.replace(self._status, epoch=epoch, heartbeat_at=now)
        write_status(self._storage, self._status)
        write_metrics(
            self._storage,
            msgspec.structs.replace(self._metrics, operators=operators, epoch=epoch, measured_at=now),
        )

    def _measured(self, operator: OperatorMetrics) -> OperatorMetrics:
        rate, busy = self._chance.uniform(10, 90_000), self._chance.uniform(0, _FULL_MS)
        return msgspec.structs.replace(
            operator, metrics=tuple(self._changed(view, rate, busy) for view in operator.metrics)
        )

    def _changed(self, view: MetricView, rate: float, busy: float) -> MetricView:
        """Return a metric with values of this moment, if it is a rate, a share of time or a watermark."""
        if view.name.endswith("Watermark"):
            return msgspec.structs.replace(
                view, subtasks=(now_ms() - self._chance.randrange(5_000),) * PARALLELISM
            )
        if not view.name.endswith("PerSecond"):
            return view
        values = {"busyTimeMsPerSecond": busy, "backPressuredTimeMsPerSecond": (_FULL_MS - busy) / 2}
        about = values.get(view.name, rate)
        subtasks = tuple(round(about * self._chance.uniform(0.8, 1), 1) for _ in range(PARALLELISM))
        return msgspec.structs.replace(view, subtasks=subtasks, value=round(sum(subtasks), 1))


def keep(cluster: Path, stop: threading.Event) -> None:
    """Keep the jobs of a cluster's directory until `stop`; their reports are spread over the time between two."""
    records = [JobRecord(folder) for folder in sorted((cluster / "jobs").iterdir())]
    with ExitStack() as locks:
        for record in records:
            assert locks.enter_context(record.driving()), record.id
        jobs = [KeptJob(record) for record in records]
        for job in jobs:
            job.report()
        (cluster / _KEPT).touch()
        due = time.monotonic()
        while not stop.is_set():
            for job in jobs:
                due = max(due + EVERY / len(jobs), time.monotonic() - EVERY)
                if stop.wait(max(0.0, due - time.monotonic())):
                    break
                job.report()


@contextmanager
def keeping(cluster: Path) -> Iterator[int]:
    """Keep the jobs of a cluster's directory in a process of their own; yields its id once all run."""
    command = [sys.executable, "-m", "tests.rest.page.kept_jobs", str(cluster)]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[3])
    try:
        until(lambda: (cluster / _KEPT).exists() or process.poll() is not None, 120)
        assert process.poll() is None, "the process that keeps the jobs has ended"
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    keep(Path(sys.argv[1]), stop)


if __name__ == "__main__":
    main()
