"""Messages to records: one by one, by a schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from firesteel.common.collector import collector_waits
from firesteel.common.errors import ConnectorError
from firesteel.common.serialization import DeserializationSchema
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.functions.source import Timestamped

if TYPE_CHECKING:
    from confluent_kafka import Message

_SHOWN: Final = 200

TIMESTAMP_TYPES: Final = ("NoTimestampType", "CreateTime", "LogAppendTime")
"""What a message's timestamp is, by the number that the client gives."""

Header = tuple[str, bytes | None]


class ConsumerRecord(NamedTuple):
    """A record of a topic (Java: ConsumerRecord).

    `timestamp` is in milliseconds since 1970; `timestamp_type` is CreateTime or LogAppendTime.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    leader_epoch: int | None

    @staticmethod
    def of(message: Message) -> ConsumerRecord:
        """Return a message of the client as a record."""
        kind, timestamp = message.timestamp()
        return ConsumerRecord(
            message.topic(),
            message.partition(),
            message.offset(),
            timestamp,
            TIMESTAMP_TYPES[kind],
            message.key(),
            message.value(),
            tuple(message.headers() or ()),
            message.leader_epoch(),
        )


class KafkaRecordDeserializationSchema(ABC):
    """Makes values of records, with their keys, headers and times (Flink: KafkaRecordDeserializationSchema).

    Derive from it and define `deserialize`, and `get_produced_type` if the values have a type; picklable.

    >>> class Keyed(KafkaRecordDeserializationSchema):
    ...     def deserialize(self, record):
    ...         yield record.key, record.value
    >>> record = ConsumerRecord("orders", 0, 7, 1_700_000_000_000, "CreateTime", b"k", b"v", (), 0)
    >>> list(Keyed().deserialize(record))
    [(b'k', b'v')]
    """

    @abstractmethod
    def deserialize(self, record: ConsumerRecord) -> Iterable[Any]:
        """Return the values of a record: none, one or several. What it raises ends the job, with the record's place."""

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the values."""
        return Types.PICKLED_BYTE_ARRAY()

    @property
    def makes_exact_values(self) -> bool:
        """Return whether values are new objects that are of the type to the letter; then none is converted to it."""
        return False

    @staticmethod
    def value_only(schema: DeserializationSchema) -> KafkaRecordDeserializationSchema:
        """Return the schema that makes values of the records' values alone."""
        return ValueOnly(schema)


class ValueOnly(KafkaRecordDeserializationSchema):
    """Makes values of the records' values by a schema; where that returns None, there is no value."""

    def __init__(self, schema: DeserializationSchema) -> None:
        self.schema = schema

    @property
    def makes_exact_values(self) -> bool:
        return self.schema.makes_exact_values

    def deserialize(self, record: ConsumerRecord) -> Iterable[Any]:
        value = self.schema.deserialize(record.value)  # type: ignore[arg-type] # a tombstone has no value
        return () if value is None else (value,)

    def get_produced_type(self) -> TypeInformation:
        return self.schema.get_produced_type()


Decode = Callable[[Sequence["Message"]], Timestamped[Any]]
"""Makes values, with their timestamps, of messages of one partition."""


def decoder(schema: KafkaRecordDeserializationSchema, who: str) -> Decode:
    """Return the function from messages to values.

    It raises ConnectorError, with topic, partition and offset, for a message of which the schema makes no value.
    """
    return _values_only(schema.schema, who) if isinstance(schema, ValueOnly) else _records(schema, who)


def _values_only(schema: DeserializationSchema, who: str) -> Decode:
    from confluent_kafka import Message

    deserialize, value_of, timestamp_of = schema.deserialize, Message.value, Message.timestamp

    def decode(messages: Sequence[Message]) -> Timestamped[Any]:
        with collector_waits():
            try:
                values: list[Any] = [*map(deserialize, map(value_of, messages))]
            except Exception:
                _find_poison(messages, lambda message: deserialize(value_of(message)), who)
                raise
            times = [time for _, time in map(timestamp_of, messages)]
        if type(None) in {*map(type, values)}:
            kept = [(value, time) for value, time in zip(values, times, strict=True) if value is not None]
            values, times = [value for value, _ in kept], [time for _, time in kept]
        return Timestamped(values, times)

    return decode


def _records(schema: KafkaRecordDeserializationSchema, who: str) -> Decode:
    def decode(messages: Sequence[Message]) -> Timestamped[Any]:
        values: list[Any] = []
        times: list[int] = []
        for message in messages:
            record = ConsumerRecord.of(message)
            try:
                found = [*schema.deserialize(record)]
            except Exception as error:
                raise poison(message, error, who) from error
            values += found
            times += [record.timestamp] * len(found)
        return Timestamped(values, times)

    return decode


def _find_poison(messages: Sequence[Message], attempt: Callable[[Message], object], who: str) -> None:
    """Raise the error for the first message that an attempt fails with."""
    for message in messages:
        try:
            attempt(message)
        except Exception as error:
            raise poison(message, error, who) from error


def place_of(message: Message) -> str:
    """Return which message it is, for errors."""
    return f"the message at offset {message.offset()} of partition {message.partition()} of topic {message.topic()!r}"


def poison(message: Message, error: Exception, who: str) -> ConnectorError:
    """Return the error for a message that cannot be read."""
    value = message.value()
    shown = "no value" if value is None else repr(value[:_SHOWN]) + ("..." if len(value) > _SHOWN else "")
    return ConnectorError(
        "requires messages that its deserialization schema can read",
        who=who,
        got=f"{place_of(message)}: {shown} ({type(error).__name__}: {error})",
        hint="KafkaSourceBuilder.side_output_bad_records sends such messages to a side output",
    )
