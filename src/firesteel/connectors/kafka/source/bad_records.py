"""Records that the deserializer cannot read, for a side output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.source.deserializing import (
    ConsumerRecord,
    Decode,
    KafkaRecordDeserializationSchema,
    poison,
)
from firesteel.functions.output_tag import OutputTag
from firesteel.functions.source import Aside, Timestamped

if TYPE_CHECKING:
    from confluent_kafka import Message


class BadRecord(NamedTuple):
    """A record of a topic that the deserializer cannot read, and what it raised.

    >>> record = ConsumerRecord("orders", 0, 7, 1_700_000_000_000, "CreateTime", b"k", b"v", (), 0)
    >>> BadRecord(record, "ValueError: no number").record.offset
    7
    """

    record: ConsumerRecord
    error: str


class Sorting:
    """Makes values of messages, and puts those aside of which the deserializer makes none.

    A ConnectorError of the deserializer ends the job as ever: what it needs, such as a schema registry, is away, and no
    message is to blame.
    """

    def __init__(
        self, schema: KafkaRecordDeserializationSchema, decode: Decode, tag: OutputTag, who: str
    ) -> None:
        self._schema = schema
        self._decode = decode
        self._tag = tag
        self._who = who

    def batches(self, messages: Sequence[Message]) -> Iterator[Timestamped[Any]]:
        """Yield the values of messages of one partition, then the bad ones among the messages."""
        try:
            values = self._decode(messages)
        except ConnectorError:
            yield from self._one_by_one(messages)
        else:
            yield values

    def _one_by_one(self, messages: Sequence[Message]) -> Iterator[Timestamped[Any]]:
        values: list[Any] = []
        times: list[int] = []
        bad: list[BadRecord] = []
        for message in messages:
            record = ConsumerRecord.of(message)
            try:
                found = [*self._schema.deserialize(record)]
            except ConnectorError as error:
                raise poison(message, error, self._who) from error
            except Exception as error:
                bad.append(BadRecord(record, f"{type(error).__name__}: {error}"))
            else:
                values += found
                times += [record.timestamp] * len(found)
        yield Timestamped(values, times)
        yield Aside(self._tag, bad, [one.record.timestamp for one in bad])
