"""A real broker, and a cluster of three, that all tests of a process share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.state.disk.copy import close_working_stores
from harness.kafka import KafkaBroker, kafka_broker
from harness.kafka_cluster import KafkaCluster, kafka_cluster
from harness.tcp_proxy import TcpProxy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if {"kafka", "mortal_kafka"} & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.xdist_group("kafka"))


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    """A running Kafka broker; each test makes topics of its own."""
    if not request.config.getoption("--long"):
        pytest.skip("needs a Kafka broker (44 MB are fetched once): --long runs it, as ./run check does")
    with kafka_broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def _mortal_kafka() -> Iterator[KafkaBroker]:
    with kafka_broker({"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}) as broker:
        yield broker


@pytest.fixture
def mortal_kafka(_mortal_kafka: KafkaBroker) -> Iterator[KafkaBroker]:
    """A running broker that a test may kill."""
    yield _mortal_kafka
    if not _mortal_kafka.is_running:
        _mortal_kafka.start()


@pytest.fixture
def proxy(kafka: KafkaBroker) -> Iterator[TcpProxy]:
    """A proxy through which the broker can be reached."""
    with kafka.proxy() as proxy:
        yield proxy


@pytest.fixture(scope="session")
def brokers() -> Iterator[KafkaCluster]:
    """Three brokers, each of which a test may stop."""
    with kafka_cluster() as cluster:
        yield cluster


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the working copies of jobs that crash in the test's own directory, and close them at the end."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    yield
    close_working_stores(tmp_path)
