"""What errors of Kafka say."""

from __future__ import annotations

from confluent_kafka import KafkaError


def reason_of(error: KafkaError) -> str:
    """Return what an error says, with its name.

    >>> reason_of(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    'TOPIC_AUTHORIZATION_FAILED: Broker: Topic authorization failed'
    """
    return f"{error.name()}: {error.str()}"
