"""Topics of Kafka as a source, with PyFlink's builder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.serialization import DeserializationSchema
from firesteel.connectors.kafka.partitions import KafkaTopicPartition
from firesteel.connectors.kafka.source.bad_records import BadRecord
from firesteel.connectors.kafka.source.deserializing import ConsumerRecord, KafkaRecordDeserializationSchema
from firesteel.connectors.kafka.source.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer
from firesteel.connectors.kafka.source.settings import source_settings
from firesteel.connectors.kafka.source.source import KafkaSource as _KafkaSource
from firesteel.connectors.kafka.source.subscription import Subscription
from firesteel.functions.output_tag import OutputTag
from firesteel.graph.checks import require

__all__ = [
    "BadRecord",
    "ConsumerRecord",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordDeserializationSchema",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
]

_WHO: Final = "KafkaSource"


class KafkaSource(_KafkaSource):
    """Reads topics of Kafka, exactly once.

    >>> from firesteel.common.serialization import SimpleStringSchema
    >>> source = (
    ...     KafkaSource.builder()
    ...     .set_bootstrap_servers("localhost:9092")
    ...     .set_topics("orders")
    ...     .set_value_only_deserializer(SimpleStringSchema())
    ...     .build()
    ... )
    >>> source.boundedness.name
    'CONTINUOUS_UNBOUNDED'
    """

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Start a source."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder:
    """Collects what a source needs; every method except `build` returns the builder.

    Required are the servers, one of topics, pattern and partitions, and a deserializer. Properties are those of Kafka's
    consumer and of Flink's source; see docs/kafka.md.
    """

    def __init__(self) -> None:
        self._properties: dict[str, object] = {}
        self._subscription: Subscription | None = None
        self._start = KafkaOffsetsInitializer.earliest()
        self._stop: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._schema: KafkaRecordDeserializationSchema | None = None
        self._bad_records: OutputTag | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """Set the servers that are asked first: `host:port`, separated by commas."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Set the consumer group: offsets are committed to it after each epoch, for those who watch it."""
        return self.set_property("group.id", group_id)

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        """Read all partitions of topics, which must exist when the job starts."""
        if not topics:
            raise ProgramError("requires at least one topic", who=_WHO, got="none")
        return self._subscribe(Subscription(topics=tuple(dict.fromkeys(topics))))

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """Read the topics whose names match a regular expression as a whole, later ones, too."""
        try:
            re.compile(topic_pattern)
        except re.error as error:
            raise ConfigurationError(
                "requires a regular expression as the pattern of topics",
                who=_WHO,
                got=f"{topic_pattern!r} ({error})",
            ) from error
        return self._subscribe(Subscription(pattern=topic_pattern))

    def set_partitions(self, partitions: Iterable[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """Read these partitions and no others."""
        found = frozenset(partitions)
        if not found:
            raise ProgramError("requires at least one partition", who=_WHO, got="none")
        return self._subscribe(Subscription(partitions=found))

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where partitions start that are there when the job starts; later ones start at their first record."""
        self._start = starting_offsets_initializer
        return self

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Stop reading each partition at an offset; the job goes on for new partitions, unless none are looked for."""
        self._stop, self._bounded = stopping_offsets_initializer, False
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Stop reading each partition at an offset; then the source is at its end."""
        self._stop, self._bounded = stopping_offsets_initializer, True
        return self

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> KafkaSourceBuilder:
        """Make values of the values of records alone."""
        return self.set_deserializer(KafkaRecordDeserializationSchema.value_only(deserialization_schema))

    def set_deserializer(self, record_deserializer: KafkaRecordDeserializationSchema) -> KafkaSourceBuilder:
        """Make values of records with their keys, headers and times (Flink: setDeserializer)."""
        self._schema = record_deserializer
        return self

    def side_output_bad_records(self, output_tag: OutputTag) -> KafkaSourceBuilder:
        """Send records for which the deserializer raises an error to a side output, and go on; not in PyFlink.

        Values there are `BadRecord`s. Without a reader of the side output they are dropped; the metric
        `numRecordsInErrors` counts them. A ConnectorError still ends the job: no record is to blame for it.

        >>> bad = OutputTag("bad records")
        >>> builder = KafkaSource.builder().set_topics("orders").side_output_bad_records(bad)
        """
        require(output_tag, (OutputTag,), _WHO, "pass an OutputTag")
        self._bad_records = output_tag
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set what the client calls itself."""
        return self.set_property("client.id.prefix", prefix)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """Set a property of the consumer or of the source."""
        self._properties[key] = value
        return self

    def set_properties(self, props: Mapping[str, str]) -> KafkaSourceBuilder:
        """Set properties of the consumer or of the source."""
        self._properties.update(props)
        return self

    def build(self) -> KafkaSource:
        """Return the source. Raises ConfigurationError for what is missing, unknown or wrong."""
        if self._subscription is None:
            raise ConfigurationError(
                "requires something to read", who=_WHO, got="none of topics, topic pattern and partitions"
            )
        if self._schema is None:
            raise ConfigurationError("requires a deserializer", who=_WHO, got="none")
        settings = source_settings(
            self._properties,
            self._subscription,
            self._start,
            self._stop,
            bounded=self._bounded,
            who=_WHO,
        )
        return KafkaSource(settings, self._schema, self._bad_records)

    def _subscribe(self, subscription: Subscription) -> KafkaSourceBuilder:
        if self._subscription is not None:
            raise ConfigurationError(
                "requires one of topics, topic pattern and partitions", who=_WHO, got="a second one"
            )
        self._subscription = subscription
        return self
