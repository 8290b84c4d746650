from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest

from firesteel.common.errors import ConfigurationError, StateError
from firesteel.state.storage import STAGED, AlreadyExists, NotFound, Storage


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.of(tmp_path / "state")


def test_what_is_put_can_be_got_listed_and_deleted(storage: Storage) -> None:
    storage.put("a/b/c", b"one")
    storage.put("a/b/c", b"two")
    storage.put("a/d", BytesIO(b"three"))
    storage.put("e", b"")
    assert storage.get("a/b/c") == b"two"
    assert b"".join(storage.chunks("a/d")) == b"three"
    assert storage.get("e") == b""
    assert storage.list("a") == ["a/b/c", "a/d"]
    assert storage.list("nothing") == []
    assert storage.exists("a/d")
    storage.delete("a/d")
    storage.delete("a/d")
    assert not storage.exists("a/d")
    assert storage.list(STAGED) == []


def test_a_missing_object_is_named(storage: Storage) -> None:
    with pytest.raises(NotFound, match=r"state/a/b is missing"):
        storage.get("a/b")
    with pytest.raises(NotFound, match=r"state/a/b is missing"):
        list(storage.chunks("a/b"))


def test_create_keeps_what_is_there(storage: Storage) -> None:
    storage.create("a", b"first")
    with pytest.raises(AlreadyExists, match="state/a exists already"):
        storage.create("a", b"second")
    assert storage.get("a") == b"first"
    assert storage.list(STAGED) == []


def test_of_many_concurrent_creates_exactly_one_wins(storage: Storage) -> None:
    threads = 8
    together = threading.Barrier(threads)

    def create(writer: int, name: str) -> bool:
        together.wait()
        try:
            Storage.of(storage.url).create(name, b"%d" % writer * 1000)
        except AlreadyExists:
            return False
        return True

    with ThreadPoolExecutor(threads) as pool:
        for turn in range(20):
            name = f"manifests/{turn}"
            won = list(pool.map(create, range(threads), [name] * threads))
            assert won.count(True) == 1
            assert storage.get(name) == b"%d" % won.index(True) * 1000


def test_a_path_a_relative_path_and_a_file_url_are_one_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = Storage.of("with space")
    storage.put("a", b"x")
    assert Storage.of(tmp_path / "with space") == storage
    assert Storage.of((tmp_path / "with space").as_uri()).get("a") == b"x"
    assert len({storage, Storage.of(str(tmp_path / "with space"))}) == 1


def test_a_storage_travels_by_its_url(storage: Storage) -> None:
    storage.put("a", b"x")
    copy = pickle.loads(pickle.dumps(storage))
    assert copy == storage
    assert copy.get("a") == b"x"


def test_an_unknown_kind_of_url_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"the state directory requires .* got 'gopher://x/y'"):
        Storage.of("gopher://x/y")


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateError, match=r"file/state cannot be made"):
        Storage.of(tmp_path / "file" / "state")


def test_an_object_that_cannot_be_written_is_named(storage: Storage) -> None:
    storage.put("a", b"")
    with pytest.raises(StateError, match=r"state/a/b cannot be written") as failure:
        storage.put("a/b", b"")
    assert "Debug source" not in str(failure.value)
    assert storage.list(STAGED) == []


def test_a_listing_has_sizes_and_times(storage: Storage) -> None:
    before = time.time_ns() // 1_000_000
    for path, size in (("a/2", 2), ("a/1", 1), ("a/b/3", 3), ("ab/4", 4)):
        storage.put(path, b"x" * size)
    entries = storage.entries("a")
    assert [(entry.path, entry.size) for entry in entries] == [("a/1", 1), ("a/2", 2), ("a/b/3", 3)]
    assert all(before - 2000 <= entry.modified_ms <= before + 60_000 for entry in entries)
    assert storage.entries("nothing") == []


def test_names_after_a_path(storage: Storage) -> None:
    for number in range(12):
        storage.put(f"m/{number:04d}", b"")
    storage.put("n/0000", b"")
    assert storage.names_after("m", "m/0009") == ["m/0010", "m/0011"]
    assert storage.names_after("m", "m/0005x") == [f"m/{number:04d}" for number in range(6, 12)]
    assert storage.names_after("m", "m/0011") == []
    assert storage.names_after("nothing", "nothing/1") == []


def test_many_are_deleted_and_missing_ones_are_passed_over(storage: Storage) -> None:
    for number in range(5):
        storage.put(f"a/{number}", b"")
    storage.delete_all(f"a/{number}" for number in (1, 9, 3))
    assert storage.list("a") == ["a/0", "a/2", "a/4"]
    storage.delete_all([])
    storage.delete_all(["a/0"])
    storage.delete_all(["a/0"])
    assert storage.list("a") == ["a/2", "a/4"]


def test_many_are_got_in_order(storage: Storage) -> None:
    for number in range(40):
        storage.put(f"a/{number}", b"%d" % number)
    assert storage.get_many(f"a/{number}" for number in reversed(range(40))) == [
        b"%d" % number for number in reversed(range(40))
    ]
    assert storage.get_many([]) == []
    with pytest.raises(NotFound, match="a/none is missing"):
        storage.get_many(["a/1", "a/none", "a/2"])


@pytest.mark.parametrize("size", [0, 1000, 11_000_000])
def test_an_object_is_copied_to_another_storage(tmp_path: Path, storage: Storage, size: int) -> None:
    data = os.urandom(size)
    storage.put("a/b", data)
    target = Storage.of(tmp_path / "target")
    storage.copy_into(target, "a/b")
    assert target.get("a/b") == data
    target.put("c", b"other")
    storage.copy_into(target, "a/b", "c")
    storage.delete("a/b")
    assert target.get("c") == data
    assert target.list("") == ["a/b", "c"]
    with pytest.raises(NotFound, match="state/a/b is missing"):
        storage.copy_into(target, "a/b")


def test_what_crashed_writers_left_is_swept(tmp_path: Path, storage: Storage) -> None:
    storage.put("a", b"")
    staged = tmp_path / "state" / STAGED
    for name, age in (("old", 7200), ("old#1", 7200), ("new", 0)):
        (staged / name).write_bytes(b"part")
        os.utime(staged / name, (time.time() - age,) * 2)
    storage.sweep_staged(3_600_000)
    assert [path.name for path in staged.iterdir()] == ["new"]
    assert storage.get("a") == b""
    Storage.of(tmp_path / "untouched").sweep_staged(0)


WRITER = """
import sys
from firesteel.state.storage import Storage
storage = Storage.of(sys.argv[1])
for number in range(1_000_000):
    storage.create(f"objects/{number}", b"x" * 3_000_000)
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_whole_objects_only(storage: Storage) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, storage.url],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as writer:
        assert writer.stdout is not None
        for _ in range(5):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    written = storage.list("objects")
    assert len(written) >= 5
    assert {len(storage.get(path)) for path in written} == {3_000_000}
