from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

import lmdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from firesteel.common.errors import FencedError, StateError
from firesteel.state.disk import directories
from firesteel.state.disk.copy import WorkingStore, close_working_stores, open_working_store
from firesteel.state.values.chunks import Entry, bounded
from tests.state.copies import contents

RunPython = Callable[..., CompletedProcess[str]]

SHORT = st.binary(min_size=1, max_size=6)
LONG = st.builds(
    lambda head, length, tail: head + b"k" * length + tail,
    st.sampled_from([b"a", b"b"]),
    st.sampled_from([400, 493, 494, 495, 509, 510, 511, 512, 600]),
    st.binary(max_size=3),
)
KEYS = SHORT | LONG
CHANGES = st.dictionaries(KEYS, st.none() | st.binary(max_size=10), max_size=12)


class StoreBesideModel(RuleBasedStateMachine):
    """A working store is what a dict would be, whatever happens to the process and to the copy between epochs."""

    @initialize()
    def make(self) -> None:
        self.temporary = TemporaryDirectory()
        self.directory = Path(self.temporary.name) / "copy"
        self.model: dict[bytes, bytes] = {}
        self.version = 0
        self.store = self.opened()

    def opened(self, lineage: str = "job") -> WorkingStore:
        return open_working_store(self.directory, lineage, 0, 127, map_size=1 << 20)

    def lose(self) -> None:
        self.model, self.version = {}, 0
        self.store = self.opened()

    @rule(changes=CHANGES, skipped=st.integers(1, 3))
    def apply(self, changes: dict[bytes, bytes | None], skipped: int) -> None:
        self.version += skipped
        self.store.apply(self.version, sorted(changes.items()))
        for key, value in changes.items():
            if value is None:
                self.model.pop(key, None)
            else:
                self.model[key] = value

    @rule(changes=CHANGES)
    def apply_again_what_is_past(self, changes: dict[bytes, bytes | None]) -> None:
        if self.version:
            self.store.apply(self.version, sorted(changes.items()))

    @rule()
    def restart(self) -> None:
        close_working_stores(self.directory)
        self.store = self.opened()

    @rule()
    def remove_the_copy(self) -> None:
        shutil.rmtree(self.directory)
        self.lose()

    @rule()
    def let_another_job_have_the_directory(self) -> None:
        self.opened("another").apply(7, [(b"foreign", b"x")])
        self.lose()

    @rule()
    def clear(self) -> None:
        self.store.clear()
        self.lose()

    @rule(prefix=KEYS | st.just(b""), start=st.none() | KEYS)
    def scan(self, prefix: bytes, start: bytes | None) -> None:
        expected = [
            (key, self.model[key])
            for key in sorted(self.model)
            if key.startswith(prefix) and (start is None or key >= start)
        ]
        with self.store.read() as reader:
            assert list(reader.scan(prefix, start)) == expected

    @invariant()
    def equals_the_model(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.version == self.version
        with self.store.read() as reader:
            assert reader.version == self.version
            assert list(reader.scan(b"")) == sorted(self.model.items())
            assert all(reader.get(key) == value for key, value in self.model.items())
            assert reader.get(b"absent!") is None
            assert reader.get(b"absent" * 100) is None

    def teardown(self) -> None:
        close_working_stores(self.directory)
        self.temporary.cleanup()


TestStoreBesideModel = StoreBesideModel.TestCase
TestStoreBesideModel.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)


@given(keys=st.lists(LONG, unique=True, min_size=1, max_size=8), prefix=LONG)
@settings(max_examples=40)
def test_long_keys_come_in_order_and_by_prefixes_of_any_length(keys: list[bytes], prefix: bytes) -> None:
    with TemporaryDirectory() as directory:
        store = open_working_store(Path(directory), "job", 0, 0)
        store.apply(1, [(key, key[-2:]) for key in keys])
        for asked in (prefix, prefix[:400], prefix[:495], prefix[:511]):
            found = contents(store, asked)
            assert [key for key, _ in found] == sorted(key for key in keys if key.startswith(asked))
        store.apply(2, [(key, None) for key in keys])
        assert contents(store) == []
        close_working_stores(Path(directory))


def test_a_snapshot_does_not_see_later_epochs(store: WorkingStore) -> None:
    store.apply(1, [(b"a", b"1")])
    with store.read() as before:
        scan = before.scan(b"")
        store.apply(2, [(b"a", b"2"), (b"b", b"2")])
        assert (before.version, before.get(b"a"), before.get(b"b")) == (1, b"1", None)
        assert list(scan) == [(b"a", b"1")]
    with store.read() as after:
        assert (after.version, after.get(b"a")) == (2, b"2")


def test_changes_that_do_not_lead_on_are_refused(store: WorkingStore) -> None:
    store.apply(3, [(b"a", b"1")], since=0)
    with pytest.raises(ValueError, match="since epoch 5 cannot be applied to version 3"):
        store.apply(6, [(b"a", b"2")], since=5)
    assert (store.version, contents(store)) == (3, [(b"a", b"1")])


def failing_after(entries: list[Entry]) -> Iterator[Entry]:
    yield from entries
    raise ZeroDivisionError


def test_a_failure_while_applying_a_small_epoch_changes_nothing(store: WorkingStore) -> None:
    store.apply(1, [(b"00001", b"old")])
    with pytest.raises(ZeroDivisionError):
        store.apply(2, failing_after([(b"%05d" % number, b"new") for number in range(8_000)]))
    assert (store.version, contents(store)) == (1, [(b"00001", b"old")])


def test_a_copy_between_two_epochs_is_not_read_and_can_be_moved_on(store: WorkingStore) -> None:
    old = [(b"%05d" % number, b"old") for number in range(20_000)]
    new: list[Entry] = [(key, None if key.endswith(b"7") else b"new") for key, _ in old]
    store.apply(1, old)
    with pytest.raises(ZeroDivisionError):
        store.apply(3, failing_after(new))
    assert store.version == 1
    with store.read() as reader:
        assert reader.version == 0
    with pytest.raises(FencedError, match="is being moved to epoch 3, beyond epoch 2"):
        store.apply(2, new[:10])
    store.apply(4, [*new, (b"z", b"4")], since=1)
    with store.read() as reader:
        assert reader.version == 4
        assert list(reader.scan(b"")) == [*((key, value) for key, value in new if value), (b"z", b"4")]


def test_epochs_before_that_of_an_interrupted_one_do_not_make_the_copy_whole(store: WorkingStore) -> None:
    entries = [(b"%05d" % number, b"3") for number in range(20_000)]
    store.apply(1, [(b"00000", b"1")])
    with pytest.raises(ZeroDivisionError):
        store.apply(3, failing_after(entries))
    store.close()
    close_working_stores(store.directory)
    store = open_working_store(store.directory, "job", 0, 127)
    with pytest.raises(FencedError):
        store.apply(2, [(b"00000", b"2")])
    store.apply(3, entries)
    assert (store.version, contents(store)) == (3, entries)


def test_loading_replaces_what_a_copy_holds(store: WorkingStore) -> None:
    entries = [(b"%06d" % number, b"x" * 20) for number in range(30_000)]
    store.apply(1, [(b"old", b"1"), (b"z" * 600, b"2")])
    store.load(5, [*entries, (b"9" * 520, b"long")])
    assert (store.version, contents(store)) == (5, [*entries, (b"9" * 520, b"long")])
    store.load(5, [(b"a", b"1")])
    store.load(4, [(b"a", b"1")])
    assert len(contents(store)) == 30_001


def test_a_copy_whose_loading_was_interrupted_is_emptied_before_it_is_used(store: WorkingStore) -> None:
    entries = [(b"%05d" % number, b"1") for number in range(20_000)]
    for again in (store.apply, store.load):
        store.clear()
        with pytest.raises(ZeroDivisionError):
            store.load(5, failing_after(entries))
        assert store.version == 0
        again(5, [(b"other", b"2")])
        assert (store.version, contents(store)) == (5, [(b"other", b"2")])


def test_a_copy_that_is_emptied_while_it_is_written_is_not_taken_for_whole(store: WorkingStore) -> None:
    def emptied() -> Iterator[Entry]:
        for number in range(20_000):
            if number == 15_000:
                store.clear()
                store.apply(1, [(b"a", b"1")])
            yield b"%05d" % number, b"2"

    with pytest.raises(StateError, match="was emptied by another process"):
        store.apply(2, emptied())
    assert (store.version, contents(store)) == (1, [(b"a", b"1")])


def test_two_may_apply_the_same_epoch_at_once(store: WorkingStore) -> None:
    entries = [(b"%05d" % number, b"2") for number in range(20_000)]

    def overtaken() -> Iterator[Entry]:
        for entry in entries:
            if entry[0] == b"15000":
                store.apply(2, entries)
                store.apply(3, [(b"00000", b"3")])
            yield entry

    store.apply(2, overtaken())
    assert (store.version, contents(store)) == (3, [(b"00000", b"3"), *entries[1:]])


@given(sizes=st.lists(st.sampled_from([0, 1, 10_000, 300_000, 20_000_000]), max_size=60))
@settings(max_examples=30, deadline=None)
def test_chunks_are_bounded_by_bytes(sizes: list[int]) -> None:
    entries: list[Entry] = [(b"%d" % number, bytes(size)) for number, size in enumerate(sizes)]
    chunks = list(bounded(entries, 8 << 20))
    assert [entry for chunk in chunks for entry in chunk] == entries
    assert all(chunks)


def test_chunks_of_one_size_of_values_are_of_8_mib() -> None:
    for size in (100, 5_000, 100_000, 3_000_000):
        entries: list[Entry] = [(b"k", bytes(size))] * (40_000_000 // size)
        chunks = list(bounded(entries, 8 << 20))
        assert all(sum(len(value or b"") for _, value in chunk) <= (8 << 20) + 2 * size for chunk in chunks)
        assert all(len(chunk) <= 8192 for chunk in chunks)


def test_the_file_grows_by_itself(tmp_path: Path) -> None:
    store = open_working_store(tmp_path, "job", 0, 127, map_size=1 << 16)
    entries = [(b"%06d" % number, b"x" * 100) for number in range(20_000)]
    store.apply(1, iter(entries))
    assert contents(store) == entries
    close_working_stores(tmp_path)
    assert contents(open_working_store(tmp_path, "job", 0, 127, map_size=1 << 16)) == entries
    close_working_stores(tmp_path)


def test_the_file_does_not_grow_under_a_snapshot(tmp_path: Path) -> None:
    store = open_working_store(tmp_path, "job", 0, 127, map_size=1 << 16)
    entries = [(b"%06d" % number, b"x" * 100) for number in range(2_000)]
    reader = store.read()
    with pytest.raises(StateError, match=r"the working copy .* must grow"):
        store.apply(1, entries)
    assert (reader.get(b"000000"), store.version) == (None, 0)
    reader.close()
    store.apply(1, entries)
    assert store.version == 1
    close_working_stores(tmp_path)


def test_a_process_opens_a_copy_once(store: WorkingStore) -> None:
    assert open_working_store(store.directory, "job", 0, 127) is store
    assert open_working_store(store.directory / ".." / "copy", "job", 0, 127) is store


@pytest.mark.parametrize(("lineage", "first", "last"), [("other", 0, 127), ("job", 1, 127), ("job", 0, 63)])
def test_a_copy_of_something_else_is_thrown_away(
    store: WorkingStore, lineage: str, first: int, last: int
) -> None:
    store.apply(5, [(b"a", b"1")])
    other = open_working_store(store.directory, lineage, first, last)
    assert (other.version, contents(other)) == (0, [])


def test_a_copy_from_before_the_last_boot_is_thrown_away(
    store: WorkingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.apply(5, [(b"a", b"1")])
    close_working_stores(store.directory)
    assert open_working_store(store.directory, "job", 0, 127).version == 5
    close_working_stores(store.directory)
    monkeypatch.setattr(directories, "boot_id", lambda: "another boot")
    assert open_working_store(store.directory, "job", 0, 127).version == 0


@pytest.mark.parametrize("damage", ["header", "cut", "emptied", "identity"])
def test_a_damaged_copy_is_made_anew(store: WorkingStore, damage: str) -> None:
    store.apply(5, [(b"%04d" % number, b"x" * 50) for number in range(1000)])
    close_working_stores(store.directory)
    path = store.directory / ("identity.json" if damage == "identity" else "data.mdb")
    content = path.read_bytes()
    path.write_bytes(
        {"header": b"\1" * 8192 + content[8192:], "cut": content[:-4096], "emptied": b"", "identity": b"{"}[
            damage
        ]
    )
    opened = open_working_store(store.directory, "job", 0, 127)
    assert (opened.version, contents(opened)) == (0, [])
    opened.apply(1, [(b"a", b"1")])
    assert contents(opened) == [(b"a", b"1")]


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateError, match=r"the working copy .*file/copy cannot be made"):
        open_working_store(tmp_path / "file" / "copy", "job", 0, 127)


def test_an_error_of_lmdb_names_the_copy(store: WorkingStore) -> None:
    with pytest.raises(StateError, match=r"the working copy .*copy cannot be used") as failure:
        store.apply(1, [(b"", b"LMDB has no empty keys")])
    assert isinstance(failure.value.__cause__, lmdb.Error)
    assert store.version == 0
