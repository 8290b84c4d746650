"""Where working copies lie, and when they go."""

from __future__ import annotations

import os
import time

import pytest

from firesteel.checkpoint.attach import ABANDONED_S, CheckpointedState
from firesteel.state.disk.copy import close_working_stores
from firesteel.state.live.durable import StateAddress


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local"))
    yield tmp_path / "local" / f"firesteel-work-{os.getuid()}"
    close_working_stores(tmp_path)


def touch_state(directory, lineage):
    """Have a working copy made."""
    state = CheckpointedState(str(directory / "state"))
    address = StateAddress(lineage, "op", 0, 0, 127)
    run = state.persist(address, 1, "try", [(b"key", b"value")])
    reader = state.attach(address, 1, run)
    assert reader.get(b"key") == b"value"
    state.release()


@pytest.mark.parametrize("inner", ["", "blockmgr-1f", "spark-2a/executor-3b/blockmgr-4c"])
def test_copies_are_beside_what_spark_removes_with_an_application(tmp_path, root, monkeypatch, inner):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local" / inner))
    touch_state(tmp_path, "history")
    assert [path.name for path in (root / "history").iterdir()] == ["op-00000-00127"]


def test_copies_that_nobody_goes_on_with_are_removed(tmp_path, root):
    touch_state(tmp_path, "old")
    touch_state(tmp_path, "young")
    close_working_stores(tmp_path)
    before = time.time() - ABANDONED_S - 60
    for path in (*(root / "old").rglob("*"), root / "old"):
        os.utime(path, (before, before))
    (root / "just begun").mkdir()
    CheckpointedState(str(tmp_path / "state"))
    assert sorted(path.name for path in root.iterdir()) == ["just begun", "young"]
