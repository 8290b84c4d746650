"""The writer of a stream's records."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from firesteel.common.errors import TypeMismatchError
from firesteel.common.serialization import SerializationSchema
from firesteel.connectors.kafka.sink.records import TopicRecords
from firesteel.connectors.kafka.sink.serialization import Headers, KafkaRecordSerializationSchema
from firesteel.connectors.kafka.sink.writers import RecordWriter
from firesteel.functions.sink import SinkWriter, WriterContext


class RowWriter(SinkWriter[Any]):
    """Makes records for topics and passes them to the writer of their delivery."""

    def __init__(
        self, schema: KafkaRecordSerializationSchema, records: RecordWriter, who: str, context: WriterContext
    ) -> None:
        self._schema = schema
        self._records = records
        self._who = who
        self._partitioner = copy.copy(schema.partitioner)
        if self._partitioner is not None:
            self._partitioner.open(context.subtask, context.parallelism)

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        topic = self._schema.topic
        if isinstance(topic, str):
            self._put(topic, values, timestamps)
            return
        places: dict[str, list[int]] = {}
        for place, value in enumerate(values):
            places.setdefault(self._selected(topic, value), []).append(place)
        for name, found in places.items():
            times = None if timestamps is None else [timestamps[place] for place in found]
            self._put(name, [values[place] for place in found], times)

    def _put(self, topic: str, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        schema = self._schema
        written = self._serialized(schema.value, values, "value")
        keys = None if schema.key is None else self._serialized(schema.key, values, "key")
        self._records.put(
            TopicRecords.of(
                topic,
                written,
                keys=keys,
                timestamps=_times(timestamps),
                partitions=self._partitions(topic, values, keys, written),
                headers=None if schema.headers is None else [_headers(schema.headers, v) for v in values],
            )
        )

    def _serialized(
        self, schema: SerializationSchema, values: Sequence[Any], what: str
    ) -> list[bytes | None]:
        serialize = schema.serialize
        data: list[bytes | None] = [serialize(value) for value in values]
        if not {*map(type, data)} <= {bytes, type(None)}:
            wrong = next(item for item in data if not isinstance(item, bytes | None))
            raise TypeMismatchError(
                f"requires a {what} serialization schema that returns bytes or None",
                who=self._who,
                got=f"{type(wrong).__name__}: {wrong!r}",
            )
        return data

    def _partitions(
        self, topic: str, values: Sequence[Any], keys: list[bytes | None] | None, written: list[bytes | None]
    ) -> list[int] | None:
        if self._partitioner is None:
            return None
        partitions, choose = range(self._records.topic(topic).partitions), self._partitioner.partition
        chosen = [
            choose(value, key, data, topic, partitions)
            for value, key, data in zip(values, keys or [None] * len(values), written, strict=True)
        ]
        for number in {*chosen}:
            if number not in partitions:
                raise TypeMismatchError(
                    f"requires a partitioner that returns one of the {len(partitions)} partitions of {topic!r}",
                    who=self._who,
                    got=repr(number),
                )
        return chosen

    def _selected(self, select: Callable[[Any], str], value: Any) -> str:
        topic = select(value)
        if not isinstance(topic, str) or not topic:
            raise TypeMismatchError(
                "requires a topic selector that returns a topic's name",
                who=self._who,
                got=f"{topic!r} for {value!r}",
            )
        return topic

    def prepare_commit(self) -> Sequence[Any]:
        return self._records.prepare_commit()

    def abort(self) -> None:
        self._records.abort()


def _times(timestamps: Sequence[int | None] | None) -> list[int | None] | None:
    """Return the times that Kafka takes: none before 1970."""
    if timestamps is None:
        return None
    return [time if time is not None and time >= 0 else None for time in timestamps]


def _headers(provide: Headers, value: Any) -> list[dict[str, Any]]:
    return [{"key": key, "value": data} for key, data in provide(value)]
