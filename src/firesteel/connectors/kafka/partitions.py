"""Topics and their partitions."""

from __future__ import annotations

from typing import NamedTuple


class KafkaTopicPartition(NamedTuple):
    """A partition of a topic (PyFlink: KafkaTopicPartition).

    >>> print(KafkaTopicPartition("orders", 3))
    partition 3 of topic 'orders'
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"partition {self.partition} of topic {self.topic!r}"


class Topic(NamedTuple):
    """A topic: the id that it got when it was made ("" with brokers that give none), and how many partitions it has."""

    id: str
    partitions: int
