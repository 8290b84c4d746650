"""What every storage promises, on a local disk and in S3."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest

from firesteel.checkpoint.objects import STAGED, AlreadyExists, NotFound, Storage
from harness import s3


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3.serving() as url:
        yield url


@pytest.fixture(params=["local", "s3"])
def directory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where storages are: a path or a URL."""
    if request.param == "local":
        return str(tmp_path)
    url: str = request.getfixturevalue("server")
    s3.point_to(url, monkeypatch)
    return f"s3://{s3.new_bucket(url)}/with space"


@pytest.fixture
def storage(directory: str) -> Storage:
    return Storage.of(f"{directory}/state")


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


def test_folders_are_those_directly_below(directory: str) -> None:
    for path in ("job 1/a", "job 1/b/c", "job2/a/b", "file", ".hidden/a"):
        Storage.of(directory).put(path, b"")
    assert Storage.of(directory).folders() == ["job 1", "job2"]
    assert Storage.of(f"{directory}/job 1").folders() == ["b"]
    assert Storage.of(f"{directory}/job2/a").folders() == []


def test_looking_for_a_directory_does_not_make_it(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere is missing"):
        Storage.existing(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    assert Storage.existing(tmp_path) == Storage.of(tmp_path)


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


def test_a_storage_travels_by_its_url(storage: Storage) -> None:
    storage.put("a", b"x")
    copy = pickle.loads(pickle.dumps(storage))
    assert copy == storage
    assert copy.get("a") == b"x"


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


def test_a_file_is_written_from_where_it_stands(storage: Storage, tmp_path: Path) -> None:
    data = os.urandom(12_000_000)
    (tmp_path / "file").write_bytes(data)
    with (tmp_path / "file").open("rb") as file:
        file.seek(1_000_000)
        storage.put("a", file)
    assert storage.get("a") == data[1_000_000:]
    assert b"".join(storage.chunks("a")) == data[1_000_000:]
