"""The contracts' tests fail for connectors that break them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext
from firesteel.functions.source import RecordBatches, Source, Split
from firesteel.testing.contracts import SinkContract, SinkSystem, SourceContract, SourceSystem
from firesteel.testing.contracts.jobs import random_steps, require_rows, run_with_crashes
from firesteel.testing.contracts.steps import Crash, Steps

CALLS: Final = count()


class Faulty(Source[int]):
    """Numbers up to 40 in a split, with a fault."""

    def __init__(self, fault: str) -> None:
        self._fault = fault

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        name = f"all {next(CALLS)}" if self._fault == "ids" else "all"
        return [] if name in known and self._fault != "known" else [Split(name, 0, 40)]

    def read(self, split: Split, start: int, end: int) -> RecordBatches[int]:
        late = 1 if self._fault == "gap" and start else 0
        early = 1 if self._fault == "overlap" and start else 0
        first = next(CALLS) if self._fault == "changes" else 0
        yield [first + number for number in range(start + late - early, end)]
        return None


class Numbers(SourceSystem):
    def __init__(self, fault: str) -> None:
        self._fault = fault

    def source(self) -> Source[Any]:
        return Faulty(self._fault)

    def records(self) -> Sequence[Any]:
        return range(40)


class Contract(SourceContract):
    """Not collected: its name is not one of a test."""

    def __init__(self, fault: str) -> None:
        self._fault = fault

    def system(self, directory: Path) -> SourceSystem:
        return Numbers(self._fault)


SPLITS: Final = SourceContract.test_splits_are_named_once_and_for_all
RANGES: Final = SourceContract.test_a_range_is_read_again_as_it_was


@pytest.mark.parametrize("test", [SPLITS, RANGES])
def test_a_source_without_fault_passes(tmp_path: Path, test: Callable[..., None]) -> None:
    test(Contract("none"), tmp_path)


@pytest.mark.parametrize(
    ("fault", "test", "says"),
    [
        ("ids", SPLITS, "other ids"),
        ("known", SPLITS, "found again"),
        ("gap", RANGES, "differ from the whole"),
        ("overlap", RANGES, "differ from the whole"),
        ("changes", RANGES, "differ"),
    ],
)
def test_a_source_with_a_fault_fails(
    tmp_path: Path, fault: str, test: Callable[..., None], says: str
) -> None:
    with pytest.raises(AssertionError, match=says):
        test(Contract(fault), tmp_path)


@pytest.mark.parametrize(("fault", "says"), [("gap", "rows are missing"), ("overlap", "must not be")])
def test_a_job_shows_the_fault_of_its_source(tmp_path: Path, fault: str, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        Contract(fault).test_a_job_reads_each_record_once(tmp_path, "process", 1, in_one=False)


class Careless(Sink[str]):
    """Appends lines to a file, with a fault."""

    def __init__(self, path: Path, fault: str) -> None:
        self._path = path
        self._fault = fault

    def create_writer(self, context: WriterContext) -> SinkWriter[str]:
        return _Writer(self._path, self._fault)

    def create_committer(self) -> Committer:
        return _Committer(self._path, self._fault)


class _Writer(SinkWriter[str]):
    def __init__(self, path: Path, fault: str) -> None:
        self._path = path
        self._fault = fault
        self._lines: list[str] = []

    def write(self, values: Sequence[str], timestamps: Sequence[int | None] | None) -> None:
        self._lines.extend(values)

    def prepare_commit(self) -> Sequence[Any]:
        if self._fault == "early":
            _append(self._path, self._lines)
            return []
        return [line for line in self._lines if self._fault != "loss" or line != "record 2"]


class _Committer(Committer):
    def __init__(self, path: Path, fault: str) -> None:
        self._path = path
        self._fault = fault

    def commit(self, committables: Sequence[Any]) -> None:
        known = _lines(self._path)
        _append(self._path, [line for line in committables if self._fault == "repeats" or line not in known])


def _append(path: Path, lines: Iterable[str]) -> None:
    with path.open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


class Pile(SinkSystem):
    def __init__(self, path: Path, fault: str) -> None:
        self._path = path
        self._fault = fault

    def sink(self) -> Sink[Any]:
        return Careless(self._path, self._fault)

    def rows(self) -> Sequence[Any]:
        return _lines(self._path)


class CarelessContract(SinkContract):
    """Not collected: its name is not one of a test."""

    def __init__(self, fault: str) -> None:
        self._fault = fault

    def system(self, directory: Path) -> SinkSystem:
        return Pile(directory / "lines", self._fault)


VISIBLE: Final = SinkContract.test_rows_are_there_with_the_commit_and_not_before
AGAIN: Final = SinkContract.test_a_commit_can_be_done_again
FAILED: Final = SinkContract.test_what_a_failed_attempt_has_written_does_not_come
STEPS: Final = SinkContract.test_a_driver_that_dies_at_each_kind_of_step
KILLED: Final = SinkContract.test_a_process_that_is_killed_while_it_commits


@pytest.mark.parametrize("test", [VISIBLE, AGAIN, FAILED, STEPS, KILLED])
def test_a_sink_without_fault_passes(tmp_path: Path, test: Callable[..., None]) -> None:
    test(CarelessContract("none"), tmp_path)


@pytest.mark.parametrize(
    ("fault", "test", "says"),
    [
        ("early", VISIBLE, "must not be"),
        ("early", FAILED, "must not be"),
        ("early", STEPS, "must not be"),
        ("loss", VISIBLE, "are missing"),
        ("repeats", AGAIN, "must not be"),
        ("repeats", STEPS, "must not be"),
    ],
)
def test_a_sink_with_a_fault_fails(tmp_path: Path, fault: str, test: Callable[..., None], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        test(CarelessContract(fault), tmp_path)


def test_a_job_that_dies_without_end_is_told() -> None:
    with pytest.raises(AssertionError, match="it died 500 times, last before it began"):
        run_with_crashes(_dying, lambda died: lambda number, what: True)


def _dying(steps: Steps) -> None:
    with pytest.raises(Crash):
        steps.take("before it began")


def test_random_deaths_are_the_same_again() -> None:
    first, again = (random_steps(7) for _ in range(2))
    for _ in range(20):
        one, other = first([]), again([])
        assert [one(number, "") for number in range(50)] == [other(number, "") for number in range(50)]


def test_rows_at_least_once() -> None:
    require_rows([1, 1, 2], [1, 2], exactly=False)
    with pytest.raises(AssertionError, match="1 of 2 rows are missing"):
        require_rows([1, 1], [1, 2], exactly=False)
    with pytest.raises(AssertionError, match="1 rows are there that must not be: 3"):
        require_rows([1, 2, 3], [1, 2], exactly=False)
