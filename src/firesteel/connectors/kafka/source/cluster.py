"""The driver's client of a cluster: topics, and where their logs begin and end."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition, Topic
from firesteel.connectors.kafka.reasons import reason_of
from firesteel.connectors.kafka.settings import Properties, client_settings, new_client
from firesteel.connectors.kafka.source.offsets import Offsets
from firesteel.connectors.kafka.source.planning import Unreachable

T = TypeVar("T")

_INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})

_REFUSED: Final = frozenset(
    {
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError._AUTHENTICATION,
        KafkaError._INVALID_ARG,
        KafkaError._SSL,
        KafkaError._UNSUPPORTED_FEATURE,
    }
)
"""Errors that waiting does not mend."""

_OUTDATED: Final = frozenset(
    {
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.UNKNOWN_LEADER_EPOCH,
    }
)
"""Errors of a client that knows leaders of former times; librdkafka 2.16 would ask them for offsets for ever."""


def is_refusal(error: KafkaError) -> bool:
    """Return whether waiting does not mend an error."""
    return error.code() in _REFUSED or error.fatal()


@dataclass
class KafkaCluster:
    """A cluster of Kafka; see `Cluster`. `timeout` is how long one request may take (seconds)."""

    properties: Properties
    who: str
    committed_only: bool
    group: str | None
    timeout: float

    def __post_init__(self) -> None:
        self._connect()

    def _connect(self) -> None:
        self._admin = new_client(AdminClient, client_settings(self.properties, self.who), self.who)
        self._consumer: Consumer | None = None
        self._sending: threading.Thread | None = None

    def topics(self, wanted: Collection[str] | re.Pattern[str]) -> dict[str, Topic]:
        """Return topics; see `Cluster.topics`."""
        names = self._matching(wanted) if isinstance(wanted, re.Pattern) else list(wanted)
        if not names:
            return {}
        found: dict[str, Topic] = {}
        answers = self._ask(lambda: self._admin.describe_topics(TopicCollection(names), **self._patience))
        for name, future in answers.items():
            try:
                topic = self._result(future)
            except Unreachable as error:
                if not error.no_topic:
                    raise
                continue
            found[name] = Topic(str(topic.topic_id or ""), len(topic.partitions))
        return found

    def earliest(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        """Return where logs begin."""
        return self._offsets(partitions, OffsetSpec.earliest())

    def latest(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        """Return how far logs can be read."""
        return self._offsets(partitions, OffsetSpec.latest(), self.committed_only)

    def at_time(self, partitions: Collection[KafkaTopicPartition], timestamp: int) -> Offsets:
        """Return the first offsets of a time."""
        found = self._offsets(partitions, OffsetSpec.for_timestamp(timestamp))
        return {one: offset for one, offset in found.items() if offset >= 0}

    def bounds(
        self, partitions: Collection[KafkaTopicPartition]
    ) -> dict[KafkaTopicPartition, tuple[int, int]]:
        """Return where logs begin and end, with what is not committed."""
        first = self.earliest(partitions)
        last = self._offsets(partitions, OffsetSpec.latest())
        return {one: (first[one], last[one]) for one in partitions}

    def committed(self, partitions: Collection[KafkaTopicPartition]) -> Offsets:
        """Return what the group has committed."""
        if self.group is None or not partitions:
            return {}
        asked = [TopicPartition(*one) for one in partitions]
        found = self._ask(lambda: _checked(self._member().committed(asked, self.timeout)))
        return {KafkaTopicPartition(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def commit(self, offsets: Offsets) -> Future[Any]:
        """Commit offsets; see `Cluster.commit`. The call waits as long as no broker answers, in a thread of its own."""
        targets = [TopicPartition(*one, offset) for one, offset in offsets.items()]
        member, outcome = self._member(), Future[Any]()

        def send() -> None:
            try:
                outcome.set_result(_checked(member.commit(offsets=targets, asynchronous=False)))
            except KafkaException as error:
                outcome.set_exception(error)

        self._sending = threading.Thread(target=send, name="firesteel-kafka-offsets", daemon=True)
        self._sending.start()
        return outcome

    def close(self) -> None:
        """Release the connections; one on which an answer is awaited is left to its thread."""
        del self._admin
        if self._consumer is not None and (self._sending is None or not self._sending.is_alive()):
            self._consumer.close()
        self._consumer = None

    def _member(self) -> Consumer:
        """Return a client for the group's offsets.

        It is no admin client: when a broker goes away, librdkafka 2.16 ends the process of one that asks for a group.
        """
        if self._consumer is None:
            client = {
                **client_settings(self.properties, self.who),
                "group.id": self.group,
                "enable.auto.commit": False,
            }
            self._consumer = new_client(Consumer, client, self.who)
        return self._consumer

    @property
    def _patience(self) -> dict[str, Any]:
        return {"request_timeout": self.timeout}

    def _matching(self, pattern: re.Pattern[str]) -> list[str]:
        known = self._ask(lambda: self._admin.list_topics(timeout=self.timeout)).topics
        return [name for name in known if name not in _INTERNAL and pattern.fullmatch(name)]

    def _offsets(
        self, partitions: Collection[KafkaTopicPartition], spec: OffsetSpec, committed_only: bool = False
    ) -> Offsets:
        if not partitions:
            return {}
        level = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
        request = {TopicPartition(*one): spec for one in partitions}
        answers = self._ask(
            lambda: self._admin.list_offsets(request, isolation_level=level, **self._patience)
        )
        found = {
            KafkaTopicPartition(one.topic, one.partition): self._result(future).offset
            for one, future in answers.items()
        }
        for one, offset in found.items():
            if offset == OFFSET_INVALID:  # so librdkafka 2.16 answers, without an error, while leaders move
                raise Unreachable(f"no leader that knows the offsets of {one}")
        return found

    def _ask(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except KafkaException as error:
            raise self._wrong(error) from error

    def _result(self, future: Future[T]) -> T:
        return self._ask(future.result)

    def _wrong(self, error: KafkaException) -> Exception:
        reason: KafkaError = error.args[0]
        if is_refusal(reason):
            return ConnectorError("requires a cluster that answers", who=self.who, got=reason_of(reason))
        if reason.code() in _OUTDATED:
            self._connect()
        unknown = reason.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        return Unreachable(reason_of(reason), no_topic=unknown)


def _checked(found: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
    """Return partitions. Raises KafkaException if one of them has an error."""
    for one in found:
        if one.error is not None:
            raise KafkaException(one.error)
    return found
