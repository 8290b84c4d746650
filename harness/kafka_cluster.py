"""A private cluster of Kafka brokers for tests, which have copies of each partition: its leaders can move."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from confluent_kafka.admin import PartitionMetadata

from harness.kafka import KafkaBroker, seats
from harness.kafka_client import ANSWERS_WITHIN_S, KafkaClient, until_true

COORDINATION: Final = ("__transaction_state", "__consumer_offsets")
"""The topics whose leaders coordinate transactions, and groups; each has one partition."""

_BROKERS: Final = 3
_HEAP_MB: Final = 256
_SETTINGS: Final = {
    "offsets.topic.replication.factor": str(_BROKERS),
    "transaction.state.log.replication.factor": str(_BROKERS),
    "transaction.state.log.min.isr": str(_BROKERS - 1),
    "min.insync.replicas": str(_BROKERS - 1),
    # Leaders stay where a test has moved them to.
    "auto.leader.rebalance.enable": "false",
    # A broker that was killed is missed soon by the controllers that are left, if it was the active one.
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.timeout.ms": "500",
}


class KafkaCluster(KafkaClient):
    """Three brokers, each of which may be stopped or killed, one at a time."""

    def __init__(self) -> None:
        with ThreadPoolExecutor() as threads:
            self.brokers = [
                *threads.map(lambda seat: KafkaBroker(_SETTINGS, seat, _HEAP_MB), seats(_BROKERS))
            ]
        super().__init__(",".join(broker.bootstrap for broker in self.brokers), _BROKERS)

    def start(self) -> None:
        """Start all brokers; each needs others to be ready."""
        with ThreadPoolExecutor() as threads:
            list(threads.map(KafkaBroker.start, self.brokers))
        until_true(lambda: len(self._metadata().brokers) == _BROKERS, "not all brokers are in the cluster")

    def close(self) -> None:
        """Kill all brokers and remove their data."""
        for broker in self.brokers:
            broker.close()

    def leader(self, topic: str, partition: int = 0) -> KafkaBroker:
        """Return the broker that leads a partition."""
        return self.brokers[self._metadata().topics[topic].partitions[partition].leader - 1]

    def wait_until_whole(self) -> None:
        """Wait until every broker has a copy of everything: then any one of them may go."""

        def is_whole() -> bool:
            topics = self._metadata().topics.values()
            return all(_is_whole(part) for topic in topics for part in topic.partitions.values())

        until_true(is_whole, "copies of partitions are missing")

    def _metadata(self) -> Any:
        return self.admin.list_topics(timeout=ANSWERS_WITHIN_S)


def _is_whole(partition: PartitionMetadata) -> bool:
    return partition.leader > 0 and len(partition.isrs) == _BROKERS


@contextmanager
def kafka_cluster() -> Iterator[KafkaCluster]:
    """Yield a running cluster; it ends, and its data go, at the end, and if this process dies."""
    cluster = KafkaCluster()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()
