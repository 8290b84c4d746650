"""Records to a producer of the C library, which sends them in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.reasons import reason_of
from firesteel.connectors.kafka.sink.clients import is_passing
from firesteel.connectors.kafka.sink.records import TopicRecords
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings

_ROOM_S: Final = 0.05

Note = Callable[[KafkaError, Message], None]


def produce(producer: Producer, records: TopicRecords, settings: KafkaSinkSettings, note: Note) -> None:
    """Give records to a producer, waiting while it is full; `note` hears of each that fails.

    Raises ConnectorError if the producer stays full for the sink's patience, or refuses a record.
    """
    put, topic = producer.produce, records.topic
    for place, message in enumerate(records.messages(note)):
        try:
            put(topic, *message)
        except BufferError:
            _put_when_there_is_room(producer, topic, message, settings)
        except KafkaException as error:
            raise _refused(records, place, error, settings) from error
    producer.poll(0)


def _put_when_there_is_room(
    producer: Producer, topic: str, message: tuple[Any, ...], settings: KafkaSinkSettings
) -> None:
    until = time.monotonic() + settings.patience_ms / 1000
    while True:
        producer.poll(_ROOM_S)
        try:
            producer.produce(topic, *message)
        except BufferError as error:
            if time.monotonic() > until:
                raise ConnectorError(
                    "requires a broker that takes its records",
                    who=settings.who,
                    got=f"none taken in {settings.patience_ms / 1000:g} s",
                ) from error
        else:
            return


def _refused(
    records: TopicRecords, place: int, error: KafkaException, settings: KafkaSinkSettings
) -> KafkaException | ConnectorError:
    """Return an error that names the record, or the same one if it is about the producer."""
    reason = error.args[0]
    if reason.fatal() or is_passing(reason) or reason.code() == KafkaError._STATE:
        return error
    return ConnectorError(
        "requires records that a producer takes",
        who=settings.who,
        got=f"{reason_of(reason)}, for {records.describe(place)}",
    )
