"""What the tests of tables share."""

from __future__ import annotations

import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment


@pytest.fixture
def batch() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())
