"""Compaction and collection beside a job: nothing that goes wrong with them is any harm to it."""

from __future__ import annotations

import logging
import os
import shutil
import threading
from pathlib import Path

import pytest

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.manifest import manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.common.errors import EngineError, StateError
from firesteel.control.maintenance import MaintenancePolicy
from tests.checkpoint.histories import Driver, Merger, read_whole
from tests.checkpoint.test_retention import OPERATORS, changes, check


@pytest.fixture(autouse=True)
def _no_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def driver(path: Path, policy: MaintenancePolicy, retained: int = 2, **more: object) -> Driver:
    return Driver(Storage.of(path), OPERATORS, retained=retained, policy=policy, **more)  # type: ignore[arg-type]


def epochs(mine: Driver, number: int) -> None:
    for _ in range(number):
        mine.commit(changes(mine.epoch + 1), 2)


def test_both_happen_as_often_as_is_said(tmp_path):
    mine = driver(tmp_path, MaintenancePolicy(4, 6, inline=True))
    compacted, manifests = [], []
    for epoch in range(1, 20):
        epochs(mine, 1)
        if mine.last.compacted and mine.last.compacted not in compacted:
            compacted.append(mine.last.compacted)
            assert mine.last.compacted == epoch - 1  # the next manifest takes it in
        manifests.append(len(mine.storage.list("manifests")))
    assert compacted == [4, 8, 12, 16]
    fewer = [epoch for epoch in range(2, 20) if manifests[epoch - 1] <= manifests[epoch - 2]]
    assert fewer == [6, 12, 18]


class Broken(Merger):
    """Fails as long as it has an error to fail with."""

    def __init__(self, storage: Storage, error: Exception) -> None:
        super().__init__(storage)
        self.error: Exception | None = error
        self.tries = 0

    def merge(self, task):
        self.tries += 1
        if self.error is not None:
            raise self.error
        return super().merge(task)


@pytest.mark.parametrize("error", [EngineError("a worker was lost"), KeyError("unexpected")])
def test_a_compaction_that_fails_is_logged_and_tried_again_later(tmp_path, caplog, error):
    mine = driver(tmp_path, MaintenancePolicy(3, 3, inline=True))
    broken = mine.maintenance._executor = Broken(mine.storage, error)
    with caplog.at_level(logging.WARNING, "firesteel.state"):
        epochs(mine, 10)
    assert broken.tries == 3  # not in every epoch
    assert len([record for record in caplog.records if "could not compact the state" in record.message]) == 3
    assert mine.last.compacted == 0
    broken.error = None
    epochs(mine, 4)
    assert mine.last.compacted == 12
    check(mine.storage, mine.models)


def test_a_damaged_run_stops_compaction_and_neither_the_job_nor_collection(tmp_path, caplog):
    mine = driver(tmp_path, MaintenancePolicy(3, 3, inline=True))
    epochs(mine, 4)
    path = next(run.path for layer in mine.last.layers["a"] for run in layer.runs)
    mine.storage.put(path, b"damaged")
    failed = [run.path for run in mine.last.operators["a"].runs]
    with caplog.at_level(logging.WARNING, "firesteel.state"):
        left = mine.work(changes(5), 3)  # of an attempt that failed
        epochs(mine, 9)
    assert any(
        "could not compact" in record.message and path in record.getMessage() for record in caplog.records
    )
    assert not any("could not remove" in record.message for record in caplog.records)
    assert not any(mine.storage.exists(report.run.path) for report in left if report.run is not None)
    assert all(mine.storage.exists(needed) for needed in failed)
    assert mine.epoch == 13


def test_a_damaged_manifest_stops_collection_and_neither_the_job_nor_compaction(tmp_path, caplog):
    mine = driver(tmp_path, MaintenancePolicy(3, 3, inline=True), retained=6)
    epochs(mine, 8)
    before = set(mine.storage.list("runs"))
    mine.storage.put(manifest_path(5), b"damaged")
    with caplog.at_level(logging.WARNING, "firesteel.state"):
        epochs(mine, 2)
    [logged] = caplog.records
    assert "could not remove" in logged.message
    assert manifest_path(5) in logged.message
    assert before <= set(mine.storage.list("runs"))
    epochs(mine, 12)  # it is kept no more
    assert not mine.storage.exists(manifest_path(5))
    check(mine.storage, mine.models)


def test_a_storage_that_cannot_be_reached_for_a_while(tmp_path, caplog, monkeypatch):
    mine = driver(tmp_path, MaintenancePolicy(3, 3, inline=True))
    epochs(mine, 3)
    entries = Storage.entries

    def failing(self, prefix):
        if prefix == "runs":
            raise StateError("cannot be reached")
        return entries(self, prefix)

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "firesteel.state"):
        patch.setattr(Storage, "entries", failing)
        epochs(mine, 6)
    assert any("cannot be reached" in record.getMessage() for record in caplog.records)
    epochs(mine, 6)
    check(mine.storage, mine.models)
    assert len(mine.storage.list("manifests")) < 10


def test_what_a_compaction_of_another_history_made_is_not_taken(tmp_path):
    mine = driver(tmp_path, MaintenancePolicy(3, 100, inline=True))
    epochs(mine, 3)
    assert mine.maintenance.take_compaction("another") is None
    epochs(mine, 1)
    assert mine.last.compacted == 0
    epochs(mine, 3)
    assert mine.last.compacted == 6
    check(mine.storage, mine.models)


def test_state_whose_operator_was_dropped_does_not_stop_compaction(tmp_path, caplog):
    mine = driver(tmp_path, MaintenancePolicy(100, 100, inline=True))
    epochs(mine, 5)
    fewer = Driver(
        mine.storage,
        ("a",),
        retained=2,
        policy=MaintenancePolicy(3, 3, inline=True),
        models=mine.models,
        allow_non_restored_state=True,
    )
    with caplog.at_level(logging.WARNING, "firesteel.state"):
        while fewer.epoch < 14:
            fewer.commit({"a": changes(fewer.epoch + 1)["a"]})
    assert not caplog.records
    assert fewer.last.compacted >= 11
    assert fewer.journal.lineage != mine.journal.lineage
    again = driver(tmp_path, MaintenancePolicy(3, 3, inline=True), models=mine.models)
    again.commit({}, 1)
    assert read_whole(mine.storage, "b", again.epoch) == {}
    assert read_whole(mine.storage, "a", again.epoch) == mine.models[14]["a"]


class Gate(Merger):
    """Lets merges through when it is told to."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.begun, self.may = threading.Event(), threading.Event()
        self.threads: set[str] = set()

    def merge(self, task):
        self.threads.add(threading.current_thread().name)
        self.begun.set()
        assert self.may.wait(30)
        return super().merge(task)


def test_epochs_go_on_while_state_is_compacted_and_one_compaction_follows_another(tmp_path):
    mine = driver(tmp_path, MaintenancePolicy(3, 3))
    gate = mine.maintenance._executor = Gate(mine.storage)
    epochs(mine, 3)
    assert gate.begun.wait(30)
    epochs(mine, 20)
    assert mine.last.compacted == 0
    gate.may.set()
    mine.maintenance._pool.submit(lambda: None).result(30)
    epochs(mine, 1)
    assert mine.last.compacted == 3
    mine.maintenance.close()
    assert all(name.startswith("firesteel-maintenance") for name in gate.threads)
    check(mine.storage, mine.models)


def test_closing_gives_up_a_compaction_between_two_merges_and_finishes_savepoints(tmp_path):
    mine = driver(tmp_path, MaintenancePolicy(3, 3))
    gate = mine.maintenance._executor = Gate(mine.storage)
    epochs(mine, 3)
    assert gate.begun.wait(30)
    asked = [mine.maintenance.savepoint(3, None), mine.maintenance.savepoint(3, str(tmp_path / "there"))]
    closing = threading.Thread(target=mine.maintenance.close)
    closing.start()
    assert mine.maintenance._closing.wait(30)
    gate.may.set()
    closing.join(30)
    assert not closing.is_alive()
    assert gate.written > 0
    assert mine.maintenance.take_compaction(mine.journal.lineage) is None
    for answer in asked:
        found = Storage.of(answer.result(0))
        assert open_savepoint(found).epoch == 3
        assert damage_of(found, 3) is None
    assert Path(asked[1].result(0)).parent == tmp_path / "there"


def test_a_savepoint_that_fails_is_told_to_who_asked(tmp_path):
    mine = driver(tmp_path, MaintenancePolicy(100, 100, inline=True))
    epochs(mine, 3)
    path = mine.last.operators["a"].runs[0].path
    mine.storage.put(path, b"damaged")
    assert path in str(mine.maintenance.savepoint(3, None).exception(0))
    (tmp_path / "file").touch()
    assert "cannot be made" in str(mine.maintenance.savepoint(2, str(tmp_path / "file")).exception(0))
    epochs(mine, 1)


def test_a_directory_with_the_id_of_an_old_job_has_a_history_of_its_own(tmp_path):
    """Working copies of the old job may still be on the machine; a job in a cluster may be submitted with any id."""
    old = driver(tmp_path / "old", MaintenancePolicy(100, 100, inline=True))
    epochs(old, 1)
    (tmp_path / "new").mkdir()
    shutil.copy(tmp_path / "old" / "job.json", tmp_path / "new")
    new = driver(tmp_path / "new", MaintenancePolicy(100, 100, inline=True))
    epochs(new, 1)
    assert new.journal.job_id == old.journal.job_id
    assert new.journal.lineage != old.journal.lineage
    again = driver(tmp_path / "new", MaintenancePolicy(100, 100, inline=True), models=new.models)
    assert again.journal.lineage == new.journal.lineage
