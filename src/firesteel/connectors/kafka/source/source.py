"""Topics as a source of records."""

from __future__ import annotations

from typing import Any

from firesteel.connectors.kafka.source.access import TopicSource
from firesteel.connectors.kafka.source.deserializing import Decode, KafkaRecordDeserializationSchema, decoder
from firesteel.connectors.kafka.source.settings import KafkaSourceSettings
from firesteel.functions.source import RecordBatches, Split


class KafkaSource(TopicSource):
    """Reads topics, each partition in its order, with the timestamps of its records.

    Exactly once: the offsets are in the job's manifest; those of the consumer group are for those who watch it.
    Build it with `firesteel.datastream.connectors.kafka.KafkaSource`.
    """

    def __init__(self, settings: KafkaSourceSettings, schema: KafkaRecordDeserializationSchema) -> None:
        super().__init__(settings)
        self._schema = schema
        self._decode: Decode | None = None
        self.produced_type = schema.get_produced_type()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_decode": None}

    def read(self, split: Split, start: int, end: int) -> RecordBatches[Any]:
        if self._decode is None:
            self._decode = decoder(self._schema, self.settings.who)
        for messages in self._access.messages(split, start, end):
            yield self._decode(messages)
        return None
