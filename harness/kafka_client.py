"""What tests do with the topics of a private cluster of Kafka."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaException,
    Message,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic, OffsetSpec

QUIET: Final = {"log_level": 0, "logger": None, "error_cb": lambda _: None}
"""Settings of a client that says nothing on stderr while the broker is away."""

ANSWERS_WITHIN_S: Final = 30

_PASSING: Final = (
    "LEADER_NOT_AVAILABLE",
    "NOT_LEADER_FOR_PARTITION",
    "UNKNOWN_LEADER_EPOCH",
    "UNKNOWN_TOPIC_OR_PART",
)

Answer = TypeVar("Answer")


class Partition(NamedTuple):
    """A partition's offsets: the first that is there, and the next one that will be written."""

    first: int
    next: int


class KafkaClient:
    """Topics, and records in them. `replicas` is how many brokers have a copy of a partition."""

    def __init__(self, bootstrap: str, replicas: int = 1) -> None:
        self.bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap, **QUIET})
        """A client for what has no method here."""
        self._replicas = replicas
        self._made = 0

    # --- topics ----------------------------------------------------------------------------------------------------

    def create_topic(
        self, name: str | None = None, partitions: int = 1, settings: Mapping[str, str] | None = None
    ) -> str:
        """Create a topic, of a new name if none is given, and return its name."""
        if name is None:
            self._made += 1
            name = f"topic-{self._made}"
        topic = NewTopic(
            name, num_partitions=partitions, replication_factor=self._replicas, config=dict(settings or {})
        )
        _done(self.admin.create_topics([topic]))
        until_true(lambda: self._is_led(name), f"{name} has no leader")
        return name

    def _is_led(self, topic: str) -> bool:
        try:
            return bool(self.offsets(topic))
        except KafkaException:
            return False

    def delete_topic(self, name: str) -> None:
        """Delete a topic and wait until the broker does not know it any more."""
        _done(self.admin.delete_topics([name]))
        until_true(
            lambda: name not in self.admin.list_topics(timeout=ANSWERS_WITHIN_S).topics, f"{name} stays"
        )

    def add_partitions(self, name: str, to: int) -> None:
        """Give a topic as many partitions."""
        _done(self.admin.create_partitions([NewPartitions(name, to)]))

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Delete a partition's records before an offset, as retention does."""
        _done(self.admin.delete_records([TopicPartition(topic, partition, before)]))

    def topic_id(self, name: str) -> str:
        """Return the id that the broker gave the topic when it was created."""
        found = self.admin.describe_topics(TopicCollection([name]))
        return str(found[name].result(ANSWERS_WITHIN_S).topic_id)

    def offsets(self, topic: str) -> dict[int, Partition]:
        """Return each partition's offsets; they count the control records of transactions."""
        return _persistent(lambda: self._offsets(topic))

    def has_open_transaction(self, topic: str) -> bool:
        """Return whether a topic has records of a transaction that has not ended."""
        return _persistent(lambda: self._has_open_transaction(topic))

    def _has_open_transaction(self, topic: str) -> bool:
        partitions = self._partitions(topic)
        levels = (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
        settled, written = (self._bounds(partitions, OffsetSpec.latest(), level) for level in levels)
        return settled != written

    def _offsets(self, topic: str) -> dict[int, Partition]:
        partitions = self._partitions(topic)
        first = self._bounds(partitions, OffsetSpec.earliest())
        last = self._bounds(partitions, OffsetSpec.latest())
        return {one.partition: Partition(first[one], last[one]) for one in partitions}

    def _partitions(self, topic: str) -> list[TopicPartition]:
        known = self.admin.list_topics(topic, timeout=ANSWERS_WITHIN_S).topics[topic].partitions
        return [TopicPartition(topic, number) for number in sorted(known)]

    def _bounds(
        self,
        partitions: Iterable[TopicPartition],
        spec: OffsetSpec,
        level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[TopicPartition, int]:
        answers = self.admin.list_offsets(dict.fromkeys(partitions, spec), isolation_level=level)
        return {one: answer.result(ANSWERS_WITHIN_S).offset for one, answer in answers.items()}

    # --- records ---------------------------------------------------------------------------------------------------

    def producer(self, settings: Mapping[str, Any] | None = None) -> Producer:
        """Return a client that produces."""
        return Producer({"bootstrap.servers": self.bootstrap, **QUIET, **(settings or {})})

    def produce(self, topic: str, records: Iterable[Any], settings: Mapping[str, Any] | None = None) -> None:
        """Produce records, and return when the broker has them.

        A record is a value (bytes, a string or None), or a dict of what `Producer.produce` takes: `value`, `key`,
        `partition`, `timestamp`, `headers`.
        """
        producer = self.producer(settings)
        failed: list[Any] = []
        for record in records:
            given = record if isinstance(record, dict) else {"value": record}
            while True:
                try:
                    producer.produce(topic, **given, on_delivery=lambda e, _: failed.append(e) if e else None)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(ANSWERS_WITHIN_S) == 0, "the broker has not taken all records"
        assert not failed, failed[0]

    def read(self, topic: str, *, committed: bool = True) -> list[Message]:
        """Return all of a topic's records, by partition and offset: those that are committed, or all."""
        isolation = "read_committed" if committed else "read_uncommitted"
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": uuid.uuid4().hex,
                "isolation.level": isolation,
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                **QUIET,
            }
        )
        left = set(self.offsets(topic))
        consumer.assign([TopicPartition(topic, number, 0) for number in left])
        found: list[Message] = []
        while left:
            for message in consumer.consume(1000, 0.2):
                if message.error() is None:
                    found.append(message)
                elif message.error().name() == "_PARTITION_EOF":
                    left.discard(message.partition())
                else:
                    raise KafkaException(message.error())
        consumer.close()
        return sorted(found, key=lambda message: (message.partition(), message.offset()))


def _persistent(ask: Callable[[], Answer]) -> Answer:
    """Return an answer, and ask again while a partition has no leader yet, or another one than the client knows."""
    until = time.monotonic() + ANSWERS_WITHIN_S
    while True:
        try:
            return ask()
        except KafkaException as error:
            if not error.args[0].retriable() and error.args[0].name() not in _PASSING:
                raise
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _done(futures: Mapping[Any, Any]) -> None:
    for future in futures.values():
        future.result(ANSWERS_WITHIN_S)


def until_true(happened: Callable[[], Any], failure: str) -> None:
    """Wait until something is true. Raises TimeoutError, which says the failure."""
    until = time.monotonic() + ANSWERS_WITHIN_S
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(failure)
        time.sleep(0.02)
