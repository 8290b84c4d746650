"""Records of a stream to records for topics (PyFlink: KafkaRecordSerializationSchema)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from firesteel.common.errors import ConfigurationError
from firesteel.common.serialization import SerializationSchema
from firesteel.connectors.kafka.sink.partitioners import KafkaPartitioner

TopicFunction = Callable[[Any], str]
Headers = Callable[[Any], Iterable[tuple[str, bytes | None]]]

_WHO = "KafkaRecordSerializationSchema"


class KafkaTopicSelector(ABC):
    """Chooses the topic of each record; subclass it, or pass a function instead."""

    @abstractmethod
    def apply(self, data: Any) -> str:
        """Return the topic of a record."""


@dataclass(frozen=True)
class KafkaRecordSerializationSchema:
    """What a record's topic, value, key, headers and partition are; picklable. Make it with `builder()`.

    A value or a key that is serialized to None is none: a value that is none is a tombstone. The timestamp is the
    record's own, if it has one, else the time of publishing.

    >>> from firesteel.common.serialization import SimpleStringSchema
    >>> builder = KafkaRecordSerializationSchema.builder().set_topic("words")
    >>> builder.set_value_serialization_schema(SimpleStringSchema()).build().target
    "topic 'words'"
    """

    topic: str | TopicFunction
    value: SerializationSchema
    key: SerializationSchema | None = None
    headers: Headers | None = None
    partitioner: KafkaPartitioner | None = None

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a new builder."""
        return KafkaRecordSerializationSchemaBuilder()

    @property
    def target(self) -> str:
        """The topic, for errors."""
        return f"topic {self.topic!r}" if isinstance(self.topic, str) else "topics by record"


class KafkaRecordSerializationSchemaBuilder:
    """Collects what makes records; every method but `build` returns the builder."""

    def __init__(self) -> None:
        self._topic: str | TopicFunction | None = None
        self._value: SerializationSchema | None = None
        self._key: SerializationSchema | None = None
        self._headers: Headers | None = None
        self._partitioner: KafkaPartitioner | None = None

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        """Write all records to one topic."""
        if not isinstance(topic, str) or not topic:
            raise ConfigurationError("requires a topic's name", who=_WHO, got=repr(topic))
        return self._with_topic(topic)

    def set_topic_selector(
        self, topic_selector: TopicFunction | KafkaTopicSelector
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Write each record to the topic that a function or a selector returns for it."""
        select = topic_selector.apply if isinstance(topic_selector, KafkaTopicSelector) else topic_selector
        if not callable(select):
            raise ConfigurationError(
                "requires a function or a KafkaTopicSelector as topic selector",
                who=_WHO,
                got=repr(topic_selector),
            )
        return self._with_topic(select)

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Take the schema of values."""
        self._value = _schema(value_serialization_schema)
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Take the schema of keys; without one records have none."""
        self._key = _schema(key_serialization_schema)
        return self

    def set_header_provider(self, header_provider: Headers) -> KafkaRecordSerializationSchemaBuilder:
        """Take the function that returns a record's headers: pairs of a name and bytes or None."""
        self._headers = header_provider
        return self

    def set_partitioner(self, partitioner: KafkaPartitioner) -> KafkaRecordSerializationSchemaBuilder:
        """Take what chooses partitions; without it keys do."""
        if not isinstance(partitioner, KafkaPartitioner):
            raise ConfigurationError("requires a KafkaPartitioner", who=_WHO, got=repr(partitioner))
        self._partitioner = partitioner
        return self

    def build(self) -> KafkaRecordSerializationSchema:
        """Return the schema. Raises ConfigurationError without a topic or the schema of values."""
        if self._topic is None or self._value is None:
            raise ConfigurationError(
                "requires a topic, or a topic selector, and a value serialization schema", who=_WHO
            )
        return KafkaRecordSerializationSchema(
            self._topic, self._value, self._key, self._headers, self._partitioner
        )

    def _with_topic(self, topic: str | TopicFunction) -> KafkaRecordSerializationSchemaBuilder:
        if self._topic is not None:
            raise ConfigurationError("requires one topic, or one topic selector", who=_WHO, got="another one")
        self._topic = topic
        return self


def _schema(given: SerializationSchema) -> SerializationSchema:
    if not callable(getattr(given, "serialize", None)):
        raise ConfigurationError("requires a SerializationSchema", who=_WHO, got=repr(given))
    return given
