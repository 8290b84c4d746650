from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint import runs
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import RunEntries, read_run, write_run
from firesteel.common.errors import StateCorruptedError
from firesteel.state.live.durable import RunRef
from firesteel.state.values.chunks import Entry

CHANGES = st.dictionaries(st.binary(min_size=1, max_size=12), st.none() | st.binary(max_size=40), max_size=40)
ADDRESS: dict[str, Any] = {"epoch": 3, "operator": "op", "subtask": 1, "first_group": 4, "last_group": 7}


@pytest.fixture(scope="module")
def storage() -> Iterator[Storage]:
    with TemporaryDirectory() as directory:
        yield Storage.of(directory)


@pytest.fixture(params=["in memory", "through a file"])
def small_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "BATCH", 3)
    if request.param == "through a file":
        monkeypatch.setattr(runs, "_IN_MEMORY", 16)
        monkeypatch.setattr(runs, "_CHUNK", 100)


def write(storage: Storage, entries: Sequence[Entry], path: str = "runs/a.run") -> RunRef:
    ref = write_run(storage, path, iter(entries), **ADDRESS)
    assert ref is not None
    return ref


@settings(max_examples=60)
@given(changes=CHANGES.filter(bool))
def test_a_run_is_read_as_it_was_written(storage: Storage, changes: dict[bytes, bytes | None]) -> None:
    entries = sorted(changes.items())
    ref = write(storage, entries)
    assert list(read_run(storage, ref)) == entries
    assert (ref.entries, ref.epoch, ref.operator, ref.subtask) == (len(entries), 3, "op", 1)
    assert ref.size == len(storage.get(ref.path))


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("count", [1, 3, 4, 100])
def test_batches_and_large_files_change_nothing(storage: Storage, count: int) -> None:
    entries = [(b"%04d" % number, None if number % 5 == 0 else b"x" * number) for number in range(count)]
    assert list(read_run(storage, write(storage, entries))) == entries


@settings(max_examples=40)
@given(epochs=st.lists(CHANGES.filter(bool), max_size=5))
def test_runs_read_one_after_the_other_add_up_to_the_state(
    storage: Storage, epochs: list[dict[bytes, bytes | None]]
) -> None:
    expected: dict[bytes, bytes | None] = {}
    for changes in epochs:
        expected.update(changes)
    refs = [write(storage, sorted(changes.items())) for changes in epochs]
    assert {key: value for ref in refs for key, value in read_run(storage, ref)} == expected


def test_no_entries_no_file(tmp_path: Path) -> None:
    storage = Storage.of(tmp_path)
    assert write_run(storage, "runs/a.run", [], **ADDRESS) is None
    assert storage.list("runs") == []


def test_two_attempts_of_a_task_write_two_files(storage: Storage) -> None:
    first, second = write(storage, [(b"a", b"1")]), write(storage, [(b"a", b"2")])
    assert first.path != second.path
    assert first.path.startswith("runs/a-")
    assert first.path.endswith(".run")
    assert list(read_run(storage, first)) == [(b"a", b"1")]


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("keys", [b"ba", b"aa", b"abca", b"abcc"])
def test_entries_out_of_order_are_refused(storage: Storage, keys: bytes) -> None:
    with pytest.raises(ValueError, match="ascending order"):
        write(storage, [(bytes([key]), b"") for key in keys])


def test_an_error_while_writing_leaves_no_file(tmp_path: Path) -> None:
    def failing() -> Iterator[Entry]:
        yield b"a", b"1"
        raise ZeroDivisionError

    storage = Storage.of(tmp_path)
    with pytest.raises(ZeroDivisionError):
        write_run(storage, "runs/a.run", failing(), **ADDRESS)
    assert storage.list("") == []


def test_a_ref_travels_in_a_manifest_and_in_a_report(storage: Storage) -> None:
    ref = write(storage, [(b"a", b"1")])
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(ref), type=RunRef) == ref
    assert pickle.loads(pickle.dumps(ref)) == ref


@pytest.fixture(scope="module")
def damaged(storage: Storage) -> tuple[RunRef, bytes]:
    ref = write(storage, [(b"%03d" % number, b"v" * 20) for number in range(50)], "runs/damaged.run")
    return ref, storage.get(ref.path)


def assert_named(storage: Storage, ref: RunRef) -> None:
    with pytest.raises(StateCorruptedError) as failure:
        next(read_run(storage, ref))
    assert f"{storage.url}/{ref.path}" in str(failure.value)


@given(data=st.data())
def test_any_changed_byte_is_found(
    storage: Storage, damaged: tuple[RunRef, bytes], data: st.DataObject
) -> None:
    ref, content = damaged
    position = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    changed[position] ^= data.draw(st.integers(1, 255))
    storage.put(ref.path, bytes(changed))
    assert_named(storage, ref)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("content", [b"", b"short", None])
def test_a_run_cut_off_or_missing_is_found(
    storage: Storage, damaged: tuple[RunRef, bytes], content: bytes | None
) -> None:
    ref, whole = damaged
    storage.put(ref.path, whole[:-1])
    assert_named(storage, ref)
    storage.put(ref.path, whole + b"\0")
    assert_named(storage, ref)
    storage.delete(ref.path)
    if content is not None:
        storage.put(ref.path, content)
    assert_named(storage, ref)


GROUPS = st.integers(4, 7) | st.just(0xFFFF)
ENTRIES = st.lists(st.tuples(st.integers(0, 1), GROUPS, st.binary(max_size=2)), unique=True, min_size=1)


@settings(max_examples=60)
@given(heads=ENTRIES, bounds=st.tuples(st.integers(0, 9), st.integers(0, 9)), broadcast=st.booleans())
def test_a_range_of_key_groups_is_taken_from_a_run(
    storage: Storage, heads: list[tuple[int, int, bytes]], bounds: tuple[int, int], broadcast: bool
) -> None:
    first, last = sorted(bounds)
    expected = sorted(
        (state.to_bytes(2, "big") + group.to_bytes(2, "big") + key, b"v")
        for state, group, key in heads
        if first <= group <= last or (broadcast and group == 0xFFFF)
    )
    everything = sorted((s.to_bytes(2, "big") + g.to_bytes(2, "big") + k, b"v") for s, g, k in heads)
    selected = RunEntries(storage, write(storage, everything), first, last, broadcast=broadcast)
    assert list(selected) == expected
    assert list(selected) == expected
