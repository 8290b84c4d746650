"""A job whose input a test lets through bit by bit, so that it knows where the job stands."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from firesteel.common import Configuration, WatermarkStrategy
from firesteel.common.errors import FiresteelError
from firesteel.control import EpochStats, JobHandle
from firesteel.control.launch import ExecutorFactory
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.source import Source, Split
from firesteel.testing import executing
from tests.recovery import ledger
from tests.recovery.jobs import Count

RECORDS = 60
KEYS = 7
WAIT_S = 120
"""How long a job may take to read what it is let; on Spark the first epoch starts the session."""


class Gated(Source[int]):
    """The numbers from 0 to 59; those below what a file says can be read."""

    def __init__(self, gate: Path) -> None:
        self._gate = gate

    def splits(self, known):
        return [Split("all", 0, RECORDS)]

    def available(self, split, position, now):
        return int(self._gate.read_text())

    def read(self, split, start, end):
        yield list(range(start, end))


def build(env: StreamExecutionEnvironment, gate: Path, name: str) -> None:
    """Count the numbers by their rest, into a ledger."""
    numbers = env.from_source(Gated(gate), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    counts = numbers.key_by(lambda value: value % KEYS).process(Count()).name("count").uid("count")
    counts.sink_to(ledger.LedgerSink(name)).uid("ledger")


def build_without_counts(env: StreamExecutionEnvironment, gate: Path, name: str) -> None:
    """The numbers themselves: another program over the same source."""
    numbers = env.from_source(Gated(gate), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    numbers.sink_to(ledger.LedgerSink(name)).uid("ledger")


PROGRAM = """
import sys
from pathlib import Path

from firesteel.datastream import StreamExecutionEnvironment
from tests.cli.gated import build

env = StreamExecutionEnvironment.get_execution_environment()
build(env, Path(sys.argv[1]), sys.argv[2])
env.execute("gated")
"""
"""The same program in a file."""


def counts(first: int, last: int) -> list[tuple[int, int]]:
    """What the numbers from `first` on, below `last`, must put out, sorted."""
    return sorted((value % KEYS, value // KEYS + 1) for value in range(first, last))


class Running:
    """A job that runs in this process, and what it has read."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.state = directory / "state"
        self.gate = directory / "gate"
        self.name = str(directory)
        self.handle: JobHandle | None = None
        self._records = 0
        self._moved = threading.Condition()
        self.let(0)

    def let(self, records: int) -> None:
        """Let so many records through, of all."""
        new = self.gate.with_suffix(".new")
        new.write_text(str(records))
        new.replace(self.gate)

    def on_epoch(self, stats: EpochStats) -> None:
        with self._moved:
            self._records += stats.records_in
            self._moved.notify_all()

    def read(self, records: int, *, before: int = 0) -> None:
        """Let so many through, and wait until the job, which had read `before` when it was started, has read them."""
        self.let(records)
        with self._moved:
            assert self._moved.wait_for(lambda: self._records >= records - before, WAIT_S), self._records

    def start(self, options: dict[str, str] | None = None) -> JobHandle:
        """Start the job; what an earlier driver has read does not count."""
        self._records = 0
        configuration = Configuration.from_dict(options or {})
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        build(env, self.gate, self.name)
        self.handle = env.execute_async("gated")._handle  # type: ignore[assignment]
        assert self.handle is not None
        return self.handle

    def finish(self) -> None:
        """Let everything through, and wait for the end."""
        self.let(RECORDS)
        assert self.handle is not None
        self.handle.wait(60)

    @property
    def rows(self) -> list[tuple[int, int]]:
        """What the job has put out, sorted."""
        return sorted(ledger.rows(self.name))


@contextmanager
def running(
    directory: Path,
    parallelism: int = 1,
    epoch_records: int = 5,
    state: str | None = None,
    on: str | ExecutorFactory = "process",
) -> Iterator[Running]:
    """A job for a test, in epochs of five records, with its state in `directory`/state; it is cancelled at the end."""
    directory.mkdir(exist_ok=True)
    job = Running(directory)
    try:
        with executing(
            on,
            epoch_records=epoch_records,
            parallelism=parallelism,
            state_dir=state or str(job.state),
            listener=job,
        ):
            yield job
    finally:
        if job.handle is not None and not job.handle.done():
            job.handle.cancel()  # it may just have ended by itself
            with suppress(FiresteelError):
                job.handle.wait(30)
        ledger.forget(job.name)
