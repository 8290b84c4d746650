"""A gateway in this process that a module's tests share, for the `conftest.py` of those who ask one over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rest.gateway.gateway_here import GatewayHere


@pytest.fixture(scope="module")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GatewayHere, str]]:
    made = GatewayHere(tmp_path_factory.mktemp("gateway"))
    with made.listening() as url:
        yield made, url


@pytest.fixture(scope="module")
def url(listening: tuple[GatewayHere, str]) -> str:
    return listening[1]
