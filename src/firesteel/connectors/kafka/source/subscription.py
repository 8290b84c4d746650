"""Which partitions are read."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from firesteel.connectors.kafka.partitions import KafkaTopicPartition, Topic


@dataclass(frozen=True)
class Subscription:
    """The topics of some names, those that a pattern matches, or single partitions."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[KafkaTopicPartition] = frozenset()

    @property
    def wanted(self) -> Collection[str] | re.Pattern[str]:
        """The topics to ask the cluster for."""
        return self._names if self.pattern is None else re.compile(self.pattern)

    @property
    def _names(self) -> list[str]:
        return [*self.topics] or sorted({one.topic for one in self.partitions})

    def required(self, found: dict[str, Topic]) -> list[str]:
        """Return what must be there and is not."""
        missing = [f"topic {name!r}" for name in self._names if name not in found]
        return [
            *missing,
            *(
                str(one)
                for one in sorted(self.partitions)
                if one.topic in found and one.partition >= found[one.topic].partitions
            ),
        ]

    def of(self, found: dict[str, Topic]) -> list[KafkaTopicPartition]:
        """Return the partitions that are read."""
        if self.partitions:
            return sorted(self.partitions)
        return [
            KafkaTopicPartition(name, number)
            for name, topic in sorted(found.items())
            for number in range(topic.partitions)
        ]
