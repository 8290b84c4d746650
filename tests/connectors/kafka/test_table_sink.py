"""Tables to records of topics: keys, values, metadata, tombstones; and which options and columns are refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, UnsupportedError
from firesteel.common.logical_types import RowType, parse_type
from firesteel.common.logical_types.columns import to_column
from firesteel.common.types import RowKind
from firesteel.connectors.kafka.sink.records import TopicRecords
from firesteel.connectors.kafka.sink.topics import Topic
from firesteel.connectors.tables.kafka import sink as sink_module
from firesteel.connectors.tables.kafka.parts import WRITABLE
from firesteel.connectors.tables.kafka.writing import kafka_sink, upsert_kafka_sink
from firesteel.functions.columns.connectors import TableRequest, TableSink
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import DeliveryGuarantee, WriterContext

SERVERS = {"properties.bootstrap.servers": "127.0.0.1:1"}
KAFKA = {**SERVERS, "topic": "t", "format": "json"}
UPSERT = {**SERVERS, "topic": "t", "key.format": "json", "value.format": "json"}
INSERT, BEFORE, AFTER, DELETE = (
    kind.value for kind in (RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER, RowKind.DELETE)
)


def request(
    row: str,
    options: Mapping[str, str],
    metadata: Sequence[str] = (),
    key: tuple[str, ...] | None = None,
) -> TableRequest:
    kind = parse_type(f"ROW<{row}> NOT NULL")
    assert isinstance(kind, RowType)
    return TableRequest(
        "table 'x'", "x", kind, {name: WRITABLE[name] for name in metadata}, key, (), options, bounded=False
    )


class Records:
    """Takes the place of a writer of records."""

    def __init__(self) -> None:
        self.put_in: list[TopicRecords] = []

    def topic(self, name: str) -> Topic:
        return Topic(3, 1_000_000)

    def put(self, records: TopicRecords) -> None:
        self.put_in.append(records)

    def prepare_commit(self) -> Sequence[Any]:
        return []

    def abort(self) -> None:
        pass


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Records:
    found = Records()
    monkeypatch.setattr(sink_module, "record_writer", lambda settings, context: found)
    return found


def write(
    sink: TableSink, table: TableRequest, rows: Sequence[tuple[Any, ...]], kinds: Sequence[int] | None = None
) -> None:
    context = WriterContext("job", "sink", 4, 5, EpochFacts(1, "a", 0))
    writer = sink.sink.create_writer(context)
    columns = [
        to_column([row[place] for row in rows], field.type, field.name)
        for place, field in enumerate(table.row.fields)
    ]
    batch = pa.RecordBatch.from_arrays(columns, names=[field.name for field in table.row.fields])
    writer.write_columns(batch, None if kinds is None else np.array(kinds, np.int8))
    writer.prepare_commit()


def messages(records: Records) -> list[tuple[Any, ...]]:
    return [
        (part.topic, row.get("key"), row["value"]) for part in records.put_in for row in part.rows.to_pylist()
    ]


def test_a_value_of_all_columns(records):
    table = request("a INT, b STRING", KAFKA)
    sink = kafka_sink(table)
    write(sink, table, [(1, "x"), (2, None)])
    assert messages(records) == [("t", None, b'{"a":1,"b":"x"}'), ("t", None, b'{"a":2,"b":null}')]
    assert sink.mode.append_only
    assert sink.sink.guarantee is DeliveryGuarantee.AT_LEAST_ONCE


def test_keys_with_a_prefix(records):
    options = {
        **SERVERS,
        "topic": "t",
        "key.format": "json",
        "key.fields": "k_b;k_a",
        "key.fields-prefix": "k_",
        "value.format": "json",
        "value.fields-include": "EXCEPT_KEY",
    }
    table = request("k_a INT, v INT, k_b INT", options)
    write(kafka_sink(table), table, [(1, 2, 3)])
    assert messages(records) == [("t", b'{"b":3,"a":1}', b'{"v":2}')]


def test_a_key_is_in_the_value_too_by_default(records):
    table = request("a INT, b INT", {**KAFKA, "key.format": "raw", "key.fields": "a"})
    write(kafka_sink(table), table, [(1, 2)])
    assert messages(records) == [("t", b"\0\0\0\1", b'{"a":1,"b":2}')]


def test_changes_in_a_format_that_has_them(records):
    table = request("a INT", {**SERVERS, "topic": "t", "format": "debezium-json"}, key=("a",))
    sink = kafka_sink(table)
    assert sink.mode.update_before
    write(sink, table, [(1,), (1,), (2,)], [INSERT, BEFORE, AFTER])
    assert [value for _, _, value in messages(records)] == [
        b'{"before":null,"after":{"a":1},"op":"c"}',
        b'{"before":{"a":1},"after":null,"op":"d"}',
        b'{"before":null,"after":{"a":2},"op":"c"}',
    ]


def test_upserts_and_tombstones(records):
    table = request("a INT, b INT", UPSERT, key=("b",))
    sink = upsert_kafka_sink(table)
    assert sink.mode.delete
    assert not sink.mode.update_before
    write(sink, table, [(1, 1), (2, 1), (3, 2), (3, 2)], [INSERT, AFTER, AFTER, DELETE])
    assert messages(records) == [
        ("t", b'{"b":1}', b'{"a":1,"b":1}'),
        ("t", b'{"b":1}', b'{"a":2,"b":1}'),
        ("t", b'{"b":2}', b'{"a":3,"b":2}'),
        ("t", b'{"b":2}', None),
    ]


def test_of_changes_that_wait_the_last_one_is_written(records):
    options = {**UPSERT, "sink.buffer-flush.max-rows": "100", "sink.buffer-flush.interval": "1 h"}
    table = request("a INT, b INT", options, key=("b",))
    write(upsert_kafka_sink(table), table, [(1, 1), (2, 2), (3, 1), (2, 2)], [INSERT, INSERT, AFTER, DELETE])
    assert messages(records) == [("t", b'{"b":1}', b'{"a":3,"b":1}'), ("t", b'{"b":2}', None)]


def test_metadata(records):
    table = request("a INT, h MAP<STRING, BYTES>, at TIMESTAMP_LTZ(3)", KAFKA, ("headers", "timestamp"))
    at = dt.datetime(2020, 1, 2, 3, 4, 5, 678_000, tzinfo=dt.UTC)
    write(kafka_sink(table), table, [(1, {"x": b"1", "y": None}, at), (2, None, None)])
    [part] = records.put_in
    assert part.rows.column("timestamp").to_pylist() == [1577934245678, None]
    assert part.rows.column("headers").to_pylist() == [[{"key": "x", "value": b"1"}], []]
    assert [value for _, _, value in messages(records)] == [b'{"a":1}', b'{"a":2}']


@pytest.mark.parametrize("topics", [{"topic": "t;u"}, {"topic-pattern": "[tu]"}])
def test_topics_by_row(records, topics):
    table = request("a INT, topic STRING", {**SERVERS, **topics, "format": "json"}, ("topic",))
    sink = kafka_sink(table)
    write(sink, table, [(1, "u"), (2, "t"), (3, "u")])
    assert sorted(messages(records)) == [
        ("t", None, b'{"a":2}'),
        ("u", None, b'{"a":1}'),
        ("u", None, b'{"a":3}'),
    ]
    for wrong in ("v", None):
        with pytest.raises(ConnectorError, match=f"requires a topic of the table; got {wrong!r}"):
            write(sink, table, [(1, wrong)])


def test_the_fixed_partitioner(records):
    table = request("a INT", {**KAFKA, "sink.partitioner": "fixed"})
    write(kafka_sink(table), table, [(1,), (2,)])
    assert records.put_in[0].rows.column("partition").to_pylist() == [1, 1]


def test_options_of_delivery():
    table = request(
        "a INT",
        {
            **KAFKA,
            "sink.delivery-guarantee": "exactly-once",
            "sink.transactional-id-prefix": "shop",
            "sink.parallelism": "3",
            "properties.transaction.timeout.ms": "1000",
            "properties.linger.ms": "7",
            "scan.startup.mode": "latest-offset",
        },
    )
    sink = kafka_sink(table)
    settings = sink.sink._settings
    assert sink.parallelism == 3
    assert sink.sink.guarantee is DeliveryGuarantee.EXACTLY_ONCE
    assert (settings.prefix, settings.transaction_timeout_ms) == ("shop", 1000)
    assert settings.properties == (("bootstrap.servers", "127.0.0.1:1"), ("linger.ms", "7"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"properties.bootstrap.servers": None}, "requires the option 'properties.bootstrap.servers'"),
        ({"topic": None}, "one of the options 'topic' and 'topic-pattern'"),
        ({"topic-pattern": "x"}, "one of the options 'topic' and 'topic-pattern'"),
        ({"topic": "t;u"}, "requires one topic, or a column METADATA FROM 'topic'"),
        ({"format": None}, "one of the options 'format' and 'value.format'; got none"),
        (
            {"value.format": "json"},
            "one of the options 'format' and 'value.format'; got both",
        ),
        ({"key.fields": "a"}, "'key.format'"),
        ({"key.format": "json"}, "requires the option 'key.fields', too"),
        ({"key.format": "json", "key.fields": "z"}, "and no metadata, as 'key.fields'; got 'z'"),
        ({"key.format": "json", "key.fields": "a", "key.fields-prefix": "k_"}, "key.fields-prefix"),
        ({"key.format": "json", "key.fields": "a", "key.fields-prefix": "a"}, "EXCEPT_KEY"),
        ({"key.format": "debezium-json", "key.fields": "a"}, "format of changes 'debezium-json'"),
        ({"sink.partitioner": "org.x.Y"}, "'sink.partitioner'"),
        ({"sink.partitioner": "round-robin", "key.format": "json", "key.fields": "a"}, "'sink.partitioner'"),
        ({"sink.delivery-guarantee": "exactly-once"}, "'sink.transactional-id-prefix'"),
        ({"sink.delivery-guarantee": "twice"}, "'sink.delivery-guarantee'"),
        ({"sink.parallelism": "0"}, "'sink.parallelism'"),
        ({"properties.transactional.id": "x"}, "transactional.id"),
        ({"sink.paralelism": "1"}, "sink.paralelism"),
    ],
)
def test_options_that_are_refused(options, message):
    given = {name: value for name, value in {**KAFKA, **options}.items() if value is not None}
    with pytest.raises((ConfigurationError, UnsupportedError), match=message):
        kafka_sink(request("a INT", given))


def test_a_primary_key_needs_a_format_of_changes():
    with pytest.raises(
        ConfigurationError, match="a table without PRIMARY KEY for the format 'json'"
    ) as raised:
        kafka_sink(request("a INT", KAFKA, key=("a",)))
    assert "upsert-kafka" in str(raised.value)


@pytest.mark.parametrize(
    ("options", "key", "message"),
    [
        ({}, None, "requires a primary key"),
        ({"key.fields": "a"}, ("a",), "'key.fields'"),
        ({"key.format": None}, ("a",), "requires the option 'key.format'"),
        ({"value.format": None}, ("a",), "requires the option 'value.format'"),
        ({"value.format": "debezium-json"}, ("a",), "format of changes 'debezium-json'"),
        ({"sink.buffer-flush.max-rows": "5"}, ("a",), "'sink.buffer-flush.max-rows'"),
        ({"sink.buffer-flush.interval": "5 s"}, ("a",), "'sink.buffer-flush.max-rows'"),
    ],
)
def test_options_of_upserts_that_are_refused(options, key, message):
    given = {name: value for name, value in {**UPSERT, **options}.items() if value is not None}
    with pytest.raises((ConfigurationError, UnsupportedError), match=message):
        upsert_kafka_sink(request("a INT", given, key=key))
