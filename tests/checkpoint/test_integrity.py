"""What is damaged is named, and what is offered instead is whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.integrity import advised_error, damage_of, newest_intact
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import collect_garbage, kept_epochs
from firesteel.common.errors import StateCorruptedError
from tests.checkpoint.histories import Driver, read_whole
from tests.checkpoint.test_retention import OPERATORS, changes


@pytest.fixture(autouse=True, scope="module")
def _no_flush():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


EPOCHS = 18


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """A job that keeps 12 of 18 epochs, and was compacted twice."""
    mine = Driver(Storage.of(tmp_path_factory.mktemp("state")), OPERATORS, retained=12)
    for epoch in range(1, EPOCHS + 1):
        mine.commit(changes(epoch), 1 + epoch % 2, mine.merged(99) if epoch in (4, 11) else None)
    collect_garbage(mine.storage, EPOCHS)
    return mine


def needed(storage: Storage, epoch: int) -> set[str]:
    """Every file that somebody who reads an epoch may read."""
    reader = ManifestReader(storage)
    layers = reader.all_layers(0, epoch)
    return {manifest_path(epoch)} | {
        run.path for found in layers.values() for layer in found for run in layer.runs
    }


def test_an_epoch_is_whole_as_long_as_nothing_it_needs_is_harmed(driver):
    storage = driver.storage
    kept = kept_epochs(ManifestReader(storage))
    assert kept == [*range(7, EPOCHS + 1)]
    for path in [*storage.list("runs"), *(manifest_path(epoch) for epoch in kept)]:
        hit = {epoch for epoch in kept if path in needed(storage, epoch)}
        data = storage.get(path)
        for harmed in (None, data[:-1], data[:30] + bytes([data[30] ^ 16]) + data[31:]):
            storage.delete(path) if harmed is None else storage.put(path, harmed)
            damaged = {epoch for epoch in kept if path != manifest_path(epoch) or harmed is not None}
            found = {
                epoch
                for epoch in damaged
                if (error := damage_of(storage, epoch)) is not None and path in str(error)
            }
            assert found >= hit & damaged
            assert all(read_is_right(driver, epoch) for epoch in damaged - found)
        storage.put(path, data)
    assert all(damage_of(storage, epoch) is None for epoch in kept)


def read_is_right(driver: Driver, epoch: int) -> bool:
    return read_whole(driver.storage, "b", epoch) == driver.models[epoch]["b"]


HARMS = st.lists(st.tuples(st.integers(0, 200), st.sampled_from(["gone", "cut", "altered"])), max_size=6)


@settings(max_examples=20)
@given(HARMS)
def test_what_is_offered_can_be_read_and_nothing_newer_can(driver, harms):
    storage = driver.storage
    paths = [path for path in storage.list("") if path.startswith(("runs/", "manifests/"))]
    before = {path: storage.get(path) for path in paths}
    try:
        for number, harm in harms:
            path = paths[number % len(paths)]
            if harm == "gone":
                storage.delete(path)
            elif storage.exists(path) and len(data := storage.get(path)) > 20:
                storage.put(
                    path, data[:-5] if harm == "cut" else data[:20] + bytes([data[20] ^ 1]) + data[21:]
                )
        found = newest_intact(storage, EPOCHS + 1)
        error = advised_error(StateCorruptedError("is damaged"), storage)
        if found is None:
            assert "no kept epoch is intact" in error.hint
        else:
            assert f"--from {found}:" in error.hint
            for operator in OPERATORS:
                assert read_whole(storage, operator, found) == driver.models[found][operator]
        for epoch in ManifestReader(storage).epochs():
            if epoch > (found or 0) and epoch >= EPOCHS - 11:
                assert damage_of(storage, epoch) is not None
    finally:
        for path, data in before.items():
            storage.put(path, data)


def test_an_epoch_that_is_kept_no_more_is_not_offered(tmp_path: Path):
    """It could not be started from, though all it needs is still there."""
    mine = Driver(Storage.of(tmp_path), OPERATORS, retained=2)
    for epoch in range(1, 7):
        mine.commit(changes(epoch))
    assert damage_of(mine.storage, 3) is None
    assert newest_intact(mine.storage, 5) is None
    assert newest_intact(mine.storage, 6) == 5
    mine.storage.put(manifest_path(6), b"damaged")
    assert newest_intact(mine.storage, 7) == 5
    assert newest_intact(mine.storage, 5) == 4


def test_there_is_nothing_to_offer_in_an_empty_directory(tmp_path: Path):
    assert newest_intact(Storage.of(tmp_path), 1) is None
    assert (
        "no kept epoch is intact"
        in advised_error(StateCorruptedError("is damaged"), Storage.of(tmp_path)).hint
    )
