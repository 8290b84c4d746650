"""Which partition of its topic a record goes to, if not its key decides (Flink: FlinkKafkaPartitioner)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class KafkaPartitioner(ABC):
    """Chooses partitions; a writer opens its own copy in every epoch.

    Without one, records with a key go where Kafka's Java client sends them (murmur2 of the key), and others to all
    partitions in turn, some at a time.
    """

    def open(self, parallel_instance_id: int, parallel_instances: int) -> None:
        """Take the number of the subtask, and how many there are."""

    @abstractmethod
    def partition(
        self, record: Any, key: bytes | None, value: bytes | None, topic: str, partitions: Sequence[int]
    ) -> int:
        """Return one of the partitions."""


class FixedPartitioner(KafkaPartitioner):
    """Each subtask writes to one partition (Flink: FlinkFixedPartitioner).

    >>> partitioner = FixedPartitioner()
    >>> partitioner.open(5, 8)
    >>> partitioner.partition(None, None, b"v", "t", [0, 1, 2])
    2
    """

    def __init__(self) -> None:
        self._subtask = 0

    def open(self, parallel_instance_id: int, parallel_instances: int) -> None:
        self._subtask = parallel_instance_id

    def partition(
        self, record: Any, key: bytes | None, value: bytes | None, topic: str, partitions: Sequence[int]
    ) -> int:
        return partitions[self._subtask % len(partitions)]
