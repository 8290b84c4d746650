"""The contract of sinks as tests for pytest."""

from __future__ import annotations

import pickle
import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.outputs import StoredOutputs
from firesteel.common import pickles
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import (
    Committer,
    DeliveryGuarantee,
    Leftovers,
    Sink,
    SinkWriter,
    WriterContext,
)
from firesteel.testing.contracts.jobs import (
    Contract,
    Program,
    Where,
    each_kind_of_step,
    random_steps,
    require_rows,
    run_job,
    run_with_crashes,
    through_crashes,
)
from firesteel.testing.contracts.killing import run_killed
from firesteel.testing.contracts.steps import Steps
from firesteel.testing.contracts.watched import WatchedSink


class SinkSystem(ABC):
    """An external system without rows, as a test makes it."""

    type_info: TypeInformation | None = Types.STRING()
    """The type of the records."""

    @abstractmethod
    def sink(self) -> Sink[Any]:
        """Return a new sink that writes to the system."""

    @abstractmethod
    def rows(self) -> Sequence[Any]:
        """Return the rows that a reader of committed data sees now, in any order, as `row` gives them."""

    def records(self, count: int) -> Sequence[Any]:
        """Return different records to write."""
        return [f"record {number}" for number in range(count)]

    def row(self, record: Any) -> Any:
        """Return the row that comes of a record."""
        return record

    def crashed(self) -> None:
        """Do what the end of the driver's process does that a crash in a test does not: break its connections, say."""


class SinkContract(Contract, ABC):
    """Subclass it as `Test...`, and say what is tested.

    `executors` are where whole jobs run: "process", "spark", or a `pytest.param` of them. Jobs write `count` records,
    in epochs of `epoch_records`. A process is killed `kills` (seconds) after it has begun a commit.
    """

    count: ClassVar[int] = 60
    epoch_records: ClassVar[int] = 12
    kills: ClassVar[Sequence[float]] = (0.0, 0.002, 0.02)

    @abstractmethod
    def system(self, directory: Path) -> SinkSystem:
        """Return a new system without rows; `directory` is an empty one of the test's own."""

    def test_rows_are_there_with_the_commit_and_not_before(self, tmp_path: Path) -> None:
        tried = _Tried(self.system(tmp_path), tmp_path)
        committables = [found for subtask in (0, 1) for found in tried.prepared(subtask)]
        if tried.exactly:
            tried.require()
        tried.commit(committables)
        tried.require(0, 1)

    def test_a_commit_can_be_done_again(self, tmp_path: Path) -> None:
        tried = _Tried(self.system(tmp_path), tmp_path)
        committables = tried.prepared(0)
        for _ in range(3):
            tried.commit(committables)
            tried.require(0)

    def test_what_a_failed_attempt_has_written_does_not_come(self, tmp_path: Path) -> None:
        tried = _Tried(self.system(tmp_path), tmp_path)
        tried.writer(0, "aborted").abort()
        tried.prepared(0, "lost")
        committables = tried.prepared(0, "good")
        tried.commit(committables)
        tried.require(0)
        committer = tried.committer()
        committer.discard(Leftovers(tried.job, "sink", 1))
        committer.close()
        tried.require(0)

    def test_an_epoch_without_records_is_no_burden(self, tmp_path: Path) -> None:
        tried = _Tried(self.system(tmp_path), tmp_path)
        tried.commit(tried.prepared(None))
        tried.require()

    @pytest.mark.parametrize("parallelism", [1, 2, 3])
    @pytest.mark.parametrize("in_one", [True, False], ids=["one epoch", "many epochs"])
    def test_a_job_writes_each_record_once(
        self, tmp_path: Path, executor: Where, parallelism: int, in_one: bool
    ) -> None:
        job = self._job(tmp_path)
        epoch_records = None if in_one else self.epoch_records
        run_job(job.program(), tmp_path, on=executor, parallelism=parallelism, epoch_records=epoch_records)
        job.require()

    @through_crashes
    def test_a_driver_that_dies_at_each_kind_of_step(self, tmp_path: Path) -> None:
        job = self._job(tmp_path)
        run_with_crashes(job.run, each_kind_of_step, job.system.crashed)
        job.require()

    @through_crashes
    @pytest.mark.parametrize("seed", [1, 2])
    def test_a_driver_that_dies_at_random_steps(self, tmp_path: Path, seed: int) -> None:
        job = self._job(tmp_path)
        run_with_crashes(job.run, random_steps(seed), job.system.crashed)
        job.require()

    @pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 3)])
    def test_a_job_goes_on_at_another_parallelism(self, tmp_path: Path, before: int, after: int) -> None:
        job = self._job(tmp_path)
        how: dict[str, Any] = {"epoch_records": self.epoch_records}
        run_job(job.program(), tmp_path, parallelism=before, stop_after=lambda epoch: epoch >= 2, **how)
        run_job(job.program(), tmp_path, parallelism=after, **how)
        job.require()

    def test_a_process_that_is_killed_while_it_commits(self, tmp_path: Path) -> None:
        job = self._job(tmp_path)
        run_killed(job.build, tmp_path, epoch_records=self.epoch_records, kills=self.kills)
        job.require()

    def _job(self, directory: Path) -> _Job:
        return _Job(self.system(directory), directory, self.count, self.epoch_records)


class _Tried:
    """A sink whose writers and committer are called as the engine calls them, in epoch 1, the last of a job."""

    def __init__(self, system: SinkSystem, directory: Path) -> None:
        self._system = system
        self._outputs = StoredOutputs(Storage.of(directory / "state"))
        self.sink = system.sink().for_type(system.type_info)
        self.job = uuid.uuid4().hex
        self.exactly = self.sink.guarantee is DeliveryGuarantee.EXACTLY_ONCE
        records = system.records(6)
        self._records = {0: records[:4], 1: records[4:]}

    def writer(self, subtask: int | None, attempt: str = "good") -> SinkWriter[Any]:
        """Return a writer that has its subtask's records (None: it is of subtask 0, and has none)."""
        facts = EpochFacts(1, attempt, 1_000, final=True, lineage="line", oldest=1)
        context = WriterContext(self.job, "sink", subtask or 0, 2, facts, outputs=self._outputs)
        writer = self._copied().create_writer(context)
        if subtask is not None:
            writer.write(self._records[subtask], None)
        return writer

    def prepared(self, subtask: int | None, attempt: str = "good") -> list[Any]:
        """Return the committables of an attempt, as a manifest has them."""
        found: list[Any] = pickle.loads(pickle.dumps([*self.writer(subtask, attempt).prepare_commit()]))
        return found

    def committer(self) -> Committer:
        """Return a committer of a new driver."""
        committer = self._copied().create_committer()
        committer.attach(self._outputs)
        return committer

    def commit(self, committables: Sequence[Any]) -> None:
        """Commit as a new driver does."""
        committer = self.committer()
        committer.commit(committables)
        committer.close()

    def require(self, *subtasks: int) -> None:
        """Raise AssertionError unless the records of these subtasks are there, and no others."""
        expected = [self._system.row(record) for subtask in subtasks for record in self._records[subtask]]
        require_rows(self._system.rows(), expected, exactly=self.exactly)

    def _copied(self) -> Sink[Any]:
        copy: Sink[Any] = pickle.loads(pickles.dumps(self.sink))
        return copy


class _Job:
    """A job that writes records to a system's sink."""

    def __init__(self, system: SinkSystem, directory: Path, count: int, epoch_records: int) -> None:
        self.system = system
        self._directory = directory
        self._records = [*system.records(count)]
        self._epoch_records = epoch_records

    def build(self, env: StreamExecutionEnvironment, steps: Any = None) -> None:
        """Add the program to an environment; picklable if the system's sink is."""
        sink = self.system.sink()
        records = env.from_collection(self._records, self.system.type_info).rebalance()
        records.sink_to(sink if steps is None else WatchedSink(sink, steps))

    def program(self, steps: Steps | None = None) -> Program:
        """Return the program."""
        return lambda env: self.build(env, steps)

    def run(self, steps: Steps) -> None:
        """Run the job until it ends or crashes."""
        how: dict[str, Any] = {"parallelism": 2, "epoch_records": self._epoch_records}
        run_job(self.program(steps), self._directory, steps=steps, **how)

    def require(self) -> None:
        """Raise AssertionError unless the rows of all records are there as the sink guarantees."""
        exactly = self.system.sink().guarantee is DeliveryGuarantee.EXACTLY_ONCE
        require_rows(self.system.rows(), map(self.system.row, self._records), exactly=exactly)
