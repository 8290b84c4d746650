"""Exactly once, the driver's part: the records of a committed epoch go to their topics in one transaction.

The transaction has the epoch's mark, too (see `session`). A publishing that is done again takes the transactional id
first, which ends what an earlier driver began, and then looks for the mark. While a session goes on it need not look:
nobody else can have published, or the broker would have fenced the session's producer.

A mark is kept for the broker's `offsets.retention.minutes` (seven days). If none is there, and the epoch is older than
that, nobody can know whether it was published. Then the sink's property says what happens; by default it fails.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.reasons import reason_of
from firesteel.connectors.kafka.settings import client_settings, new_client
from firesteel.connectors.kafka.sink.clients import answer, is_fenced, is_passing
from firesteel.connectors.kafka.sink.records import TopicRecords
from firesteel.connectors.kafka.sink.session import Mark, Session, read_mark
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings
from firesteel.connectors.kafka.sink.staged import StagedRecords
from firesteel.connectors.kafka.sink.topics import missing_topics
from firesteel.functions.sink import Committer, OutputStore

_ANSWERS_S: Final = 10
_PAUSE_S: Final = 0.1
_MINUTE_MS: Final = 60_000
_USUAL_RETENTION_MS: Final = 7 * 24 * 60 * _MINUTE_MS
_MORE: Final = {
    KafkaError.UNSTABLE_OFFSET_COMMIT: "; the broker has not ended an earlier transaction of this sink: "
    "kafka-transactions.sh finds such ones (find-hanging) and ends them (abort)",
}
_SURE: Final = 0.9
"""The share of the retention after which a mark may be gone: clocks differ."""


class PublishingCommitter(Committer):
    """Publishes epochs, one after the other."""

    beside = True  # what writers stage is nothing to the brokers

    def __init__(self, settings: KafkaSinkSettings) -> None:
        self._settings = settings
        self._sessions: dict[str, Session] = {}
        self._published: dict[str, Mark] = {}

    def attach(self, outputs: OutputStore) -> None:
        self._outputs = outputs

    def commit(self, committables: Sequence[StagedRecords]) -> None:
        epochs: dict[tuple[int, str, str], list[StagedRecords]] = {}
        for staged in committables:
            epochs.setdefault((staged.epoch, staged.job, staged.operator), []).append(staged)
        for (_, job, operator), parts in sorted(epochs.items(), key=lambda item: item[0]):
            self._publish(self._settings.transactional_id(job, operator), parts)
            self._outputs.remove(chain.from_iterable(part.stored for part in parts))

    def close(self) -> None:
        """Close the sessions."""
        while self._sessions:
            self._sessions.popitem()[1].close()

    def _publish(self, name: str, parts: list[StagedRecords]) -> None:
        mark = Mark(parts[0].epoch, parts[0].attempt)
        if self._published.get(name) == mark:  # what came after it failed, and is done again
            return
        until = time.monotonic() + self._settings.patience_ms / 1000
        while True:
            began = time.monotonic()
            try:
                self._try(name, parts)
            except KafkaException as error:
                self._leave(name)
                self._check_time(error, time.monotonic() - began)
                if not is_passing(error.args[0]) or time.monotonic() > until:
                    raise self._unpublished(parts, error) from error
            except BaseException:
                self._leave(name)
                raise
            else:
                self._published[name] = mark
                return
            time.sleep(_PAUSE_S)

    def _try(self, name: str, parts: list[StagedRecords]) -> None:
        largest = min(part.largest for part in parts)
        session = self._sessions.get(name)
        if session is None or session.largest > largest:
            self._leave(name)
            session = self._sessions[name] = Session(self._settings, name, largest)
            if self._is_published(name, parts):
                return
        topics = chain.from_iterable(part.topics for part in parts)
        session.publish(parts[0].epoch, parts[0].attempt, topics, self._records(parts))

    def _records(self, parts: list[StagedRecords]) -> Iterator[TopicRecords]:
        for part in parts:
            yield from part.read(self._outputs)

    def _leave(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        if session is not None:
            session.close()

    def _is_published(self, name: str, parts: list[StagedRecords]) -> bool:
        epoch, attempt = parts[0].epoch, parts[0].attempt
        mark = read_mark(self._settings, name, chain.from_iterable(part.topics for part in parts))
        if mark is None:
            return self._is_forgotten(parts)
        if mark.epoch < epoch:
            return False
        if mark == (epoch, attempt):
            return True
        raise ConnectorError(
            f"has published epoch {mark.epoch} of this job, and cannot publish epoch {epoch} of another history",
            who=self._settings.who,
            got=f"attempt {attempt!r} after {mark.attempt!r}",
            hint="another driver of the job goes on, or the state directory is an old copy: use the newest one, or "
            "start a new job from a savepoint",
        )

    def _is_forgotten(self, parts: list[StagedRecords]) -> bool:
        """Return whether to leave out an epoch that has no mark."""
        age = time.time() * 1000 - min(part.prepared_at for part in parts)
        choice = self._settings.unknown_epoch
        if choice == "publish" or age < self._retention_ms() * _SURE:
            return False
        if choice == "skip":
            return True
        raise ConnectorError(
            f"cannot know whether epoch {parts[0].epoch} was published",
            who=self._settings.who,
            got=f"no mark of it, {age / _MINUTE_MS:.0f} minutes after it was written; the broker keeps marks for "
            f"offsets.retention.minutes={self._retention_ms() // _MINUTE_MS}",
            hint=f"look whether the topic has the epoch's {sum(part.records for part in parts)} records; then set the "
            "sink's property 'firesteel.unknown.epoch' to 'skip' if it has, else to 'publish', for this start",
        )

    def _retention_ms(self) -> int:
        client = client_settings(self._settings.properties, self._settings.who)
        admin = new_client(AdminClient, client, self._settings.who)
        brokers = admin.list_topics(timeout=_ANSWERS_S).brokers
        if not brokers:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        asked = ConfigResource(ConfigResource.Type.BROKER, str(next(iter(brokers))))
        try:
            configs = admin.describe_configs([asked], request_timeout=_ANSWERS_S)[asked]
            found = answer(configs, _ANSWERS_S)
        except KafkaException as error:
            if is_passing(error.args[0]):
                raise
            return _USUAL_RETENTION_MS  # not everybody may read the settings of a broker
        return int(found["offsets.retention.minutes"].value) * _MINUTE_MS

    def _check_time(self, error: KafkaException, took_s: float) -> None:
        """Raise ConnectorError if the broker has ended a transaction because it took too long."""
        limit = self._settings.transaction_timeout_ms
        if is_fenced(error.args[0]) and took_s * 1000 > limit:
            raise ConnectorError(
                f"requires transactions of at most {limit / 1000:g} s",
                who=self._settings.who,
                got=f"an epoch that took {took_s:.0f} s to publish",
                hint="raise the sink's property transaction.timeout.ms (the broker's transaction.max.timeout.ms limits "
                "it), or make epochs smaller; the epoch is committed, and is published when the job goes on",
            ) from error

    def _unpublished(self, parts: list[StagedRecords], error: KafkaException) -> ConnectorError:
        code = error.args[0].code()
        gone = missing_topics(self._settings, chain.from_iterable(part.topics for part in parts))
        without = f", and no topic {', '.join(map(repr, gone))}" if gone else ""
        return ConnectorError(
            f"could not publish epoch {parts[0].epoch}, which is committed",
            who=self._settings.who,
            got=f"{reason_of(error.args[0])}{without}",
            hint=f"nothing is lost: the epoch is published first when the job goes on{_MORE.get(code, '')}",
        )
