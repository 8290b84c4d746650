"""What tests may ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rest.gateway.asking import Gateway, Session
from tests.rest.gateway.shared import listening, url

__all__ = ["gateway", "listening", "session", "url"]


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    made = Gateway(tmp_path)
    yield made
    made.sessions.close_all()


@pytest.fixture
def session(gateway: Gateway) -> Session:
    return gateway.open()
