"""What every test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

PROJECT = Path(__file__).parents[1]

# Two workers and a JVM share the cores: how long one example takes says nothing.
settings.register_profile("firesteel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("firesteel")


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root directory."""
    return PROJECT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of real event data beside the project; tests that need it skip where it is absent."""
    directory = PROJECT.parent / "shared" / "data"
    if not directory.is_dir():
        pytest.skip("no real event data beside the project (../shared/data)")
    return directory
