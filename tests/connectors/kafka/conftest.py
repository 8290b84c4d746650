"""A real broker that all tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.kafka import KafkaBroker, kafka_broker


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "kafka" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("kafka"))


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    """A running Kafka broker; each test makes topics of its own."""
    if not request.config.getoption("--long"):
        pytest.skip("needs a Kafka broker (44 MB are fetched once): --long runs it, as ./run check does")
    with kafka_broker() as broker:
        yield broker
