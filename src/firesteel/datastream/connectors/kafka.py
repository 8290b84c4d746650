"""Topics of Kafka (PyFlink: pyflink.datastream.connectors.kafka)."""

from firesteel.datastream.connectors.kafka_sources import (
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
    "ConsumerRecord",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordDeserializationSchema",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
]

__getattr__ = missing_names(__name__)
