"""Writers of records for topics: what they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firesteel.connectors.kafka.sink.records import TopicRecords
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings

if TYPE_CHECKING:
    from firesteel.connectors.kafka.sink.topics import Topic, Topics


class RecordWriter(ABC):
    """Writes the records of one subtask in one epoch. The contract is that of `firesteel.functions.sink.SinkWriter`."""

    def __init__(self, settings: KafkaSinkSettings, topics: Topics) -> None:
        self._settings = settings
        self._topics = topics

    def topic(self, name: str) -> Topic:
        """Return a topic. Raises ConnectorError if it is not there."""
        return self._topics.find(name)

    def put(self, records: TopicRecords) -> None:
        """Write records in order. Raises ConnectorError if their topic is not there, or one of them is too large."""
        if len(records):
            topic = self._topics.find(records.topic)
            records.check_sizes(topic.largest, self._settings.who)
            self._put(records, topic)

    @abstractmethod
    def _put(self, records: TopicRecords, topic: Topic) -> None:
        """Write records that fit."""

    @abstractmethod
    def prepare_commit(self) -> Sequence[Any]:
        """Make what was written durable."""

    @abstractmethod
    def abort(self) -> None:
        """Abandon the epoch; must not raise."""
