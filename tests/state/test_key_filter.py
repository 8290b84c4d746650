"""The filter beside a working copy: whatever happens to processes and files, no key that is there seems absent."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from firesteel.state.disk import key_filter
from firesteel.state.disk.copy import Reader, WorkingStore, close_working_stores, open_working_store
from firesteel.state.disk.directories import filter_files
from firesteel.state.disk.key_filter import KeyFilter
from firesteel.state.values.chunks import Entry

FEW = 40
"""The keys from which on copies have a filter here; a first layer is full with 96."""
UNIVERSE = 1500


def key_of(number: int) -> bytes:
    """A key; some are longer than what LMDB takes."""
    return b"%05d" % number + (b"-" * 600 if number % 97 == 0 else b"")


ALL = [key_of(number) for number in range(UNIVERSE)]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_filter, "SMALLEST", FEW)


@pytest.fixture
def store(tmp_path: Path, few: None) -> Iterator[WorkingStore]:
    yield open_working_store(tmp_path / "copy", "job", 0, 127)
    close_working_stores(tmp_path)


def put(store: WorkingStore, first: int, last: int, value: bytes | None = b"x") -> None:
    store.apply(store.version + 1, [(key_of(number), value) for number in range(first, last)])


def searched(reader: Reader, keys: list[bytes]) -> int:
    """Return how many of the keys are searched for."""
    bloom = reader._bloom
    return len(keys) if bloom is None else len(bloom.possible(keys))


class FilterBesideModel(RuleBasedStateMachine):
    """Reads are what a dict would say, though transactions fail, processes take turns, and files get lost."""

    @initialize()
    def make(self) -> None:
        self.smallest = key_filter.SMALLEST
        key_filter.SMALLEST = FEW
        self.temporary = TemporaryDirectory()
        self.directory = Path(self.temporary.name) / "copy"
        self.model: dict[bytes, bytes] = {}
        self.snapshots: list[tuple[Reader, dict[bytes, bytes]]] = []
        self.reopen()

    def reopen(self) -> None:
        self.release()
        close_working_stores(self.directory)
        self.store = open_working_store(self.directory, "job", 0, 127)
        self.others = [KeyFilter(self.store.directory, self.store._data, self.store._meta) for _ in range(2)]

    def release(self) -> None:
        for reader, _ in self.snapshots:
            reader.close()
        self.snapshots.clear()

    def changes(self, first: int, count: int, value: bytes | None) -> list[Entry]:
        return [(key, value) for key in ALL[first : first + count]]

    @rule(first=st.integers(0, UNIVERSE), count=st.integers(0, 500), value=st.none() | st.binary(max_size=3))
    def apply(self, first: int, count: int, value: bytes | None) -> None:
        changes = self.changes(first, count, value)
        self.store.apply(self.store.version + 1, changes)
        for key, new in changes:
            if new is None:
                self.model.pop(key, None)
            else:
                self.model[key] = new

    @rule(first=st.integers(0, UNIVERSE), count=st.integers(1, 500))
    def fail_before_the_commit(self, first: int, count: int) -> None:
        include = KeyFilter.include

        def failing(self: KeyFilter, transaction: Any, chunk: list[Entry]) -> None:
            include(self, transaction, chunk)
            raise ZeroDivisionError

        KeyFilter.include = failing  # type: ignore[method-assign]
        try:
            self.store.apply(self.store.version + 1, self.changes(first, count, b"lost"))
        except ZeroDivisionError:
            pass
        finally:
            KeyFilter.include = include  # type: ignore[method-assign]

    @rule(which=st.integers(0, 1))
    def let_another_process_go_on(self, which: int) -> None:
        self.store._filter, self.others[which] = self.others[which], self.store._filter

    @rule()
    def keep_a_snapshot(self) -> None:
        self.snapshots.append((self.store.read(), dict(self.model)))

    @rule()
    def restart(self) -> None:
        self.reopen()

    @rule()
    def lose_the_files(self) -> None:
        for path in filter_files(self.directory):
            path.unlink()

    @rule(damage=st.sampled_from(["cut", "emptied", "header"]))
    def damage_the_files(self, damage: str) -> None:
        self.reopen()  # a file that is mapped cannot be cut off without a crash, as with LMDB's own
        for path in filter_files(self.directory):
            content = path.read_bytes()
            path.write_bytes(
                {"cut": content[:-8], "emptied": b"", "header": bytes(64) + content[64:]}[damage]
            )

    @rule()
    def clear(self) -> None:
        self.release()
        self.store.clear()
        self.model = {}

    @rule()
    def remove_the_copy(self) -> None:
        self.release()
        shutil.rmtree(self.directory)
        self.model = {}
        self.reopen()

    @invariant()
    def no_key_seems_absent(self) -> None:
        if not hasattr(self, "store"):
            return
        with self.store.read() as reader:
            self.check(reader, self.model)
        for kept, model in self.snapshots:
            self.check(kept, model)

    def check(self, reader: Reader, model: dict[bytes, bytes]) -> None:
        if reader._bloom is not None:
            assert reader._bloom.may_have(list(model)).all()
        assert reader.get_many(ALL) == model

    def teardown(self) -> None:
        self.release()
        close_working_stores(self.directory)
        self.temporary.cleanup()
        key_filter.SMALLEST = self.smallest


TestFilterBesideModel = FilterBesideModel.TestCase
TestFilterBesideModel.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


def test_absent_keys_are_not_searched_for(store: WorkingStore) -> None:
    put(store, 0, 1000)
    put(store, 1000, 1200)
    with store.read() as reader:
        assert searched(reader, ALL[1200:]) < 30
        assert reader.get_many(ALL[1100:]) == dict.fromkeys(ALL[1100:1200], b"x")


def test_a_small_copy_has_no_filter(store: WorkingStore) -> None:
    put(store, 0, FEW - 1)
    assert not filter_files(store.directory)
    put(store, 0, FEW)
    assert len(filter_files(store.directory)) == 1


def test_an_emptied_copy_has_no_filter(store: WorkingStore) -> None:
    put(store, 0, 1000)
    store.clear()
    assert not filter_files(store.directory)
    with store.read() as reader:
        assert reader.get_many(ALL) == {}


@pytest.mark.parametrize("damage", ["missing", "cut", "foreign"])
def test_a_filter_that_cannot_be_used_is_made_again(store: WorkingStore, damage: str) -> None:
    put(store, 0, 500)
    close_working_stores(store.directory)
    (path,) = filter_files(store.directory)
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(content[:-1] if damage == "cut" else bytes(len(content)))
    store = open_working_store(store.directory, "job", 0, 127)
    with store.read() as reader:
        assert searched(reader, ALL[600:]) == len(ALL[600:])
        assert reader.get_many(ALL) == dict.fromkeys(ALL[:500], b"x")
    put(store, 500, 600)
    with store.read() as reader:
        assert searched(reader, ALL[600:]) < 90
        assert reader.get_many(ALL) == dict.fromkeys(ALL[:600], b"x")
    assert len(filter_files(store.directory)) == 1


def test_keys_that_come_and_go_do_not_make_it_grow(store: WorkingStore) -> None:
    for number in range(0, 20_000, 100):
        put(store, number, number + 100)
        if number:
            put(store, number - 100, number, None)
    (path,) = filter_files(store.directory)
    assert path.stat().st_size < 4096
    with store.read() as reader:
        assert searched(reader, ALL) < 150


def test_a_disk_without_room_leaves_the_copy_without_filter(
    store: WorkingStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    extend, full = key_filter._extend, True

    def extended(path: Path, name: int, old: int, new: int) -> None:
        if full:
            raise OSError(28, "No space left on device")
        extend(path, name, old, new)

    monkeypatch.setattr(key_filter, "_extend", extended)
    with caplog.at_level(logging.WARNING):
        put(store, 0, 100)
        put(store, 100, 150)
    assert [record.getMessage().split(": ", 1)[1] for record in caplog.records] == [
        "[Errno 28] No space left on device"
    ]
    assert not filter_files(store.directory)
    full = False
    put(store, 150, 190)
    assert not filter_files(store.directory)
    put(store, 190, 200)
    with store.read() as reader:
        assert searched(reader, ALL[200:]) < 150
        assert reader.get_many(ALL) == dict.fromkeys(ALL[:200], b"x")
    full = True
    put(store, 200, 1000)
    put(store, 1000, 1100)
    assert not filter_files(store.directory)
    with store.read() as reader:
        assert reader.get_many(ALL) == dict.fromkeys(ALL[:1100], b"x")
