"""Tables of topics with the metadata 'error': a message that cannot be read has a row that says why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.logical_types import STRING, VarBinaryType
from firesteel.common.types import RowKind
from firesteel.connectors.tables.kafka.source import KafkaTableSource
from firesteel.connectors.tables.messages.message_format import Decoded
from firesteel.connectors.tables.messages.salvaging import salvaged
from firesteel.connectors.tables.registry import connector_of
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from harness.kafka import KafkaBroker
from tests.connectors.column_ends import read, request, row_type
from tests.connectors.kafka.fake_topics import FakeTopic, Record
from tests.connectors.messages import decoder, messages

EARLY = {
    "topic": "t",
    "format": "json",
    "properties.bootstrap.servers": "a:9092",
    "scan.startup.mode": "earliest-offset",
}
ERROR = {"error": STRING}
RAW = {"raw-key": VarBinaryType(), "raw-value": VarBinaryType(), **ERROR}


def source(
    columns: str, *records: Record, metadata: Mapping[str, Any] = ERROR, **options: str
) -> KafkaTableSource:
    """A table of a topic with these records; `columns` are all of its columns."""
    given = {**EARLY, **{key.replace("__", "-").replace("_", "."): value for key, value in options.items()}}
    made = connector_of("kafka", "table 't'").source(request(columns, given, metadata)).source
    found: KafkaTableSource = FakeTopic.behind(made, [*records])  # type: ignore[arg-type]
    return found


def rows(made: KafkaTableSource, columns: str) -> list[tuple[Any, ...]]:
    return read(made, row=row_type(columns))


def test_a_bad_message_has_a_row() -> None:
    columns = "n INT, s STRING, k BYTES, v BYTES, error STRING"
    texts = [b'{"n": 1, "s": "a"}', b'{"n": "many"}', b'{"n": 2', b'[{"n": 3}, {"n": 4}]', None]
    made = source(columns, *[(b"k", text) for text in texts], metadata=RAW)
    found = rows(made, columns)
    assert [row[:4] for row in found] == [
        (1, "a", b"k", texts[0]),
        (None, None, b"k", texts[1]),
        (None, None, b"k", texts[2]),
        (3, None, b"k", texts[3]),
        (4, None, b"k", texts[3]),
    ]
    assert [row[4] is not None for row in found] == [False, True, True, False, False]
    assert "many" in found[1][4]
    assert made.errors == 2


@pytest.mark.parametrize("bad", [(0,), (119,), (0, 1, 2), (3, 50, 51, 117), tuple(range(120)), ()])
def test_good_messages_between_bad_ones(bad: Sequence[int]) -> None:
    texts = [b"{" if n in bad else b'{"n": %d}' % n for n in range(120)]
    found = rows(source("n INT, error STRING", *[(None, text) for text in texts]), "n INT, error STRING")
    assert [row[0] for row in found] == [None if n in bad else n for n in range(120)]
    assert [n for n, row in enumerate(found) if row[1]] == [*bad]


def test_a_bad_key_is_told_from_a_bad_value() -> None:
    columns = "k INT, n INT, error STRING"
    made = source(
        columns,
        (b'{"k": 1}', b'{"n": 1}'),
        (b"{", b'{"n": 2}'),
        (b'{"k": 3}', b"{"),
        (b"{", b"{"),
        (None, b'{"n": 5}'),
        key_format="json",
        key_fields="k",
        value_fields__include="EXCEPT_KEY",
    )
    found = rows(made, columns)
    assert [row[:2] for row in found] == [(1, 1), (None, None), (None, None), (None, None)]
    assert [None if row[2] is None else row[2].startswith("its key: ") for row in found] == [
        None,
        True,
        False,
        False,
    ]


def test_a_bad_message_among_changes_is_an_insert() -> None:
    columns = "n INT, error STRING"
    texts = [
        b'{"before": null, "after": {"n": 1}, "op": "c"}',
        b"{",
        b'{"before": {"n": 1}, "after": null, "op": "d"}',
    ]
    made = source(columns, *[(None, text) for text in texts], format="debezium-json")
    [split] = made.splits(frozenset())
    [(batch, kinds)] = made.read_columns(split, 0, 3)
    assert batch.column(0).to_pylist() == [1, None, 1]
    assert kinds.tolist() == [RowKind.INSERT.value, RowKind.INSERT.value, RowKind.DELETE.value]


def test_a_message_is_bad_whatever_is_asked_of_it() -> None:
    made = source("n INT, s STRING, error STRING", (None, b'{"n": "many", "s": "a"}'))
    some = made.projected((1,))
    assert isinstance(some, KafkaTableSource)
    some = FakeTopic.behind(some, [(None, b'{"n": "many", "s": "a"}')])
    assert rows(some, "s STRING") == [(None,)]


FORMATS = {
    "json": ("n INT", b'{"n": 1}', b"{"),
    "csv": ("n INT", b"1", b"x"),
    "raw": ("n INT", b"\0\0\0\1", b"1"),
    "avro": ("n INT", b"\x02\x02", b"\x02"),
    "canal-json": ("n INT", b'{"data": [{"n": 1}], "type": "INSERT"}', b"{}"),
    "maxwell-json": ("n INT", b'{"data": {"n": 1}, "type": "insert"}', b"{}"),
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_goes_on_behind_a_bad_message(form: str) -> None:
    columns, good, bad = FORMATS[form]
    decoded, why = salvaged(decoder(form, columns), messages([bad, good, bad, good, good, bad]))
    assert isinstance(decoded, Decoded)
    assert decoded.rows.column(0).to_pylist() == [1, 1, 1]
    assert decoded.places().tolist() == [1, 3, 4]
    assert [*why] == [0, 2, 5]
    assert all(why.values())


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_but_bad_messages(form: str) -> None:
    columns, _, bad = FORMATS[form]
    decoded, why = salvaged(decoder(form, columns), messages([bad] * 40))
    assert (decoded.rows.num_rows, decoded.places().dtype, [*why]) == (0, np.int64, [*range(40)])


def test_columns_must_take_null() -> None:
    with pytest.raises(ConfigurationError, match=r"requires columns that can be NULL .*; got n INT NOT NULL"):
        source("n INT NOT NULL, error STRING")


def test_a_table_of_last_rows_has_no_bad_rows() -> None:
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.execute_sql(
        "CREATE TABLE t (n INT, error STRING METADATA VIRTUAL, PRIMARY KEY (n) NOT ENFORCED) WITH ("
        "'connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'a:9092', "
        "'key.format' = 'json', 'value.format' = 'json')"
    )
    with pytest.raises(ProgramError, match="has no metadata 'error'"):
        tables.execute_sql("SELECT * FROM t")


ORDERS = """
CREATE TABLE orders (
    id INT, price DOUBLE, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
    message BYTES METADATA FROM 'raw-value' VIRTUAL, error STRING METADATA VIRTUAL, WATERMARK FOR ts AS ts
) WITH (
    'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json',
    'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'
)
"""

WAYS = [("process", 7, 2), pytest.param(("spark", 50, 2), marks=pytest.mark.spark)]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_bad_messages_go_to_a_topic(kafka: KafkaBroker, tmp_path: Path, way: tuple[str, int, int]) -> None:
    """Good rows and bad messages go their ways in one job, exactly once."""
    topic, good, dead = kafka.create_topic(partitions=2), kafka.create_topic(), kafka.create_topic()
    texts = [
        b"no %d" % n if n % 9 == 0 else json.dumps({"id": n, "price": n / 2}).encode() for n in range(100)
    ]
    kafka.produce(topic, [{"value": text, "partition": n % 2} for n, text in enumerate(texts)])
    on, records, parallelism = way
    sink = (
        "'connector' = 'kafka', 'topic' = '{}', 'properties.bootstrap.servers' = '{}', 'format' = '{}', "
        "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 't'"
    )
    with executing(
        on,
        epoch_records=records,
        parallelism=parallelism,
        state_dir=str(tmp_path),
        clock=ManualClock(1_000_000),
    ):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.execute_sql(ORDERS.format(topic=topic, servers=kafka.bootstrap))
        tables.execute_sql(
            f"CREATE TABLE good (id INT, price DOUBLE) WITH ({sink.format(good, kafka.bootstrap, 'json')})"
        )
        tables.execute_sql(
            "CREATE TABLE dead (message BYTES, about MAP<STRING, BYTES> METADATA FROM 'headers') "
            f"WITH ({sink.format(dead, kafka.bootstrap, 'raw')})"
        )
        both = tables.create_statement_set()
        both.add_insert_sql("INSERT INTO good SELECT id, price FROM orders WHERE error IS NULL")
        both.add_insert_sql(
            "INSERT INTO dead SELECT message, MAP['error', ENCODE(error, 'UTF-8')] FROM orders WHERE error IS NOT NULL"
        )
        both.execute().wait()
    assert sorted(json.loads(m.value())["id"] for m in kafka.read(good)) == [n for n in range(100) if n % 9]
    found = kafka.read(dead)
    assert sorted(m.value() for m in found) == sorted(texts[::9])
    assert all(dict(m.headers())["error"] for m in found)
