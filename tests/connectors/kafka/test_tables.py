"""Tables of topics: SQL over a real broker."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from harness.kafka import KafkaBroker

WAYS = [
    ("process", None, 1),
    ("process", 7, 2),
    ("process", 40, 3),
    pytest.param(("spark", 50, 2), marks=[pytest.mark.spark, pytest.mark.long]),
]


def query(
    kafka: KafkaBroker,
    columns: str,
    text: str,
    way: tuple[str, int | None, int] = ("process", None, 1),
    **options: str,
) -> list[Any]:
    """Return the rows of a query over the table t."""
    on, records, parallelism = way
    given = {
        "connector": "kafka",
        "properties.bootstrap.servers": kafka.bootstrap,
        "scan.startup.mode": "earliest-offset",
        "scan.bounded.mode": "latest-offset",
        **{key.replace("__", "-"): value for key, value in options.items()},
    }
    told = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    with executing(on, epoch_records=records, parallelism=parallelism):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        tables.execute_sql(f"CREATE TABLE t ({columns}) WITH ({told})")
        return [tuple(row) for row in tables.execute_sql(text).collect()]


def rows(kafka: KafkaBroker, found: Sequence[Any], partitions: int = 1) -> str:
    topic = kafka.create_topic(partitions=partitions)
    kafka.produce(
        topic, [{"value": json.dumps(row), "partition": n % partitions} for n, row in enumerate(found)]
    )
    return topic


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_json(kafka: KafkaBroker, way: tuple[str, int | None, int]) -> None:
    topic = rows(kafka, [{"id": n, "name": f"n{n}", "more": [n]} for n in range(100)], 3)
    found = query(
        kafka,
        "id INT, name STRING",
        "SELECT UPPER(name), id FROM t WHERE MOD(id, 3) = 0",
        way,
        topic=topic,
        format="json",
    )
    assert sorted(found, key=lambda row: row[1]) == [(f"N{n}", n) for n in range(0, 100, 3)]


def test_metadata(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic(partitions=2)
    kafka.produce(
        topic,
        [
            {
                "value": b'{"n": 1}',
                "partition": 1,
                "timestamp": 1_700_000_000_123,
                "headers": [("a", b"x"), ("b", b"y"), ("a", b"z")],
            },
            {"value": b'[{"n": 2}, {"n": 3}]', "partition": 1, "timestamp": 1_700_000_000_456},
            {"value": None, "partition": 1},
            {"value": b'{"n": 4}', "partition": 1, "timestamp": 1_700_000_000_789},
        ],
    )
    columns = (
        "n INT, topic STRING METADATA VIRTUAL, p INT METADATA FROM 'partition', o BIGINT METADATA FROM 'offset', "
        "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', kind STRING METADATA FROM 'timestamp-type', "
        "headers MAP<STRING, BYTES> METADATA, e INT METADATA FROM 'leader-epoch'"
    )
    found = query(
        kafka, columns, "SELECT n, topic, p, o, ts, kind, headers, e FROM t", topic=topic, format="json"
    )
    times = [dt.datetime.fromtimestamp(1_700_000_000 + ms / 1000, dt.UTC) for ms in (123, 456, 456, 789)]
    headers: list[dict[str, bytes]] = [{"a": b"z", "b": b"y"}, {}, {}, {}]
    assert [(*row[:4], *row[5:]) for row in found] == [
        (n, topic, 1, offset, "CreateTime", headers[n - 1], 0)
        for n, offset in ((1, 0), (2, 1), (3, 1), (4, 3))
    ]
    assert [
        round(row[4].timestamp() * 1000) if hasattr(row[4], "timestamp") else row[4].to_epoch_milli()
        for row in found
    ] == [round(time.timestamp() * 1000) for time in times]
    assert query(kafka, columns, "SELECT SUM(o) FROM t", topic=topic, format="json")[-1] == (5,)


@pytest.mark.parametrize("include", ["ALL", "EXCEPT_KEY"])
def test_keys(kafka: KafkaBroker, include: str) -> None:
    topic = kafka.create_topic()
    whole = include == "ALL"
    kafka.produce(
        topic,
        [
            {
                "key": json.dumps({"k": n, "j": "x"}),
                "value": json.dumps({"k": n + 100, "j": "y", "v": n} if whole else {"v": n}),
            }
            for n in range(3)
        ]
        + [{"key": None, "value": b'{"v": 9}'}],
    )
    found = query(
        kafka,
        "v INT, j STRING, k INT, o BIGINT METADATA FROM 'offset'",
        "SELECT * FROM t",
        topic=topic,
        **{
            "key.format": "json",
            "key.fields": "k;j",
            "value.format": "json",
            "value.fields-include": include,
        },
    )
    expected = [(n, "y", n + 100, n) if whole else (n, "x", n, n) for n in range(3)]
    assert found == expected


def test_keys_with_a_prefix_and_formats_of_their_own(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"key": f"k{n}", "value": f"{n},{n + 1}"} for n in range(3)])
    found = query(
        kafka,
        "k_id STRING, id INT, other INT",
        "SELECT id, k_id, other FROM t",
        topic=topic,
        **{
            "key.format": "raw",
            "key.fields": "k_id",
            "key.fields-prefix": "k_",
            "value.format": "csv",
            "value.fields-include": "EXCEPT_KEY",
        },
    )
    assert found == [(n, f"k{n}", n + 1) for n in range(3)]


def test_changes(kafka: KafkaBroker) -> None:
    messages: list[Any] = [
        {"before": None, "after": {"id": 1, "n": 10}, "op": "c", "source": {"table": "a"}},
        {"before": {"id": 1, "n": 10}, "after": {"id": 1, "n": 11}, "op": "u", "source": {"table": "a"}},
        {"before": None, "after": {"id": 2, "n": 5}, "op": "c", "source": {"table": "b"}},
        {"before": {"id": 2, "n": 5}, "after": None, "op": "d", "source": {"table": "b"}},
    ]
    topic = rows(kafka, messages)
    columns = "id INT, n INT, o BIGINT METADATA FROM 'offset', s STRING METADATA FROM 'value.source.table'"
    found = query(kafka, columns, "SELECT SUM(n) FROM t", topic=topic, format="debezium-json")
    assert found[-1] == (11,)
    assert query(kafka, columns, "SELECT DISTINCT s FROM t", topic=topic, format="debezium-json")[0] == ("a",)


def test_a_message_that_is_no_row_is_named(kafka: KafkaBroker) -> None:
    topic = rows(kafka, [{"n": n} for n in range(20)], 2)
    kafka.produce(topic, [{"value": '{"n": "many"}', "partition": 1}])
    expected = (
        rf"the message at offset 10 of partition 1 of topic '{topic}' requires a message that is of the table"
    )
    with pytest.raises(ConnectorError, match=expected):
        query(kafka, "n INT", "SELECT n FROM t", ("process", 7, 2), topic=topic, format="json")
    found = query(
        kafka, "n INT", "SELECT n FROM t", topic=topic, format="json", **{"json.ignore-parse-errors": "true"}
    )
    assert sorted(row[0] for row in found if row[0] is not None) == [*range(20)]


def test_starts_and_ends(kafka: KafkaBroker) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, [{"value": str(n), "timestamp": 1_700_000_000_000 + n} for n in range(10)])

    def found(**options: str) -> list[int]:
        return [
            int(row[0])
            for row in query(kafka, "n STRING", "SELECT n FROM t", topic=topic, format="raw", **options)
        ]

    time = {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1700000000004"}
    given = {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:0,offset:7"}
    until = {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "1700000000006"}
    stop = {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:8"}
    assert found() == [*range(10)]
    assert found(**time) == [*range(4, 10)]
    assert found(**given) == [7, 8, 9]
    assert found(**until) == [*range(6)]
    assert found(**given, **stop) == [7]
    assert found(**{"scan.startup.mode": "latest-offset"}) == []


def test_topics_of_a_pattern(kafka: KafkaBroker) -> None:
    first = rows(kafka, [{"n": 1}])
    kafka.create_topic(f"{first}.b")
    kafka.produce(f"{first}.b", ['{"n": 2}'])
    both = {"topic-pattern": rf"{first}(\.b)?"}
    text = "SELECT topic, n FROM t"
    columns = "n INT, topic STRING METADATA VIRTUAL"
    assert sorted(query(kafka, columns, text, format="json", **both)) == [(first, 1), (f"{first}.b", 2)]
    named = {"topic": f"{first};{first}.b"}
    assert sorted(query(kafka, columns, text, format="json", **named)) == [(first, 1), (f"{first}.b", 2)]
