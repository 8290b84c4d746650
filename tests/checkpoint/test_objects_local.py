"""What storage on a local disk promises beyond what all storage does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from firesteel.checkpoint.objects import STAGED, Storage
from firesteel.common.errors import ConfigurationError, StateError


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage.of(tmp_path / "state")


def test_a_path_a_relative_path_and_a_file_url_are_one_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = Storage.of("with space")
    storage.put("a", b"x")
    assert Storage.of(tmp_path / "with space") == storage
    assert Storage.of((tmp_path / "with space").as_uri()).get("a") == b"x"
    assert len({storage, Storage.of(str(tmp_path / "with space"))}) == 1


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


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc, to know what is flushed")
def test_what_is_written_and_where_is_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[Path] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    root = tmp_path / "new" / "state"
    storage = Storage.of(root)
    assert set(flushed) == {tmp_path, tmp_path / "new"}
    flushed.clear()
    storage.create("a/b/c", b"")
    staged, *directories = flushed
    assert staged.parent == root / STAGED
    assert directories == [root, root / "a", root / "a/b"]
    flushed.clear()
    storage.put("a/b/d", b"")
    assert flushed[1:] == [root / "a/b"]


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
from firesteel.checkpoint.objects import Storage
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


def test_a_directory_that_is_made_is_its_users_alone_and_one_that_is_there_stays_as_it_is(
    tmp_path: Path,
) -> None:
    before = os.umask(0o022)
    try:
        made = Storage.of(tmp_path / "above" / "made")
        (tmp_path / "shared").mkdir(mode=0o755)
        shared = Storage.of(tmp_path / "shared")
        for storage in (made, shared):
            storage.put("a/b", b"")
    finally:
        os.umask(before)
    modes = {path: (tmp_path / path).stat().st_mode & 0o777 for path in ("above", "above/made", "shared/a/b")}
    assert modes == {"above": 0o755, "above/made": 0o700, "shared/a/b": 0o644}


def test_a_directory_without_rights_says_who_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, **_: object) -> None:
        raise PermissionError(13, os.strerror(13), str(path))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(StateError, match=r"mode 0700\)\. If workers or other commands run as another user"):
        Storage.of(tmp_path / "state")
