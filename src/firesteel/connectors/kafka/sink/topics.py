"""What a sink has to know of a topic before it takes records for it: whether it exists, and what fits into it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.reasons import reason_of
from firesteel.connectors.kafka.settings import client_settings, new_client
from firesteel.connectors.kafka.sink.clients import answer, is_passing, producer_settings
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings

USUAL_LARGEST: Final = 1_048_588
"""The broker's default of max.message.bytes, for those who may not read a topic's settings."""

_KNOWN_FOR_S: Final = 60
_TRY_S: Final = 5
_PAUSE_S: Final = 0.2
_UNKNOWN_TOPIC: Final = "UNKNOWN_TOPIC_OR_PART"


class Topic(NamedTuple):
    """A topic: the number of its partitions, and the bytes of its largest batch of records."""

    partitions: int
    largest: int


class Topics:
    """Looks topics up, and remembers them for a minute. Raises ConnectorError for one that is not there."""

    def __init__(self, settings: KafkaSinkSettings) -> None:
        self._settings = settings
        client = producer_settings(settings, USUAL_LARGEST)
        self._producer = new_client(
            Producer, client, settings.who
        )  # its requests create a topic, if the broker does that
        self._known: dict[str, tuple[float, Topic]] = {}

    def find(self, name: str) -> Topic:
        """Return a topic."""
        until, topic = self._known.get(name, (0.0, None))
        if topic is None or time.monotonic() > until:
            topic = self._look_up(name)
            self._known[name] = time.monotonic() + _KNOWN_FOR_S, topic
        return topic

    def _look_up(self, name: str) -> Topic:
        until = time.monotonic() + self._settings.patience_ms / 1000
        missing_until = min(until, time.monotonic() + _TRY_S)
        while True:
            try:
                found = self._producer.list_topics(name, timeout=_TRY_S).topics[name]
                if found.error is not None:
                    raise KafkaException(found.error)
                return Topic(len(found.partitions), self._largest(name))
            except KafkaException as error:
                missing = error.args[0].name() == _UNKNOWN_TOPIC
                if time.monotonic() > (missing_until if missing else until) or not is_passing(error.args[0]):
                    raise self._unreachable(name, error) from error
            time.sleep(_PAUSE_S)

    def _largest(self, name: str) -> int:
        client = client_settings(self._settings.properties, self._settings.who)
        admin = new_client(AdminClient, client, self._settings.who)
        asked = ConfigResource(ConfigResource.Type.TOPIC, name)
        try:
            configs = answer(admin.describe_configs([asked], request_timeout=_TRY_S)[asked], _TRY_S)
            largest = int(configs["max.message.bytes"].value)
        except KafkaException as error:
            if is_passing(error.args[0]):
                raise
            largest = USUAL_LARGEST
        return min(largest, self._settings.largest or largest)

    def _unreachable(self, name: str, error: KafkaException) -> ConnectorError:
        return ConnectorError(
            f"requires the topic {name!r}",
            who=self._settings.who,
            got=reason_of(error.args[0]),
            hint="create the topic, and check bootstrap.servers and the rights of the sink's user",
        )


def missing_topics(settings: KafkaSinkSettings, names: Iterable[str]) -> list[str]:
    """Return those topics of which the broker says that they are not there; none if it does not answer in time."""
    client = client_settings(settings.properties, settings.who)
    admin = new_client(AdminClient, client, settings.who)
    within_s = min(_TRY_S, settings.patience_ms / 1000)
    found = admin.describe_topics(TopicCollection(sorted({*names})), request_timeout=within_s)
    return [name for name, topic in found.items() if _is_missing(topic, within_s)]


def _is_missing(topic: Future[Any], within_s: float) -> bool:
    try:
        answer(topic, within_s)
    except KafkaException as error:
        return str(error.args[0].name()) == _UNKNOWN_TOPIC
    return False
