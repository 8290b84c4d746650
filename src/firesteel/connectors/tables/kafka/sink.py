"""Topics of Kafka as the sink of a table: keys, values and metadata by columns, without an object for each row."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConnectorError
from firesteel.common.types import RowKind
from firesteel.connectors.kafka.sink.records import HEADERS as HEADERS_TYPE
from firesteel.connectors.kafka.sink.records import TopicRecords, joined
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings
from firesteel.connectors.kafka.sink.sink import committer, record_writer
from firesteel.connectors.kafka.sink.writers import RecordWriter
from firesteel.connectors.tables.messages.message_format import MessageEncoder
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter, Kinds
from firesteel.functions.sink import Committer, WriterContext

TIMESTAMP: Final = "timestamp"
HEADERS: Final = "headers"
TOPIC: Final = "topic"

_GONE: Final = (RowKind.DELETE.value, RowKind.UPDATE_BEFORE.value)


@dataclass(frozen=True)
class Part:
    """A record's key or value: the places of its columns, their names in it, and what encodes them."""

    places: tuple[int, ...]
    names: tuple[str, ...]
    encoder: MessageEncoder

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None) -> pa.Array:
        """Return a message for each row."""
        columns = [rows.column(place) for place in self.places]
        chosen = pa.RecordBatch.from_arrays(columns, names=list(self.names))
        return self.encoder.encode(chosen, kinds)


@dataclass(frozen=True)
class Topics:
    """Where rows go: to the only topic, or to the one that their column `topic` says, if it is one of them."""

    names: tuple[str, ...]
    pattern: str | None = None

    @property
    def only(self) -> str | None:
        """The topic of all rows."""
        return self.names[0] if len(self.names) == 1 else None

    def takes(self, topic: str) -> bool:
        """Return whether rows may go to a topic."""
        if self.pattern is not None:
            return re.fullmatch(self.pattern, topic) is not None
        return topic in self.names

    @property
    def text(self) -> str:
        """What topics these are, for errors."""
        return self.pattern or ", ".join(self.names)


@dataclass(frozen=True)
class Buffering:
    """How many rows, and how long (milliseconds), wait for a later change of their key."""

    rows: int
    interval: int


@dataclass(frozen=True)
class KafkaRows:
    """How a table's rows become records. `metadata` has the places of metadata columns; `upserts` means that a row that
    goes becomes a tombstone; `fixed` that a subtask writes to one partition.
    """

    topics: Topics
    value: Part
    key: Part | None
    metadata: dict[str, int]
    upserts: bool = False
    fixed: bool = False
    buffering: Buffering | None = None


class KafkaTableSink(ColumnSink):
    """Writes rows of a table to topics; see `firesteel.connectors.kafka.sink` for the guarantees."""

    def __init__(self, settings: KafkaSinkSettings, rows: KafkaRows) -> None:
        self._settings = settings
        self._rows = rows
        self.guarantee = settings.guarantee

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        records = record_writer(self._settings, context)
        return _Writer(self._rows, records, self._settings.who, context.subtask)

    def create_committer(self) -> Committer:
        return committer(self._settings)


class _Writer(ColumnWriter):
    def __init__(self, rows: KafkaRows, records: RecordWriter, who: str, subtask: int) -> None:
        self._rows = rows
        self._records = records
        self._who = who
        self._subtask = subtask
        self._waiting: list[TopicRecords] = []
        self._count = 0
        buffering = rows.buffering
        self._most = buffering.rows if buffering else 0
        self._interval = buffering.interval / 1000 if buffering else inf
        self._sent = time.monotonic()

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        """Write the rows, or keep them if a later change of their key may come."""
        if not rows.num_rows:
            return
        for records in self._by_topic(self._made(rows, kinds), rows):
            if not self._most:
                self._records.put(records)
                continue
            self._waiting.append(records)
            self._count += len(records)
        if self._count > self._most or time.monotonic() - self._sent >= self._interval:
            self._send()

    def _made(self, rows: pa.RecordBatch, kinds: Kinds | None) -> TopicRecords:
        plan = self._rows
        if plan.upserts:
            values = plan.value.encode(rows, None)
            if kinds is not None and np.isin(kinds, _GONE).any():
                values = pc.if_else(pa.array(~np.isin(kinds, _GONE)), values, None)
        else:
            values = plan.value.encode(rows, kinds)
        times, headers = (self._column(rows, key) for key in (TIMESTAMP, HEADERS))
        return TopicRecords.of(
            plan.topics.only or "",
            values,
            keys=None if plan.key is None else plan.key.encode(rows, None),
            timestamps=None if times is None else times.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()),
            headers=None if headers is None else _headers(headers),
        )

    def _column(self, rows: pa.RecordBatch, key: str) -> pa.Array | None:
        place = self._rows.metadata.get(key)
        return None if place is None else rows.column(place)

    def _by_topic(self, made: TopicRecords, rows: pa.RecordBatch) -> Iterator[TopicRecords]:
        """Yield the records of each topic, with their partitions if the sink chooses them."""
        topics = self._rows.topics
        if topics.only is not None:
            yield self._placed(made)
            return
        encoded = rows.column(self._rows.metadata[TOPIC]).dictionary_encode("encode")
        for code, name in enumerate(encoded.dictionary.to_pylist()):
            if name is None or not topics.takes(name):
                raise ConnectorError(
                    "requires a topic of the table",
                    who=self._who,
                    got=repr(name),
                    hint=f"it has {topics.text}",
                )
            chosen = pc.equal(encoded.indices, code)
            yield self._placed(TopicRecords(name, made.rows.filter(chosen)))

    def _placed(self, records: TopicRecords) -> TopicRecords:
        if not self._rows.fixed:
            return records
        partition = self._subtask % self._records.topic(records.topic).partitions
        column = pa.array(np.full(len(records), partition, np.int32))
        return TopicRecords(records.topic, records.rows.append_column("partition", column))

    def _send(self) -> None:
        waiting, self._waiting, self._count = self._waiting, [], 0
        for records in joined(waiting):
            self._records.put(TopicRecords(records.topic, last_of_each_key(records.rows)))
        self._sent = time.monotonic()

    def prepare_commit(self) -> Sequence[Any]:
        self._send()
        return self._records.prepare_commit()

    def abort(self) -> None:
        self._records.abort()


def last_of_each_key(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the last row of each key, in their order.

    >>> rows = pa.record_batch({"key": [b"a", b"b", b"a"], "value": [b"1", b"2", b"3"]})
    >>> last_of_each_key(rows).column("value").to_pylist()
    [b'2', b'3']
    """
    codes = rows.column("key").dictionary_encode("encode").indices.to_numpy()
    last = np.zeros(int(codes.max()) + 1, np.int64)
    last[codes] = np.arange(len(codes))
    return rows if len(last) == len(codes) else rows.take(pa.array(np.sort(last)))


def _headers(column: pa.Array) -> pa.Array:
    """Return maps of texts to bytes as lists of headers; one without a name is left out, as in Flink."""
    lists = [
        [{"key": key, "value": value} for key, value in pairs or () if key is not None and value is not None]
        for pairs in column.to_pylist()
    ]
    return pa.array(lists, HEADERS_TYPE)
