"""Topics of Kafka (PyFlink: pyflink.datastream.connectors.kafka)."""

from firesteel.connectors.kafka.sink.partitioners import FixedPartitioner, KafkaPartitioner
from firesteel.connectors.kafka.sink.serialization import (
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaTopicSelector,
)
from firesteel.connectors.kafka.sink.sink import KafkaSink, KafkaSinkBuilder
from firesteel.datastream.connectors.kafka_sources import (
    BadRecord,
    ConsumerRecord,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)
from firesteel.datastream.unsupported import missing_names

__all__ = [
    "BadRecord",
    "ConsumerRecord",
    "FixedPartitioner",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaPartitioner",
    "KafkaRecordDeserializationSchema",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
    "KafkaTopicSelector",
]

__getattr__ = missing_names(__name__)
