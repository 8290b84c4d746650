"""Where copies of state are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.state.disk.copy import close_working_stores


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have tests keep their copies in their own directories."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    yield
    close_working_stores(tmp_path)
