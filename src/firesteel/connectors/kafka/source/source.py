"""Topics as a source of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from firesteel.connectors.kafka.source.access import TopicSource
from firesteel.connectors.kafka.source.bad_records import Sorting
from firesteel.connectors.kafka.source.deserializing import KafkaRecordDeserializationSchema, decoder
from firesteel.connectors.kafka.source.settings import KafkaSourceSettings
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.source import Aside, RecordBatches, Split, Timestamped

if TYPE_CHECKING:
    from confluent_kafka import Message

Decoding = Callable[[Sequence["Message"]], Iterable[Timestamped[Any]]]
"""Makes batches of messages of one partition."""


class KafkaSource(TopicSource):
    """Reads topics, each partition in its order, with the timestamps of its records.

    Exactly once: the offsets are in the job's manifest; those of the consumer group are for those who watch it.
    Records that cannot be read go to the side output `bad_records`; if that is None they are errors.
    Build it with `firesteel.datastream.connectors.kafka.KafkaSource`.
    """

    def __init__(
        self,
        settings: KafkaSourceSettings,
        schema: KafkaRecordDeserializationSchema,
        bad_records: OutputTag | None = None,
    ) -> None:
        super().__init__(settings)
        self._schema = schema
        self._bad_records = bad_records
        self._decoding: Decoding | None = None
        self.produced_type = schema.get_produced_type()
        self.makes_exact_values = schema.makes_exact_values

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_decoding": None}

    def read(self, split: Split, start: int, end: int) -> RecordBatches[Any]:
        if self._decoding is None:
            self._decoding = self._new_decoding()
        for messages in self._access.messages(split, start, end):
            for batch in self._decoding(messages):
                if isinstance(batch, Aside):
                    self.errors += len(batch)
                yield batch
        return None

    def _new_decoding(self) -> Decoding:
        decode = decoder(self._schema, self.settings.who)
        if self._bad_records is None:
            return lambda messages: (decode(messages),)
        return Sorting(self._schema, decode, self._bad_records, self.settings.who).batches
