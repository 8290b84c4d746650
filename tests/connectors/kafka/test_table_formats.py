"""Formats of messages in jobs with a real broker, and a registry that fails now and then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.common.types import RowKind
from harness.faulty_proxy import FaultyProxy
from harness.kafka import KafkaBroker
from harness.registry import SchemaRegistry
from tests.connectors.kafka.test_table_jobs import kafka_table, run

SHOP = str(Path(__file__).parents[1] / "tables" / "flink" / "shop.desc")
COLUMNS = "name STRING, `count` INT, price DOUBLE"
VALUES = "('a', 1, 1.5e0), ('b', 2, 2.5e0), ('é', 3, 0e0)"
ROWS = [("a", 1, 1.5), ("b", 2, 2.5), ("é", 3, 0.0)]
BOUNDED = {"scan.bounded.mode": "latest-offset", "scan.startup.mode": "earliest-offset"}
MESSAGE = {"descriptor-file": SHOP, "message-name": "shop.Item"}


@pytest.fixture
def registry() -> SchemaRegistry:
    return SchemaRegistry()


@pytest.fixture
def url(registry: SchemaRegistry) -> Iterator[str]:
    """The address of a registry that refuses the first two requests."""
    with registry.serving() as address, FaultyProxy(address).serving() as proxy:
        proxy.refuse(2, 503)
        yield proxy.url


def options(form: str, url: str) -> dict[str, str]:
    given: dict[str, str] = {}
    if form.endswith("confluent"):
        given[f"{form}.url"] = url
    if form.startswith("protobuf"):
        given |= {f"{form}.{key}": value for key, value in MESSAGE.items()}
    return {"format": form, **given, **BOUNDED}


@pytest.mark.parametrize(
    "form", ["json", "csv", "avro", "avro-confluent", "json-confluent", "protobuf", "protobuf-confluent"]
)
def test_rows_make_a_round_trip(
    kafka: KafkaBroker, tmp_path: Path, registry: SchemaRegistry, url: str, form: str
) -> None:
    topic = kafka.create_topic(partitions=2)
    table = kafka_table(kafka, topic, "t", COLUMNS, **options(form, url))
    run(tmp_path / "write", table, f"INSERT INTO t VALUES {VALUES}", epoch_records=1)
    rows = run(tmp_path / "read", table, "SELECT * FROM t", epoch_records=2)
    assert sorted(tuple(row[1:]) for row in rows) == ROWS
    if form.endswith("confluent"):
        assert ("POST", f"/subjects/{topic}-value/versions") in registry.asked


def test_changes_make_a_round_trip(
    kafka: KafkaBroker, tmp_path: Path, registry: SchemaRegistry, url: str
) -> None:
    topic = kafka.create_topic(partitions=1)
    form = "debezium-avro-confluent"
    table = kafka_table(kafka, topic, "t", "word STRING, n BIGINT", **options(form, url))
    words = ", ".join(f"('{word}')" for word in ("to", "be", "or", "not", "to", "be"))
    counts = f"INSERT INTO t SELECT w, COUNT(*) FROM (VALUES {words}) AS v (w) GROUP BY w"
    run(tmp_path / "write", table, counts, parallelism=1, epoch_records=1)
    changes = run(tmp_path / "read", table, "SELECT word, n FROM t", epoch_records=2)
    last: dict[object, object] = {}
    for kind, word, n in changes:
        if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            last[word] = n
        else:
            assert last.pop(word) == n
    assert last == {"to": 2, "be": 2, "or": 1, "not": 1}


def test_keys_and_values_have_formats_of_their_own(
    kafka: KafkaBroker, tmp_path: Path, registry: SchemaRegistry, url: str
) -> None:
    topic = kafka.create_topic(partitions=2)
    given = {
        "key.format": "raw",
        "key.fields": "id",
        "key.raw.endianness": "little-endian",
        "value.format": "avro-confluent",
        "value.avro-confluent.url": url,
        "value.fields-include": "EXCEPT_KEY",
        **BOUNDED,
    }
    table = kafka_table(kafka, topic, "t", "id INT, name STRING", **given)
    run(tmp_path / "write", table, "INSERT INTO t VALUES (258, 'x'), (1, CAST(NULL AS STRING))")
    keys = {message.key() for message in kafka.read(topic)}
    assert keys == {b"\x02\x01\x00\x00", b"\x01\x00\x00\x00"}
    rows = run(tmp_path / "read", table, "SELECT id, name FROM t")
    assert {tuple(row[1:]) for row in rows} == {(258, "x"), (1, None)}
    schema = json.loads(registry.text(1))
    assert [field["name"] for field in schema["fields"]] == ["name"]


def test_a_table_is_read_while_its_schema_evolves(kafka: KafkaBroker, tmp_path: Path, url: str) -> None:
    topic = kafka.create_topic(partitions=1)
    given = options("avro-confluent", url)
    old = kafka_table(kafka, topic, "t", "n INT NOT NULL, gone STRING", **given)
    new = kafka_table(kafka, topic, "t", "more DOUBLE, n BIGINT NOT NULL", **given)
    run(tmp_path / "old", old, "INSERT INTO t VALUES (1, 'g')")
    run(tmp_path / "new", new, "INSERT INTO t VALUES (2.5e0, CAST(2 AS BIGINT))")
    run(tmp_path / "again", old, "INSERT INTO t VALUES (3, 'g')")
    rows = run(tmp_path / "read", new, "SELECT n, more FROM t")
    assert sorted(tuple(row[1:]) for row in rows) == [(1, None), (2, 2.5), (3, None)]


@pytest.mark.parametrize(
    ("message", "why"),
    [(b"\x00\x00\x00\x00\x63\x02", "its schema 99 is unknown"), (b"{}", "it has no 5 bytes")],
)
def test_a_message_that_is_bad_is_named(
    kafka: KafkaBroker, tmp_path: Path, url: str, message: bytes, why: str
) -> None:
    topic = kafka.create_topic(partitions=1)
    table = kafka_table(kafka, topic, "t", "n INT", **options("avro-confluent", url))
    run(tmp_path / "write", table, "INSERT INTO t VALUES (1), (2)")
    kafka.produce(topic, [{"value": message}])
    with pytest.raises(FiresteelError, match=why) as error:
        run(tmp_path / "read", table, "SELECT n FROM t")
    assert topic in str(error.value)
    assert "offset 2" in str(error.value)
