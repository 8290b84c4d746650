"""Savepoints as files: complete or not there, and the same wherever they lie."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import msgspec
import pytest

from firesteel.checkpoint import savepoint as savepoints
from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import FORMAT, manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import copy_run
from firesteel.checkpoint.savepoint import new_savepoint, open_savepoint, self_contained, write_savepoint
from firesteel.common.errors import StateCorruptedError, StateError, StateMismatchError
from tests.checkpoint.histories import GROUPS, Driver, read_copy, read_whole
from tests.checkpoint.test_retention import OPERATORS, changes


@pytest.fixture(autouse=True)
def _no_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    """A job of 20 epochs, compacted here and there, with all of its epochs."""
    mine = Driver(Storage.of(tmp_path / "state"), OPERATORS)
    rng = random.Random(7)
    for epoch in range(1, 21):
        merged = mine.merged(rng.randint(1, 9)) if epoch in (5, 9, 14, 20) else None
        mine.commit(changes(epoch), 1 + epoch % 4, merged)
    return mine


@pytest.mark.parametrize("epoch", [1, 4, 5, 8, 9, 13, 20])
def test_a_savepoint_is_the_state_of_its_epoch_without_the_directory_it_is_of(driver, tmp_path, epoch):
    written = write_savepoint(driver.storage, epoch, Storage.of(tmp_path / "savepoint"))
    shutil.rmtree(tmp_path / "state")
    moved = Storage.of((tmp_path / "savepoint").rename(tmp_path / "moved"))
    assert open_savepoint(moved) == written
    assert (written.epoch, written.max_parallelism) == (epoch, GROUPS)
    assert written.runs == len(moved.list("runs"))
    assert written.size == sum(file.size for file in moved.entries("runs"))
    assert damage_of(moved, epoch) is None
    for operator in OPERATORS:
        assert read_whole(moved, operator, epoch) == driver.models[epoch][operator]
    [found] = read_copy(moved, "a", [epoch], range(GROUPS))
    assert found == driver.models[epoch]["a"]
    text = b"".join(path.read_bytes() for path in (tmp_path / "moved").rglob("*") if path.is_file())
    assert str(tmp_path).encode() not in text


def test_a_savepoint_says_nothing_of_what_is_to_be_published(driver):
    manifest = self_contained(ManifestReader(driver.storage), 20)
    assert manifest.committables == {}
    assert manifest.compacted == 20
    assert all(not snapshot.runs for snapshot in manifest.operators.values())


def test_savepoints_lie_beside_each_other(driver, tmp_path):
    urls = {new_savepoint(driver.storage, epoch, None) for epoch in (3, 3, 20)}
    assert len(urls) == 3
    assert {Path(url).parent for url in urls} == {tmp_path / "state/savepoints"}
    assert Path(new_savepoint(driver.storage, 4, str(tmp_path / "there/"))).parent == tmp_path / "there"


def test_a_directory_that_is_in_use_is_refused(driver, tmp_path):
    target = Storage.of(tmp_path / "savepoint")
    write_savepoint(driver.storage, 3, target)
    before = {path: target.get(path) for path in target.list("")}
    for wrong in (target, driver.storage):
        with pytest.raises(StateError, match="a savepoint requires an empty directory"):
            write_savepoint(driver.storage, 4, wrong)
    assert {path: target.get(path) for path in target.list("")} == before


def test_what_is_not_complete_is_no_savepoint(driver, tmp_path, monkeypatch):
    """Stopped after any of its files: there is no savepoint, and another can be taken."""
    complete = Storage.of(new_savepoint(driver.storage, 20, None))
    files = len(complete.list(""))
    put = Storage.put

    class Gone(Exception):
        pass

    for stops_after in range(files):
        done: list[str] = []

        def putting(self, path, data, done=done, last=stops_after):
            if len(done) == last:
                raise Gone
            done.append(path)
            put(self, path, data)

        target = Storage.of(tmp_path / f"stopped-{stops_after}")
        with monkeypatch.context() as patch:
            patch.setattr(savepoints, "_COPIES", 1)
            patch.setattr(Storage, "put", putting)
            with pytest.raises(Gone):
                write_savepoint(driver.storage, 20, target)
        assert len(target.list("")) == stops_after
        assert open_savepoint(target) is None
    assert (
        write_savepoint(driver.storage, 20, Storage.of(tmp_path / "again")).runs
        == open_savepoint(complete).runs
    )


@pytest.mark.parametrize("harm", ["gone", "cut", "altered"])
def test_a_damaged_run_or_manifest_is_named_and_there_is_no_savepoint(driver, tmp_path, harm):
    reader = ManifestReader(driver.storage)
    run = reader.all_layers(0, 20)["a"][0].runs[0]
    for path in (run.path, manifest_path(20)):
        data = driver.storage.get(path)
        if harm == "gone":
            driver.storage.delete(path)
        else:
            driver.storage.put(
                path, data[:-1] if harm == "cut" else data[:40] + bytes([data[40] ^ 1]) + data[41:]
            )
        target = Storage.of(tmp_path / path.replace("/", "-"))
        with pytest.raises(StateCorruptedError, match=path):
            write_savepoint(driver.storage, 20, target)
        assert open_savepoint(target) is None
        driver.storage.put(path, data)


def test_a_savepoint_file_is_checked(driver, tmp_path):
    target = Storage.of(new_savepoint(driver.storage, 20, None))
    data = target.get("savepoint.json")
    for harmed in (b"", data[:-3], data.replace(b'"epoch": 20', b'"epoch": 19'), b"[]", b"\xff\xfe"):
        assert harmed != data
        target.put("savepoint.json", harmed)
        with pytest.raises(StateCorruptedError, match=r"savepoint\.json must be as it was written"):
            open_savepoint(target)
    target.put("savepoint.json", data)
    newer = msgspec.structs.replace(open_savepoint(target), format=FORMAT + 1).signed()
    target.put("savepoint.json", msgspec.json.encode(newer))
    with pytest.raises(StateMismatchError, match=f"knows format {FORMAT + 1} of savepoints"):
        open_savepoint(target)


def test_a_copied_run_replaces_a_damaged_copy(driver, tmp_path):
    target = Storage.of(tmp_path / "target")
    run = ManifestReader(driver.storage).all_layers(0, 20)["a"][0].runs[0]
    target.put(run.path, b"half")
    copy_run(driver.storage, run, target)
    assert target.get(run.path) == driver.storage.get(run.path)
