"""Where the working copies of a task lie."""

from __future__ import annotations

import os

import pytest

from firesteel.checkpoint.attach import CheckpointedState
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
    address = StateAddress(lineage, "op", 0, 0, 127, 128)
    run = state.persist(address, 1, "try", [(b"key", b"value")])
    reader = state.attach(address, 1, run)
    assert reader.get(b"key") == b"value"
    state.release()


@pytest.mark.parametrize("inner", ["", "blockmgr-1f", "spark-2a/executor-3b/blockmgr-4c"])
def test_copies_are_beside_what_spark_removes_with_an_application(tmp_path, root, monkeypatch, inner):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "local" / inner))
    touch_state(tmp_path, "history")
    assert [path.name for path in (root / "history").iterdir()] == ["op-00000-00127"]
