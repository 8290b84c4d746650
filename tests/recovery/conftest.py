"""What recovery tests share: a machine of a test's own, and the recovery program's directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firesteel.state.disk.copy import close_working_stores
from tests.recovery import pipeline


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Have what follows run on a machine of this name: its working copies are its own."""

    def move(name: str) -> None:
        monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machines" / name))

    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # processes die in these tests, not machines
    move("first")
    yield move
    close_working_stores(tmp_path)


@pytest.fixture
def directory(tmp_path: Path, machine: Callable[[str], None]) -> Iterator[Path]:
    """Where the recovery program's input is and its output will be."""
    with pipeline.made(tmp_path):
        yield tmp_path
