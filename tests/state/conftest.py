"""What tests of state share: a working copy of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.state.disk.copy import WorkingStore, close_working_stores, open_working_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[WorkingStore]:
    yield open_working_store(tmp_path / "copy", "job", 0, 127)
    close_working_stores(tmp_path)
