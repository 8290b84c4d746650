"""Topics that are lists of messages, in place of a broker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import Message

from firesteel.connectors.kafka.partitions import KafkaTopicPartition
from firesteel.connectors.kafka.source.access import TopicSource
from firesteel.connectors.kafka.source.planning import AssignedPartition, split_id
from firesteel.functions.source import Split

Record = tuple[bytes | None, bytes | None]


def messages(records: Sequence[Record], partition: int = 0, first: int = 0) -> list[Message]:
    """Messages of a partition of the topic 't', whose times are their offsets."""
    return [
        Message("t", partition, offset, key=key, value=value, timestamp=(1, offset), headers=[("h", b"1")])
        for offset, (key, value) in enumerate(records, first)
    ]


class FakeTopic:
    """The topic 't' with partitions of keys and values; picklable."""

    def __init__(self, settings: Any, partitions: Sequence[Sequence[Record]]) -> None:
        self.settings = settings
        self._partitions = partitions

    @staticmethod
    def behind(source: TopicSource, *partitions: Sequence[Record]) -> Any:
        """Return a source, which now reads these partitions."""
        source._access = FakeTopic(source.settings, partitions)  # type: ignore[assignment]
        return source

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        for number, records in enumerate(self._partitions):
            partition = KafkaTopicPartition("t", number)
            if split_id(partition) not in known:
                yield Split(split_id(partition), 0, len(records), AssignedPartition(partition, ""))

    def available(self, split: Split, position: int, now: int) -> int:
        assert split.end is not None
        return split.end

    def committed(self, positions: Mapping[str, int]) -> None: ...

    def close(self) -> None: ...

    def messages(self, split: Split, start: int, end: int) -> Iterator[list[Message]]:
        number = split.payload.partition.partition
        for first in range(start, end, 50):
            last = min(first + 50, end)
            yield messages(self._partitions[number][first:last], number, first)
