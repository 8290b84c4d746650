"""The driver's side of sources: positions, and what an epoch costs the driver however many splits there are."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import pytest

from firesteel.common import pickles
from firesteel.control import sources
from firesteel.control.sources import SourceCoordinator
from firesteel.functions.source import RecordBatches, Source, Split
from firesteel.runtime.plan import SplitReport

LENGTH = 10


class Many(Source[int]):
    """So many splits of ten records."""

    def __init__(self, count: int) -> None:
        self.count = count

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [Split(str(number), 0, LENGTH) for number in range(self.count)]

    def read(self, split: Split, start: int, end: int) -> RecordBatches[int]:
        yield list(range(start, end))
        return None


class Whole(Many):
    """Splits that are read whole."""

    unit = "splits"

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [Split(str(number), 0, 1) for number in range(self.count)]


class Empty(Many):
    """Splits that end where they start."""

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [Split(str(number), 5, 5) for number in range(self.count)]


class Generator:
    """A watermark generator of the program's own."""

    def __init__(self, highest: int) -> None:
        self.highest = highest


def read(coordinator: SourceCoordinator, budget: int, state: Any = None) -> list[SplitReport]:
    """What the tasks report of an epoch."""
    return [
        SplitReport(given.split.id, given.end, given.end == LENGTH, state, given.end - given.start)
        for inputs in coordinator.plan(budget, 0, 0).inputs.values()
        for given in inputs
    ]


def run_epoch(coordinator: SourceCoordinator, budget: int, state: Any = None) -> int:
    reports = read(coordinator, budget, state)
    coordinator.snapshot(reports)
    return coordinator.committed(reports)


@pytest.fixture
def pickled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All that the coordinator pickles."""
    seen: list[Any] = []
    for module in (pickle, pickles):
        dumps = module.dumps

        def counting(value: Any, *more: Any, dumps: Any = dumps) -> bytes:
            seen.append(value)
            return dumps(value, *more)  # type: ignore[no-any-return]

        monkeypatch.setattr(module, "dumps", counting)
    assert sources.pickle is pickle
    assert sources.pickles is pickles
    return seen


def test_a_split_is_pickled_once_in_the_life_of_a_job(pickled: list[Any]) -> None:
    coordinator = SourceCoordinator("many", Many(100), 2, {})
    for _ in range(3):
        run_epoch(coordinator, 100)
    assert len([value for value in pickled if isinstance(value, Split)]) == 100


def test_finished_splits_cost_an_epoch_nothing(pickled: list[Any]) -> None:
    coordinator = SourceCoordinator("many", Many(100), 2, {})
    run_epoch(coordinator, 100 * LENGTH)
    assert coordinator.ended
    pickled.clear()
    assert coordinator.snapshot([]) == ({}, {})
    assert pickled == []


def test_a_restored_job_does_not_pickle_what_it_was_given(pickled: list[Any]) -> None:
    first = SourceCoordinator("many", Many(100), 2, {})
    positions = first.snapshot(read(first, 500, (None, 7, 0, False)))
    pickled.clear()
    second = SourceCoordinator("many", Many(100), 2, positions.unfinished)
    assert second.snapshot([]) == (positions.unfinished, {})
    assert pickled == []


@pytest.mark.parametrize("state", [None, (None, 7, 0, False), (Generator(3), 7, 0, False), {"own": [1]}])
def test_a_snapshot_restores_to_where_the_job_stood(state: Any) -> None:
    first = SourceCoordinator("many", Many(3), 1, {})
    run_epoch(first, 6, state)
    second = SourceCoordinator("many", Many(3), 1, first.snapshot([]).unfinished)
    inputs = second.plan(100, 0, 0).inputs[0]
    assert [(given.start, given.end) for given in inputs] == [(2, LENGTH)] * 3
    assert pickle.dumps(inputs[0].generator_state) == pickle.dumps(state)


def test_a_snapshot_of_an_epoch_that_is_lost_leaves_nothing_behind() -> None:
    coordinator = SourceCoordinator("many", Many(3), 1, {})
    coordinator.plan(1, 0, 0)
    before = coordinator.snapshot([])
    coordinator.snapshot(read(coordinator, 6, "lost"))
    assert coordinator.snapshot([]) == before


def test_a_split_is_said_to_have_ended_once_and_is_not_found_again() -> None:
    coordinator = SourceCoordinator("many", Many(3), 1, {})
    ended = {str(number): LENGTH for number in range(3)}
    reports = read(coordinator, 3 * LENGTH)
    assert coordinator.snapshot(reports) == ({}, ended)
    coordinator.committed(reports)
    assert coordinator.snapshot([]) == ({}, {})
    assert SourceCoordinator("many", Many(3), 1, {}, ended).ended


def test_an_empty_split_is_at_its_end_when_it_is_found_until_that_is_committed() -> None:
    coordinator = SourceCoordinator("empty", Empty(2), 1, {})
    assert not coordinator.plan(1, 0, 0).work
    for _ in range(2):
        assert coordinator.snapshot([]).ended == {"0": 5, "1": 5}
    coordinator.committed([])
    assert coordinator.snapshot([]).ended == {}


def test_a_split_stays_with_its_subtask_whatever_ends_beside_it() -> None:
    def owners(coordinator: SourceCoordinator) -> dict[str, int]:
        inputs = coordinator.plan(1, 0, 0).inputs
        return {given.split.id: subtask for subtask, splits in inputs.items() for given in splits}

    coordinator = SourceCoordinator("many", Many(10), 3, {})
    before = owners(coordinator)
    reports = [SplitReport(name, LENGTH, True, None, LENGTH) for name in ("0", "4", "5")]
    saved = coordinator.snapshot(reports)
    coordinator.committed(reports)
    left = {name: subtask for name, subtask in before.items() if name not in saved.ended}
    assert owners(coordinator) == left
    assert owners(SourceCoordinator("many", Many(10), 3, saved.unfinished, saved.ended)) == left


def read_whole(coordinator: SourceCoordinator, budget: int, records: int) -> list[str]:
    """Read an epoch's splits, each of so many records, and return them."""
    reports = [
        SplitReport(given.split.id, given.end, given.end == 1, None, records * (given.end - given.start))
        for inputs in coordinator.plan(budget, 0, 0).inputs.values()
        for given in inputs
    ]
    coordinator.snapshot(reports)
    coordinator.committed(reports)
    return [report.split_id for report in reports if report.finished]


def test_splits_that_are_read_whole_are_as_many_as_an_epoch_has_records_for() -> None:
    coordinator = SourceCoordinator("source", Whole(100), 2, {})
    assert read_whole(coordinator, 5_000, 1_000) == [
        "0",
        "1",
    ]  # one for each subtask: nobody knows how large they are
    assert len(read_whole(coordinator, 5_000, 1_000)) == 4
    assert len(read_whole(coordinator, 5_000, 1_000)) == 5
    assert len(read_whole(coordinator, 500, 1_000)) == 2
    assert len(read_whole(coordinator, 50_000, 1_000)) == 26


def test_splits_without_records_are_read_in_ever_larger_numbers() -> None:
    coordinator = SourceCoordinator("source", Whole(100), 1, {})
    assert [len(read_whole(coordinator, 10, 0)) for _ in range(6)] == [1, 2, 6, 18, 54, 19]
    assert coordinator.ended
