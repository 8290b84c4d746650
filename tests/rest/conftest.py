from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rest.in_process import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("cluster"))
    with made.record.driving():
        yield made
    made.cluster.readers.close()
