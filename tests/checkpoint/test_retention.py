"""Retention: whatever is kept can be read in full, nothing else stays, and it can be stopped at any point."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import collect_garbage, kept_epochs
from firesteel.checkpoint.savepoint import new_savepoint
from firesteel.common.errors import StateCorruptedError
from firesteel.control import maintenance
from firesteel.control.maintenance import MaintenancePolicy
from tests.checkpoint.histories import GROUPS, Driver, Entries, Merger, read_copy, read_whole, referred

OPERATORS = ("a", "b")
INLINE = MaintenancePolicy(3, 4, inline=True)


@pytest.fixture(autouse=True, scope="module")
def _no_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def changes(epoch: int) -> dict[str, dict[tuple[int, int, int], bytes | None]]:
    """What an epoch changes: some keys over and over, some for a while, one for good."""
    value = b"%d" % epoch
    return {
        "a": {
            (0, epoch % GROUPS, epoch % 3): value,
            (0, epoch * 5 % GROUPS, 7): None if epoch % 2 else value,
            (1, 0, epoch + 4): value,
            (1, 0, epoch): None,
            (0, 0xFFFF, epoch % 2): value,
        },
        "b": {(0, 1, 1): value} if epoch % 3 == 0 else {},
    }


def check(storage: Storage, models: dict[int, dict[str, Entries]]) -> None:
    """Every epoch that is kept is all there."""
    kept = kept_epochs(ManifestReader(storage))
    for epoch in kept:
        assert damage_of(storage, epoch) is None
        for operator in OPERATORS:
            assert read_whole(storage, operator, epoch) == models[epoch].get(operator, {}), (epoch, operator)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), st.integers(1, 4)),
        st.tuples(st.just("commit"), st.integers(1, 4)),
        st.tuples(st.just("fail"), st.integers(1, 4)),
        st.tuples(st.just("merge"), st.integers(1, 6)),
        st.tuples(st.just("lose"), st.none()),
        st.tuples(st.just("collect"), st.none()),
        st.tuples(st.just("restart"), st.none()),
    ),
    min_size=8,
    max_size=40,
)


@settings(max_examples=20)
@given(STEPS, st.integers(1, 4))
def test_all_that_is_kept_can_be_read_and_nothing_else_stays(steps, retained):
    with TemporaryDirectory() as directory:
        storage = Storage.of(directory)
        driver = Driver(storage, OPERATORS, retained=retained)
        made = None
        for kind, number in steps:
            if kind == "commit":
                driver.commit(changes(driver.epoch + 1), number, made)
                made = None
            elif kind == "fail":
                driver.work(changes(driver.epoch + 1), number)
            elif kind == "merge" and driver.epoch and made is None:
                made = driver.merged(number)
            elif kind == "lose":  # a compaction that was not taken into a manifest in time
                made = None
            elif kind == "collect" and driver.epoch:
                collect_garbage(storage, driver.epoch, () if made is None else made.paths)
                unfinished = {path for path in storage.list("runs") if f"/{driver.epoch + 1:012d}-" in path}
                pinned = set() if made is None else made.paths
                assert set(storage.list("runs")) == referred(storage) | unfinished | pinned
            elif kind == "restart":
                made = None
                driver = Driver(storage, OPERATORS, retained=retained, models=driver.models)
            check(storage, driver.models)
        assert len(kept_epochs(driver.log)) == min(retained, driver.epoch)


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed_at(operation: int) -> Iterator[list[str]]:
    """Kill whoever is about to do the storage operation of this number; answer what was done until then."""
    done: list[str] = []

    def wrapped(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def operate(self: Storage, *arguments: Any, **more: Any) -> Any:
            done.append(f"{name} {arguments[0] if isinstance(arguments[0], str) else ''}")
            if len(done) == operation:
                raise Killed
            return call(self, *arguments, **more)

        return operate

    with pytest.MonkeyPatch.context() as patch:
        for name in ("put", "create", "get", "entries", "names_after", "delete", "get_many"):
            patch.setattr(Storage, name, wrapped(name, getattr(Storage, name)))
        yield done


def epochs(directory: Path, number: int, models: dict[int, dict[str, Entries]]) -> Driver:
    """A driver that brings the job to this epoch, with compaction and collection on the way."""
    driver = Driver(Storage.of(directory), OPERATORS, retained=2, policy=INLINE, models=models)
    while driver.epoch < number:
        driver.commit(changes(driver.epoch + 1), 1 + driver.epoch % 3)
    return driver


def test_killed_at_every_storage_operation_and_run_again(tmp_path):
    models: dict[int, dict[str, Entries]] = {0: {}}
    with killed_at(-1) as done:
        epochs(tmp_path / "whole", 17, models)
    wanted = models[17]
    kinds = {entry.split("/")[0] for entry in done}
    assert kinds >= {"create manifests", "put runs", "delete runs", "delete manifests", "entries runs"}
    for operation in range(1, len(done) + 1, 2 + operation_step(len(done))):
        models = {0: {}}
        directory = tmp_path / str(operation)
        with killed_at(operation), pytest.raises(Killed):
            epochs(directory, 17, models)
        check(Storage.of(directory), models)
        driver = epochs(directory, 17, models)
        check(driver.storage, models)
        assert models[17] == wanted
        driver = Driver(driver.storage, OPERATORS, retained=2, models=models)
        driver.commit({}, 1)
        collect_garbage(driver.storage, driver.epoch)
        assert set(driver.storage.list("runs")) == referred(driver.storage)


def operation_step(count: int) -> int:
    """Some thirty of them; which ones changes as the code does."""
    return count // 30


def deleting(last: int) -> Callable[[Storage, str], None]:
    """Delete until this is called for the time `last`."""
    delete, calls = Storage.delete, itertools.count(1)

    def call(self: Storage, path: str) -> None:
        if next(calls) == last:
            raise Killed
        delete(self, path)

    return call


def test_a_collection_killed_at_each_deletion_can_be_done_again(tmp_path):
    number = 0
    while True:
        number += 1
        models: dict[int, dict[str, Entries]] = {0: {}}
        driver = Driver(Storage.of(tmp_path / str(number)), OPERATORS, retained=2, models=models)
        for _ in range(5):
            driver.commit(changes(driver.epoch + 1), 2)
        driver.commit(changes(6), 1, driver.merged(99))
        driver.commit(changes(7), 1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Storage, "delete", deleting(number))
            try:
                collect_garbage(driver.storage, 7)
            except Killed:
                pass
            else:
                break
        check(driver.storage, models)
        collect_garbage(driver.storage, 7)
        check(driver.storage, models)
        assert set(driver.storage.list("runs")) == referred(driver.storage)
        assert [int(path[-12:]) for path in driver.storage.list("manifests")] == [6, 7]
    assert number > 12


def test_runs_in_flight_savepoints_and_strangers_stay(tmp_path):
    driver = Driver(Storage.of(tmp_path), OPERATORS, retained=1)
    for _ in range(3):
        driver.commit(changes(driver.epoch + 1))
    savepoint = Storage.of(new_savepoint(driver.storage, 2, None))
    kept = savepoint.list("")
    driver.commit(changes(4), 1, driver.merged(99))
    flying = driver.work(changes(5), 2)
    driver.storage.put("notes.txt", b"mine")
    collect_garbage(driver.storage, 4)
    assert driver.storage.exists("notes.txt")
    assert savepoint.list("") == kept
    assert damage_of(savepoint, 2) is None
    driver.finish(changes(5), flying)
    check(driver.storage, driver.models)


def test_a_damaged_manifest_removes_nothing(tmp_path):
    driver = Driver(Storage.of(tmp_path), OPERATORS, retained=2)
    for _ in range(9):
        driver.commit(changes(driver.epoch + 1), 1, driver.merged(99) if driver.epoch == 6 else None)
    before = driver.storage.list("")
    for damaged in (9, 8):
        path = manifest_path(damaged)
        data = driver.storage.get(path)
        driver.storage.put(path, data[:-3])
        with pytest.raises(StateCorruptedError, match=path):
            collect_garbage(driver.storage, 9)
        assert driver.storage.list("") == before
        driver.storage.put(path, data)
    assert collect_garbage(driver.storage, 9).files > 0
    check(driver.storage, driver.models)


class Slow(Merger):
    """Merges when it is told to."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.begun, self.may = threading.Event(), threading.Event()

    def merge(self, task):
        self.begun.set()
        assert self.may.wait(30)
        return super().merge(task)


def test_a_savepoint_asked_for_during_a_long_compaction_is_of_its_epoch(tmp_path, monkeypatch):
    driver = Driver(Storage.of(tmp_path), OPERATORS, retained=2, policy=MaintenancePolicy(5, 5))
    slow = driver.maintenance._executor = Slow(driver.storage)
    merged, adopted = threading.Event(), threading.Event()

    def collecting_late(*arguments):
        merged.set()
        assert adopted.wait(30)
        return collect_garbage(*arguments)

    monkeypatch.setattr(maintenance, "collect_garbage", collecting_late)
    for _ in range(5):
        driver.commit(changes(driver.epoch + 1))
    assert slow.begun.wait(30)
    asked = driver.maintenance.savepoint(5, None)
    slow.may.set()
    assert merged.wait(30)
    for _ in range(9):
        driver.commit(changes(driver.epoch + 1))
    assert driver.last.compacted == 5
    adopted.set()
    savepoint = Storage.of(asked.result(30))
    for operator in OPERATORS:
        assert read_whole(savepoint, operator, 5) == driver.models[5][operator]
    driver.maintenance.close()
    check(driver.storage, driver.models)


def test_a_kept_epoch_is_read_by_a_copy_while_newer_ones_are_committed(tmp_path):
    driver = Driver(Storage.of(tmp_path), OPERATORS, retained=3, policy=INLINE)
    for _ in range(30):
        driver.commit(changes(driver.epoch + 1), 1 + driver.epoch % 4)
        epoch = kept_epochs(driver.log)[0]
        [found] = read_copy(driver.storage, "a", [epoch], range(GROUPS))
        assert found == driver.models[epoch]["a"]
