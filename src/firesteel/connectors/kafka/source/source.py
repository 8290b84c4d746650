"""Topics as a source of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from firesteel.connectors.kafka.source.access import TopicAccess
from firesteel.connectors.kafka.source.deserializing import Decode, KafkaRecordDeserializationSchema, decoder
from firesteel.connectors.kafka.source.settings import KafkaSourceSettings
from firesteel.functions.source import Boundedness, RecordBatches, Source, Split

_NEVER_MS: Final = 1 << 62


class KafkaSource(Source[Any]):
    """Reads topics, each partition in its order, with the timestamps of its records.

    Exactly once: the offsets are in the job's manifest; those of the consumer group are for those who watch it.
    Build it with `firesteel.datastream.connectors.kafka.KafkaSource`.
    """

    def __init__(self, settings: KafkaSourceSettings, schema: KafkaRecordDeserializationSchema) -> None:
        self._schema = schema
        self._access = TopicAccess(settings)
        self._decode: Decode | None = None
        self.discovery_interval = settings.discovery_ms or _NEVER_MS
        self.produced_type = schema.get_produced_type()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_decode": None}

    @property
    def settings(self) -> KafkaSourceSettings:
        """What is read."""
        return self._access.settings

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED if reading stops at some offsets."""
        return self.settings.boundedness

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the partitions that are not known yet."""
        return self._access.splits(known)

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the offset up to which a partition can be read now."""
        return self._access.available(split, position, now)

    def committed(self, positions: Mapping[str, int]) -> None:
        """Commit the offsets to the consumer group."""
        self._access.committed(positions)

    def read(self, split: Split, start: int, end: int) -> RecordBatches[Any]:
        if self._decode is None:
            self._decode = decoder(self._schema, self.settings.who)
        for messages in self._access.messages(split, start, end):
            yield self._decode(messages)
        return None

    def close(self) -> None:
        """Close the connections."""
        self._access.close()
