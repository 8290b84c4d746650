"""A driver that slept while another one committed many epochs: it ends, and harms nothing, whenever it wakes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.compaction import Compaction
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import catch_up
from firesteel.checkpoint.retention import collect_garbage, kept_epochs
from firesteel.common.errors import FencedError, StateCorruptedError
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.runtime.plan import SubtaskReport
from firesteel.state.disk.copy import close_working_stores, open_working_store
from tests.checkpoint.histories import GROUPS, Driver, Entries
from tests.checkpoint.test_retention import OPERATORS, changes, check
from tests.recovery import pipeline
from tests.recovery.crashing import Crasher
from tests.recovery.upkeep import check_state, run

BUSY = MaintenancePolicy(2, 2, inline=True)
ALL = (0, GROUPS - 1)


@pytest.fixture(autouse=True, scope="module")
def _no_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.of(tmp_path / "state")


def driver(storage: Storage, models: dict[int, dict[str, Entries]], name: str) -> Driver:
    return Driver(storage, OPERATORS, retained=2, policy=BUSY, models=models, name=name)


class Sleeper:
    """A driver in slow motion: each call of `step` takes it one step further, until it ends."""

    def __init__(self, storage: Storage, models: dict[int, dict[str, Entries]]) -> None:
        self.driver = Driver(storage, OPERATORS, retained=2, models=models, name="sleeper")
        self.fenced = False
        self._reports: list[SubtaskReport] = []
        self._compaction: Compaction | None = None
        self._steps = self._script()

    def step(self) -> bool:
        if self.fenced:
            return False
        try:
            return next(self._steps, None) is not None
        except FencedError:
            self.fenced = True
            return True

    def _script(self) -> Iterator[str]:
        mine = self.driver
        for merging in (False, True, False):
            if merging:
                with suppress(StateCorruptedError):  # in a job that is logged, and no harm to it
                    self._compaction = mine.merged(99)
                yield "merged"
            self._reports = mine.work(changes(mine.epoch + 1), 2)
            yield "wrote its runs"
            mine.finish(changes(mine.epoch + 1), self._reports, self._compaction)
            self._compaction = None
            yield "committed"
            collect_garbage(mine.storage, mine.epoch)
            yield "collected"


STEPS = 10


@pytest.mark.parametrize(("begun", "slept_for"), [(5, 1), (5, 2), (5, 9), (7, 9)])
@pytest.mark.parametrize("at", range(STEPS + 1))
def test_a_driver_that_wakes_up_at_any_step_is_fenced_and_removes_nothing(storage, at, begun, slept_for):
    models: dict[int, dict[str, Entries]] = {0: {}}
    first = driver(storage, models, "first")
    for _ in range(begun):
        first.commit(changes(first.epoch + 1), 2)
    sleeper = Sleeper(storage, models)
    for _ in range(at):
        assert sleeper.step()
    successor = driver(storage, models, "successor")
    for _ in range(slept_for):
        successor.commit(changes(successor.epoch + 1), 1)
    flying = successor.work(changes(successor.epoch + 1), 3)
    before = successor.journal.last
    while sleeper.step():
        check(storage, models)
    assert sleeper.fenced == (at < STEPS - 1)
    assert ManifestReader(storage).latest() == ManifestReader(storage).read(before.epoch)
    successor.finish(changes(successor.epoch + 1), flying)
    for _ in range(4):
        successor.commit(changes(successor.epoch + 1), 2)
        check(storage, models)
    assert kept_epochs(successor.log) == [successor.epoch - 1, successor.epoch]


@pytest.mark.parametrize("turns", range(2**6))
def test_two_drivers_at_every_interleaving(storage, turns):
    models: dict[int, dict[str, Entries]] = {0: {}}
    first = driver(storage, models, "first")
    for _ in range(3):
        first.commit(changes(first.epoch + 1))
    drivers = [Sleeper(storage, models), Sleeper(storage, models)]
    for turn in range(6):
        drivers[turns >> turn & 1].step()
        check(storage, models)
    for mine in drivers:
        while mine.step():
            check(storage, models)
    assert sum(mine.fenced for mine in drivers) == 1
    assert not any(mine.driver.epoch > kept_epochs(first.log)[-1] for mine in drivers)


def test_the_late_collection_of_a_driver_leaves_the_compaction_of_its_successor(storage):
    models: dict[int, dict[str, Entries]] = {0: {}}
    sleeper = driver(storage, models, "sleeper")
    for _ in range(3):
        sleeper.commit(changes(sleeper.epoch + 1))
    successor = Driver(storage, OPERATORS, retained=2, models=models, name="successor")
    for _ in range(3):
        successor.commit(changes(successor.epoch + 1))
    made = successor.merged(99)
    for _ in range(5):
        successor.commit(changes(successor.epoch + 1))
    collect_garbage(storage, sleeper.epoch)
    successor.commit(changes(successor.epoch + 1), 1, made)
    check(storage, models)


@pytest.mark.parametrize("copy_at", [0, 2, 3, 5, 9])
def test_a_task_of_a_driver_that_slept_is_fenced_though_what_it_needs_is_gone(storage, tmp_path, copy_at):
    """Not told of damage, which would have somebody start the job from an older epoch; and the copy stays usable."""
    models: dict[int, dict[str, Entries]] = {0: {}}
    busy = driver(storage, models, "busy")
    store = open_working_store(tmp_path / "copy", "job", *ALL)
    while busy.epoch < 12:
        busy.commit(changes(busy.epoch + 1))
        if busy.epoch == copy_at:
            catch_up(store, storage, "a", ALL, copy_at, None)
    assert 3 not in busy.log.epochs()
    with pytest.raises(FencedError):
        catch_up(store, storage, "a", ALL, 4 if copy_at == 3 else 3, None)
    assert store.version == copy_at
    catch_up(store, storage, "a", ALL, 12, None)
    with store.read() as reader:
        assert dict(reader.scan(b"")) == models[12]["a"]
    close_working_stores(tmp_path)


class Rival:
    """Runs a second driver at a point of the first one, up to a point of its own, and then once more."""

    def __init__(self, directory: Path, at: int, up_to: int) -> None:
        self.directory, self.at, self.up_to = directory, at, up_to
        self.ran = False

    def __call__(self, count: int, point: tuple[int, str]) -> bool:
        if count == self.at and not self.ran:
            self.ran = True
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("SPARK_LOCAL_DIRS", str(self.directory / "machines" / "second"))
                run(self.directory, 2, Crasher(lambda count, point: count == self.up_to))
        return False


@settings(max_examples=12)
@given(st.integers(1, 300), st.integers(1, 500))
def test_however_two_drivers_meet_that_compact_and_collect(at, up_to):
    with (
        tempfile.TemporaryDirectory() as name,
        pipeline.made(Path(name)),
        pytest.MonkeyPatch.context() as patch,
    ):
        directory = Path(name)
        patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/first")
        with suppress(FencedError):
            run(directory, 1, Crasher(Rival(directory, at, up_to)))
        run(directory, 1)
        assert pipeline.output(directory) == pipeline.expected()
        check_state(directory / "state")
