"""The contract of sources as tests for pytest."""

from __future__ import annotations

import pickle
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from firesteel.common import pickles
from firesteel.common.errors import FiresteelError
from firesteel.common.typeinfo import TypeInformation
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.source import (
    END_OF_SPLIT,
    UNLIMITED,
    Boundedness,
    DiscoveryContext,
    Source,
    Split,
    Timestamped,
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
from firesteel.testing.contracts.ledger import Ledger
from firesteel.testing.contracts.steps import Steps
from firesteel.testing.contracts.watched import WatchedSink

Range = tuple[int, int]
Read = list[tuple[Any, int | None]]
"""Records, each with its timestamp if the source knows it."""

_CUTS: Final = 6
_OPEN_CUTS: Final = (1, 2, 5, 10, 100, 1_000, 10_000)
"""Positions after the start of a split without a known end."""


class SourceSystem(ABC):
    """An external system with records in it, at best several dozen in several splits, as a test makes it."""

    type_info: TypeInformation | None = None
    """The type of the records, for `from_source`."""

    @abstractmethod
    def source(self) -> Source[Any]:
        """Return a new source that reads the records: bounded, or continuous in a `ContinuousSourceSystem`."""

    @abstractmethod
    def records(self) -> Sequence[Any]:
        """Return the records that are there now, in any order."""


class ContinuousSourceSystem(SourceSystem):
    """A system whose records become more while a source reads on."""

    @abstractmethod
    def add(self) -> None:
        """Add records, at best also a new split."""


class SourceContract(Contract, ABC):
    """Subclass it as `Test...`, and say what is tested.

    `executors` are where whole jobs run: "process", "spark", or a `pytest.param` of them. `epoch_records` cuts jobs
    into epochs.
    """

    epoch_records: ClassVar[int] = 10

    @abstractmethod
    def system(self, directory: Path) -> SourceSystem:
        """Return a new system with records; `directory` is an empty one of the test's own."""

    def test_splits_are_named_once_and_for_all(self, tmp_path: Path) -> None:
        system = self.system(tmp_path)
        names = [split.id for split in _discovered(system.source())]
        assert names
        assert len(set(names)) == len(names), "two splits have one id"
        again = [split.id for split in _discovered(system.source())]
        assert again == names, "another object of the source has other ids"
        assert _discovered(system.source(), frozenset(names)) == [], "a split that is known is found again"

    def test_a_range_is_read_again_as_it_was(self, tmp_path: Path) -> None:
        source = self.system(tmp_path).source()
        if source.unit == "splits":
            return  # its splits are read whole, and need not be the same again
        with closing(source), closing(_copied(source)) as copy, closing(_copied(source)) as another:
            for split in map(_stored, source.discover(DiscoveryContext(frozenset(), 2, _now()))):
                if split.end is not None and split.start >= split.end:
                    continue
                end = source.available(split, split.start, _now())
                whole, _ = _read(copy, split, split.start, end)
                ranges = _ranges(source, split, end)
                parts = [_read(source, split, *limits)[0] for limits in ranges]
                assert [record for part in parts for record in part] == whole, "ranges differ from the whole"
                for limits, part in zip(reversed(ranges), reversed(parts), strict=True):
                    assert _read(another, split, *limits)[0] == part, f"{limits} of {split.id} differs"

    @pytest.mark.parametrize("parallelism", [1, 2, 3])
    @pytest.mark.parametrize("in_one", [True, False], ids=["one epoch", "many epochs"])
    def test_a_job_reads_each_record_once(
        self, tmp_path: Path, executor: Where, parallelism: int, in_one: bool
    ) -> None:
        system = self.system(tmp_path)
        with _Job(system, tmp_path) as job:
            job.run(
                on=executor, parallelism=parallelism, epoch_records=None if in_one else self.epoch_records
            )
            job.require()

    @through_crashes
    def test_a_driver_that_dies_at_each_kind_of_step(self, tmp_path: Path) -> None:
        with _Job(self.system(tmp_path), tmp_path) as job:
            run_with_crashes(
                lambda steps: job.run(steps=steps, parallelism=2, epoch_records=self.epoch_records),
                each_kind_of_step,
            )
            job.require()

    @through_crashes
    @pytest.mark.parametrize("seed", [1, 2])
    def test_a_driver_that_dies_at_random_steps(self, tmp_path: Path, seed: int) -> None:
        with _Job(self.system(tmp_path), tmp_path) as job:
            run_with_crashes(
                lambda steps: job.run(steps=steps, parallelism=2, epoch_records=self.epoch_records),
                random_steps(seed),
            )
            job.require()

    @pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 3)])
    def test_a_job_goes_on_at_another_parallelism(self, tmp_path: Path, before: int, after: int) -> None:
        with _Job(self.system(tmp_path), tmp_path) as job:
            job.run(parallelism=before, epoch_records=self.epoch_records, epochs=2)
            job.run(parallelism=after, epoch_records=self.epoch_records)
            job.require()


class ContinuousSourceContract(SourceContract):
    """The contract of a source that goes on; `system` returns a `ContinuousSourceSystem`."""

    @abstractmethod
    def system(self, directory: Path) -> ContinuousSourceSystem:
        """Return a new system with records."""

    def test_what_comes_while_the_job_runs_is_read_once(self, tmp_path: Path, executor: Where) -> None:
        system = self.system(tmp_path)
        with _Job(system, tmp_path) as job:
            job.run(on=executor, parallelism=2, at_end=system.add)
            job.require()

    def test_what_comes_while_the_job_is_down_is_read_once(self, tmp_path: Path) -> None:
        system = self.system(tmp_path)
        with _Job(system, tmp_path) as job:
            job.run(parallelism=2)
            system.add()
            job.run(parallelism=1)
            job.require()


class BadRecordContract(ABC):
    """Subclass it as `Test...`, for a system with records that cannot be read."""

    @abstractmethod
    def spoiled(self, directory: Path) -> tuple[SourceSystem, str]:
        """Return a system with a bad record, and a regular expression that the error's text must match.

        It should name the place: the file and line; the topic, partition and offset.
        """

    def test_a_bad_record_is_named(self, tmp_path: Path) -> None:
        system, named = self.spoiled(tmp_path)
        with _Job(system, tmp_path) as job, pytest.raises(FiresteelError, match=named):
            job.run()


class _Job:
    """A job that books all records of a system's source in a ledger."""

    def __init__(self, system: SourceSystem, directory: Path) -> None:
        self._system = system
        self._directory = directory
        self._ledger = Ledger(str(directory))

    def __enter__(self) -> _Job:
        return self

    def __exit__(self, *_: object) -> None:
        self._ledger.forget()

    def run(
        self, *, epochs: int | None = None, at_end: Any = None, steps: Steps | None = None, **how: Any
    ) -> None:
        """Run the job to its end, or until a continuous source has read what is there; or for some epochs."""
        bounded = self._system.source().boundedness is Boundedness.BOUNDED
        todo = [at_end] if at_end else []

        def enough(epoch: int) -> bool:
            if epochs is not None and epoch >= epochs:
                return True
            if bounded or len(self._ledger.rows()) < len(self._system.records()):
                return False
            if todo:
                todo.pop()()
                return False
            return True

        run_job(self._program(steps), self._directory, steps=steps, stop_after=enough, **how)

    def _program(self, steps: Steps | None) -> Program:
        ledger = self._ledger if steps is None else WatchedSink(self._ledger, steps)

        def program(env: StreamExecutionEnvironment) -> None:
            source, kind = self._system.source(), self._system.type_info
            env.from_source(source, WatermarkStrategy.no_watermarks(), "source", kind).sink_to(ledger)

        return program

    def require(self) -> None:
        """Raise AssertionError unless each record of the system is booked once."""
        require_rows(self._ledger.rows(), self._system.records())


def _discovered(source: Source[Any], known: frozenset[str] = frozenset()) -> list[Split]:
    """Return the splits that a new source finds."""
    with closing(source):
        return list(source.discover(DiscoveryContext(known, 2, _now())))


def _now() -> int:
    return int(time.time() * 1000)


def _copied(source: Source[Any]) -> Source[Any]:
    """Return the source as a worker has it."""
    copy: Source[Any] = pickle.loads(pickles.dumps(source))
    return copy


def _stored(split: Split) -> Split:
    """Return the split as a manifest has it."""
    copy: Split = pickle.loads(pickle.dumps(split))
    return copy


def _ranges(source: Source[Any], split: Split, end: int) -> list[Range]:
    """Cut what there is of a split at several places."""
    start = split.start
    if end != UNLIMITED:
        inner = range(start + 1, end)
        cuts = sorted(random.Random(split.id).sample(inner, min(len(inner), _CUTS)))
        return [*zip([start, *cuts], [*cuts, end], strict=True)] if end > start else []
    found: list[Range] = []
    for low, high in zip((0, *_OPEN_CUTS), (*_OPEN_CUTS, UNLIMITED - start), strict=True):
        found.append((start + low, start + high))
        if _read(source, split, *found[-1])[1]:
            break
    return found


def _read(source: Source[Any], split: Split, start: int, end: int) -> tuple[Read, bool]:
    """Return the records of a range, and whether the split has ended there without its end having been known."""
    records: Read = []
    batches = source.read(split, start, end)
    while True:
        try:
            batch = next(batches)
        except StopIteration as stop:
            return records, stop.value is END_OF_SPLIT
        times = batch.timestamps if isinstance(batch, Timestamped) else [None] * len(batch)
        records.extend(zip(batch, times, strict=True))
