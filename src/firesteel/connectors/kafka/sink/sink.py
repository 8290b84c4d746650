"""The Kafka sink of streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.sink.rows import RowWriter
from firesteel.connectors.kafka.sink.serialization import KafkaRecordSerializationSchema
from firesteel.connectors.kafka.sink.settings import DEFAULT_PREFIX, KafkaSinkSettings, sink_settings
from firesteel.functions.sink import Committer, DeliveryGuarantee, Sink, SinkWriter, WriterContext

if TYPE_CHECKING:
    from firesteel.connectors.kafka.sink.writers import RecordWriter


class KafkaSink(Sink[Any]):
    """Writes records to topics of Kafka; see `firesteel.connectors.kafka.sink` for what its guarantees mean.

    Programs make it with `KafkaSink.builder()`. Raises ConnectorError, which names the topic, while the job runs.
    """

    def __init__(self, settings: KafkaSinkSettings, schema: KafkaRecordSerializationSchema) -> None:
        self._settings = settings
        self._schema = schema
        self.guarantee = settings.guarantee

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a new builder."""
        return KafkaSinkBuilder()

    def get_transformer(self) -> None:
        """Return None: the stream needs no changes before the sink."""

    def __repr__(self) -> str:
        return f"KafkaSink({self._schema.target})"

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return RowWriter(self._schema, record_writer(self._settings, context), self._settings.who, context)

    def create_committer(self) -> Committer:
        return committer(self._settings)


def record_writer(settings: KafkaSinkSettings, context: WriterContext) -> RecordWriter:
    """Return the writer of a sink's guarantee (worker)."""
    from firesteel.connectors.kafka.sink.delivery import (
        open_writer,
    )  # the client is there for those who use Kafka

    return open_writer(settings, context)


def committer(settings: KafkaSinkSettings) -> Committer:
    """Return the committer of a sink's guarantee (driver)."""
    if settings.guarantee is not DeliveryGuarantee.EXACTLY_ONCE:
        return _NothingToCommit()
    from firesteel.connectors.kafka.sink.publishing import PublishingCommitter

    return PublishingCommitter(settings)


class KafkaSinkBuilder:
    """Collects a sink's settings; every method but `build` returns the builder.

    >>> from firesteel.common.serialization import SimpleStringSchema
    >>> words = KafkaRecordSerializationSchema.builder().set_topic("words")
    >>> words = words.set_value_serialization_schema(SimpleStringSchema()).build()
    >>> KafkaSink.builder().set_bootstrap_servers("kafka:9092").set_record_serializer(words).build()
    KafkaSink(topic 'words')
    """

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix = DEFAULT_PREFIX
        self._schema: KafkaRecordSerializationSchema | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """Take the addresses of some brokers: host:port, with commas between them."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Take the guarantee; the default is NONE, as in Flink."""
        if not isinstance(delivery_guarantee, DeliveryGuarantee):
            raise ConfigurationError(
                "requires a DeliveryGuarantee", who="KafkaSink", got=repr(delivery_guarantee)
            )
        self._guarantee = delivery_guarantee
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Take what the sink's transactional id begins with. The rest of it is unique to the job and the sink."""
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema) -> KafkaSinkBuilder:
        """Take what makes records for topics."""
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise ConfigurationError(
                "requires a KafkaRecordSerializationSchema", who="KafkaSink", got=repr(record_serializer)
            )
        self._schema = record_serializer
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder:
        """Set a property of Kafka's producer, by its name in Java."""
        self._properties[key] = str(value)
        return self

    def build(self) -> KafkaSink:
        """Return the sink. Raises ConfigurationError for what is missing or wrong."""
        if self._schema is None:
            raise ConfigurationError("requires a record serializer", who="KafkaSink")
        settings = sink_settings(
            self._properties, f"KafkaSink, {self._schema.target},", self._guarantee, self._prefix
        )
        return KafkaSink(settings, self._schema)


class _NothingToCommit(Committer):
    """Records have been visible since they were written."""

    def commit(self, committables: Any) -> None:
        """Do nothing."""
