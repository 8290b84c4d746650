"""At least once, and without a promise: records go to the broker as they come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from firesteel.common.errors import ConnectorError, EngineError, FiresteelError
from firesteel.connectors.kafka.reasons import reason_of
from firesteel.connectors.kafka.settings import new_client
from firesteel.connectors.kafka.sink.clients import is_passing, producer_settings
from firesteel.connectors.kafka.sink.producing import produce
from firesteel.connectors.kafka.sink.records import TopicRecords
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings
from firesteel.connectors.kafka.sink.topics import Topic, Topics
from firesteel.connectors.kafka.sink.writers import RecordWriter
from firesteel.functions.sink import DeliveryGuarantee, WriterContext

_producers: Final[dict[tuple[Any, ...], Producer]] = {}
"""The producers of this process, kept from epoch to epoch."""


class DirectWriter(RecordWriter):
    """Produces records. At least once, the epoch ends when the broker has them all; without a promise nobody waits."""

    def __init__(self, settings: KafkaSinkSettings, topics: Topics, context: WriterContext) -> None:
        super().__init__(settings, topics)
        self._waits = settings.guarantee is DeliveryGuarantee.AT_LEAST_ONCE or context.facts.final
        self._producers: dict[int, Producer] = {}
        self._failed: list[tuple[KafkaError, str]] = []

    def _put(self, records: TopicRecords, topic: Topic) -> None:
        try:
            produce(self._producer(topic.largest), records, self._settings, self._note)
        except KafkaException as error:
            raise self._failure(error.args[0], "a record") from error

    def _producer(self, largest: int) -> Producer:
        if largest not in self._producers:
            settings = self._settings
            kept = (settings.properties, settings.guarantee, largest)
            if kept not in _producers:
                always = {"acks": "all", "enable.idempotence": True}
                wanted = always if settings.guarantee is DeliveryGuarantee.AT_LEAST_ONCE else {}
                client = {**wanted, **producer_settings(settings, largest)}
                _producers[kept] = new_client(Producer, client, settings.who)
            self._producers[largest] = _producers[kept]
        return self._producers[largest]

    def _note(self, error: KafkaError, message: Message) -> None:
        self._failed.append((error, f"a record for topic {message.topic()!r}"))

    def prepare_commit(self) -> Sequence[Any]:
        until = time.monotonic() + self._settings.patience_ms / 1000
        for producer in self._producers.values():
            producer.poll(0)
            if self._waits:
                self._flush(producer, until)
        if self._failed and self._settings.guarantee is DeliveryGuarantee.AT_LEAST_ONCE:
            error, what = self._failed[0]
            raise self._failure(error, f"{what} and {len(self._failed) - 1} others")
        return []

    def _flush(self, producer: Producer, until: float) -> None:
        left = producer.flush(max(0.0, until - time.monotonic()))
        if left and self._settings.guarantee is DeliveryGuarantee.AT_LEAST_ONCE:
            raise self._failure(KafkaError(KafkaError._MSG_TIMED_OUT), f"{left} records")

    def _failure(self, error: KafkaError, what: str) -> FiresteelError:
        """Return the error, and have the next try begin with new producers; what may pass is tried again."""
        for kept in [kept for kept, producer in _producers.items() if producer in self._producers.values()]:
            _producers.pop(kept).purge()
        kind = EngineError if is_passing(error) else ConnectorError
        return kind(
            "requires brokers that take its records",
            who=self._settings.who,
            got=f"{reason_of(error)}, for {what}",
        )

    def abort(self) -> None:
        """Leave what the producers have: it may reach its topics."""
