"""The directory of working copies: nobody else's, and swept of what nobody goes on with."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.common.errors import StateError
from firesteel.state.disk.copy import close_working_stores
from firesteel.state.disk.root import (
    ABANDONED_S,
    SWEEP_EVERY_S,
    discard_abandoned_copies,
    discard_working_copies,
    work_root,
)
from firesteel.state.live.durable import StateAddress


@pytest.fixture
def root(tmp_path, monkeypatch):
    (tmp_path / "local").mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    yield tmp_path / "local" / f"firesteel-work-{os.geteuid()}"
    close_working_stores(tmp_path)


def read_state(directory: Path, lineage: str) -> bytes | None:
    """Read state as a task does; a working copy is made on the way."""
    state = CheckpointedState(str(directory / "state"))
    address = StateAddress(lineage, "op", 0, 0, 127, 128)
    run = state.persist(address, 1, "try", [(b"key", b"value")])
    try:
        return state.attach(address, 1, run).get(b"key")
    finally:
        state.release()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def test_nobody_else_can_enter_whatever_the_umask(tmp_path, root, open_umask):
    assert read_state(tmp_path, "history") == b"value"
    assert mode(root) == 0o700
    assert {mode(path) & 0o077 for path in root.rglob("*.mdb")} == {0}


def test_a_directory_that_somebody_else_made_is_refused(tmp_path, root):
    root.mkdir(mode=0o700)
    os.chown(root, 12345, -1)
    with pytest.raises(
        StateError, match=r"must be a directory that belongs to you .*; got a directory of user 12345"
    ):
        read_state(tmp_path, "history")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("rights", [0o770, 0o702, 0o1777])
def test_a_directory_that_lets_others_write_is_refused(tmp_path, root, rights):
    root.mkdir()
    root.chmod(rights)
    with pytest.raises(StateError, match=rf"got mode {rights:04o}"):
        read_state(tmp_path, "history")
    assert list(root.iterdir()) == []


def test_a_directory_that_others_could_only_read_is_closed_to_them(tmp_path, root):
    root.mkdir(mode=0o755)
    assert read_state(tmp_path, "history") == b"value"
    assert mode(root) == 0o700


def test_a_link_is_refused_wherever_it_leads(tmp_path, root):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    root.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="got a symbolic link"):
        read_state(tmp_path, "history")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_its_place_is_refused(root):
    root.touch()
    with pytest.raises(StateError, match="got a file"):
        work_root()


@pytest.mark.parametrize("removal", [lambda: discard_working_copies("history"), discard_abandoned_copies])
def test_nothing_is_removed_from_a_directory_of_somebody_else(root, removal):
    (root / "history").mkdir(parents=True)
    os.utime(root / "history", (0, 0))
    os.chown(root, 12345, -1)
    removal()
    assert (root / "history").is_dir()


def age(path: Path, seconds: float) -> None:
    before = time.time() - seconds
    for found in (*path.rglob("*"), path):
        os.utime(found, (before, before))


def test_copies_that_nobody_goes_on_with_are_removed(tmp_path, root):
    for history in ("old", "young", "old, in use"):
        assert read_state(tmp_path, history) == b"value"
    close_working_stores(tmp_path)
    age(root / "old", ABANDONED_S + 60)
    age(root / "old, in use", ABANDONED_S + 60)
    os.utime(next((root / "old, in use").rglob("data.mdb")))
    age(root / ".swept", SWEEP_EVERY_S + 60)
    CheckpointedState(str(tmp_path / "state"))
    assert sorted(path.name for path in root.iterdir()) == [".swept", "old, in use", "young"]


def test_they_are_not_looked_for_again_and_again(root):
    discard_abandoned_copies()  # nothing is there, not even the directory
    work_root()
    discard_abandoned_copies()
    (root / "old").mkdir()
    age(root / "old", ABANDONED_S + 60)
    discard_abandoned_copies()
    assert (root / "old").is_dir()
    age(root / ".swept", SWEEP_EVERY_S + 60)
    discard_abandoned_copies()
    assert not (root / "old").exists()


def test_a_directory_that_cannot_be_entered_from_above_is_not_left(tmp_path, monkeypatch):
    """As in a container, whose volumes lie in a directory of somebody else."""
    volume = tmp_path / "spark-volume"
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(volume))
    monkeypatch.setattr(os, "access", lambda path, rights: Path(path) != tmp_path)
    assert work_root().parent == volume
