"""A producer that owns a sink's transactional id: it publishes epochs, each with its mark in one transaction.

The mark of an epoch is an offset of a consumer group with the name of the transactional id. It stands at partition 0
of the epoch's topics: the offset is the epoch's number, its metadata the attempt. So it is there if and only if the
records are. Nobody else commits offsets of this group.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from firesteel.connectors.kafka.settings import client_settings, new_client
from firesteel.connectors.kafka.sink.clients import producer_settings
from firesteel.connectors.kafka.sink.producing import produce
from firesteel.connectors.kafka.sink.records import TopicRecords
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings

_SILENT: Final = logging.Logger("kafka", logging.CRITICAL + 1)
"""The library prints fatal errors; they are in the errors that it raises."""

_ABORT_S: Final = 5
_MARK_S: Final = 15
_ANSWERS_S: Final = 10
_KNOWN_WITHIN_MS: Final = 10_000
"""How long a topic that the broker does not know is waited for."""

_STANDS_STILL_S: Final = 5.0
"""How long a session that has published before waits while the broker takes none of its records."""

_PAUSE_S: Final = 0.02
_MOST_MARKS: Final = 5
"""At how many of its topics an epoch has its mark: the deletion of others must not remove it."""


class Mark(NamedTuple):
    """The last epoch that a sink has published, and the attempt that it was made in."""

    epoch: int
    attempt: str


class Session:
    """Opened when the broker has given this producer the id: older producers of it can do nothing any more, and what
    they began is committed or aborted.

    Raises KafkaException if the broker does not answer for the sink's patience, or refuses. After any exception the
    outcome of the epoch is unknown, and the session must be closed.
    """

    def __init__(self, settings: KafkaSinkSettings, name: str, largest: int) -> None:
        self.largest = largest
        self._settings = settings
        self._failed: list[KafkaException] = []
        self._disturbed = self._hangs = self._has_published = False
        self._group = _group(settings, name)
        client = {
            **producer_settings(settings, largest),
            # A transaction that follows another at once is refused at first; 100 ms would be most of its time.
            "retry.backoff.ms": 10,
            "transactional.id": name,
            "transaction.timeout.ms": settings.transaction_timeout_ms,
            "topic.metadata.propagation.max.ms": min(_KNOWN_WITHIN_MS, settings.patience_ms),
            "error_cb": self._hear,
            "logger": _SILENT,
        }
        self._producer = new_client(Producer, client, settings.who)
        self._persist(self._producer.init_transactions)
        self._producer.poll(0)
        self._disturbed = False

    def publish(
        self, epoch: int, attempt: str, topics: Iterable[str], records: Iterable[TopicRecords]
    ) -> None:
        """Make records visible, all in one transaction that has the mark of the epoch."""
        self._require_calm()
        self._producer.begin_transaction()
        for part in records:
            produce(self._producer, part, self._settings, self._note)
        marks = [TopicPartition(topic, 0, epoch, metadata=attempt) for topic in _marked(topics)]
        self._require_calm()
        self._persist(lambda left: self._mark(marks, left))
        try:
            self._persist(self._commit)
        except KafkaException as error:
            raise (self._failed or [error])[0] from error
        self._has_published = True

    def close(self) -> None:
        """Abort what is open, so that readers do not wait for it, and end the producer."""
        if self._hangs:
            return
        try:
            self._producer.abort_transaction(_ABORT_S)
        except KafkaException:
            return  # there was nothing to abort, or the broker will: when the id is taken again, or its time is over

    def _commit(self, left: float) -> None:
        """Commit the transaction, unless none of its records is taken for some seconds: then another session may do it.

        If a topic was made again with fewer partitions, the producer (librdkafka 2.16) asks for ever for one that it
        knew, and does not look whether the topic still has it.
        """
        waiting = len(self._producer)
        try:
            self._producer.commit_transaction(min(left, _STANDS_STILL_S))
        except KafkaException as error:
            timed_out = error.args[0].code() == KafkaError._TIMED_OUT
            if timed_out and self._has_published and 0 < waiting <= len(self._producer):
                raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)) from error
            raise

    def _mark(self, marks: list[TopicPartition], left: float) -> None:
        """Add the marks to the transaction, in a thread of their own: this call of the library may hang for ever.

        It does if a broker went away and has come back (librdkafka 2.16 keeps the coordinator of the group that it
        knew). Then the thread and its producer are left alone.
        """
        outcome: list[KafkaException | None] = []

        def send() -> None:
            try:
                self._producer.send_offsets_to_transaction(marks, self._group, left)
                outcome.append(None)
            except KafkaException as error:
                outcome.append(error)

        thread = threading.Thread(target=send, name="firesteel-kafka-mark", daemon=True)
        thread.start()
        thread.join(min(left, _MARK_S))
        self._hangs = not outcome
        if self._hangs:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        if outcome[0] is not None:
            raise outcome[0]

    def _require_calm(self) -> None:
        """Raise KafkaException if a broker has gone away since the session was opened: see `_mark`."""
        self._producer.poll(0)
        if self._disturbed:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))

    def _hear(self, error: KafkaError) -> None:
        self._disturbed = True

    def _note(self, error: KafkaError, message: Message) -> None:
        self._failed.append(KafkaException(error))

    def _persist(self, call: Callable[[float], Any]) -> None:
        """Make a call, and again while its error says that this may help."""
        until = time.monotonic() + self._settings.patience_ms / 1000
        while True:
            try:
                call(max(0.0, until - time.monotonic()))
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() >= until:
                    raise
                self._producer.poll(_PAUSE_S)
            else:
                return


def read_mark(settings: KafkaSinkSettings, name: str, topics: Iterable[str]) -> Mark | None:
    """Return the last mark at some topics, None if there is none. Raises KafkaException if it cannot be known now.

    Its error is UNSTABLE_OFFSET_COMMIT if a transaction that has a mark does not end: nobody waits for that without an
    end, as librdkafka does.
    """
    places = [TopicPartition(topic, 0) for topic in _marked(topics)]
    try:
        found = _committed(settings, name, places, "read_committed")
    except KafkaException as error:
        if error.args[0].code() != KafkaError._TIMED_OUT:
            raise
        _committed(settings, name, places, "read_uncommitted")
        raise KafkaException(KafkaError(KafkaError.UNSTABLE_OFFSET_COMMIT)) from error
    return max(
        (Mark(place.offset, place.metadata or "") for place in found if place.offset >= 0), default=None
    )


def _committed(
    settings: KafkaSinkSettings, name: str, places: list[TopicPartition], isolation: str
) -> list[TopicPartition]:
    """Return the offsets of the group of this name.

    A consumer is asked: librdkafka 2.16 crashes when an admin client asks a broker that is no coordinator any more.
    """
    consumer = _member(settings, name, isolation)
    try:
        found: list[TopicPartition] = consumer.committed(places, _ANSWERS_S)
    finally:
        consumer.close()
    for place in found:
        if place.error is not None:
            raise KafkaException(place.error)
    return found


def _marked(topics: Iterable[str]) -> list[str]:
    return sorted({*topics})[:_MOST_MARKS]


def _group(settings: KafkaSinkSettings, name: str) -> Any:
    """Return what a transaction has to know of a group without members."""
    consumer = _member(settings, name)
    try:
        return consumer.consumer_group_metadata()
    finally:
        consumer.close()


def _member(settings: KafkaSinkSettings, name: str, isolation: str = "read_committed") -> Consumer:
    own = {"group.id": name, "isolation.level": isolation}
    client = {**client_settings(settings.properties, settings.who), **own}
    return new_client(Consumer, client, settings.who)
