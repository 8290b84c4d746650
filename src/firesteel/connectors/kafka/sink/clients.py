"""Clients of a sink: how they are set, and which of their errors pass."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from firesteel.connectors.kafka.settings import client_settings
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings

_PASSING: Final = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._FENCED,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError.CONCURRENT_TRANSACTIONS,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.INVALID_PRODUCER_ID_MAPPING,
        KafkaError.INVALID_TXN_STATE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
        KafkaError.PRODUCER_FENCED,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.UNKNOWN_PRODUCER_ID,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
    }
)
"""Errors that a new try with a new producer may not meet."""

_FENCED: Final = frozenset(
    {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
)

_LARGEST_REQUEST: Final = 1_000_000_000
_USUAL_BATCH: Final = 1_000_000
_LINGER_MS: Final = 5
_GRACE_S: Final = 2

T = TypeVar("T")


def producer_settings(settings: KafkaSinkSettings, batch_bytes: int) -> dict[str, Any]:
    """Return the settings of a producer for the C library; a batch has at most `batch_bytes`, or one record.

    Records are checked before they are written, so the producer itself takes all sizes. Keys choose partitions as those
    of Kafka's Java client do.
    """
    given = client_settings(settings.properties, settings.who)
    return {
        "partitioner": "murmur2_random",
        "linger.ms": _LINGER_MS,
        "queue.buffering.max.messages": 500_000,
        "queue.buffering.max.kbytes": 256 << 10,
        **given,
        "message.max.bytes": _LARGEST_REQUEST,
        "batch.size": min(batch_bytes, int(given.get("batch.size", _USUAL_BATCH))),
        "delivery.report.only.error": True,
    }


def answer(asked: Future[T], within_s: float) -> T:
    """Return what a broker answers. Raises KafkaException if it refuses, or does not answer."""
    try:
        return asked.result(within_s + _GRACE_S)
    except TimeoutError:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None


def is_passing(error: KafkaError) -> bool:
    """Return whether a new try may succeed."""
    return bool(error.retriable()) or error.code() in _PASSING


def is_fenced(error: KafkaError) -> bool:
    """Return whether another producer has taken the transactional id, or the broker has ended the transaction."""
    return error.code() in _FENCED
