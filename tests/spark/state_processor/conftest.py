"""What tests of the state processor share: a session, and the state of a job that has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.spark.session import open_session
from tests.state import kinds


@pytest.fixture(scope="module")
def spark():
    return open_session("local[2]", 2, {})


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state directory of a job that has ended, with all of its epochs."""
    return Path(kinds.run(tmp_path_factory.mktemp("kinds") / "state", compact_every=2))
