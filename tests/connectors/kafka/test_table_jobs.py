"""Jobs of SQL that write and read tables of Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common.types import RowKind
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from harness.kafka import KafkaBroker

GUARANTEES = ["at-least-once", "exactly-once", "none"]


def run(
    directory: Path, *statements: str, parallelism: int = 2, epoch_records: int = 3
) -> list[list[object]]:
    """Execute statements; return the rows of the last one, if it is a query."""
    rows: list[list[object]] = []
    with executing(
        parallelism=parallelism,
        epoch_records=epoch_records,
        state_dir=str(directory),
        clock=ManualClock(1_000_000),
    ):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for statement in statements:
            result = tables.execute_sql(statement)
            if statement.lstrip().startswith("SELECT"):
                with result.collect() as found:
                    rows = [[row.get_row_kind(), *row] for row in found]
            elif statement.lstrip().startswith("INSERT"):
                result.wait()
    return rows


def kafka_table(kafka: KafkaBroker, topic: str, name: str, columns: str, **options: str) -> str:
    given = {"connector": "kafka", "properties.bootstrap.servers": kafka.bootstrap, "topic": topic}
    given |= {key.replace("_", "."): value for key, value in options.items()}
    shown = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({shown})"


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_rows_with_keys_and_metadata(kafka: KafkaBroker, tmp_path: Path, guarantee: str) -> None:
    topic = kafka.create_topic(partitions=2)
    delivery = {"sink.delivery-guarantee": guarantee, "sink.transactional-id-prefix": "t"}
    run(
        tmp_path,
        kafka_table(
            kafka,
            topic,
            "t",
            "id INT, name STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', h MAP<STRING, BYTES> METADATA FROM "
            "'headers'",
            format="json",
            key_format="json",
            **{"key.fields": "id", **delivery},
        ),
        "INSERT INTO t VALUES (1, 'a', TO_TIMESTAMP_LTZ(1000, 3), MAP['x', X'01']), "
        "(2, 'b', TO_TIMESTAMP_LTZ(2000, 3), CAST(NULL AS MAP<STRING, BYTES>)), "
        "(1, 'c', TO_TIMESTAMP_LTZ(3000, 3), MAP['y', X'02'])",
    )
    found = sorted(kafka.read(topic), key=lambda m: m.timestamp()[1])
    assert [(m.key(), m.value(), m.timestamp()[1], m.headers()) for m in found] == [
        (b'{"id":1}', b'{"id":1,"name":"a"}', 1000, [("x", b"\1")]),
        (b'{"id":2}', b'{"id":2,"name":"b"}', 2000, None),
        (b'{"id":1}', b'{"id":1,"name":"c"}', 3000, [("y", b"\2")]),
    ]
    assert found[0].partition() == found[2].partition()


UPSERTS = {
    "connector": "upsert-kafka",
    "key_format": "json",
    "value_format": "json",
    "sink.delivery-guarantee": "exactly-once",
    "sink.transactional-id-prefix": "t",
    "scan.bounded.mode": "latest-offset",
}
COUNTS = "name STRING, n BIGINT, PRIMARY KEY (name) NOT ENFORCED"
WORDS = ", ".join(f"('{word}')" for word in ("to", "be", "or", "not", "to", "be", "to"))


@pytest.mark.parametrize("include", ["ALL", "EXCEPT_KEY"])
@pytest.mark.parametrize("buffered", [False, True])
def test_upserts_make_a_round_trip(kafka: KafkaBroker, tmp_path: Path, include: str, buffered: bool) -> None:
    topic = kafka.create_topic(partitions=3)
    more = {"sink.buffer-flush.max-rows": "10", "sink.buffer-flush.interval": "1 s"} if buffered else {}
    table = kafka_table(
        kafka, topic, "counts", COUNTS, **{**UPSERTS, "value.fields-include": include, **more}
    )
    run(
        tmp_path / "write",
        table,
        f"INSERT INTO counts SELECT w, COUNT(*) FROM (VALUES {WORDS}) AS t (w) GROUP BY w",
        epoch_records=1,
    )
    kafka.produce(topic, [{"key": b'{"name":"or"}', "value": None, "partition": p} for p in range(3)])
    changes = run(tmp_path / "read", table, "SELECT name, n FROM counts", epoch_records=2)
    last: dict[object, object] = {}
    for kind, name, n in changes:
        if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            last[name] = n
        else:
            assert last.pop(name) == n
    assert last == {"to": 3, "be": 2, "not": 1}


def test_rows_that_go_are_tombstones(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = kafka.create_topic()
    run(
        tmp_path,
        kafka_table(kafka, topic, "least", COUNTS, **UPSERTS),
        f"""INSERT INTO least SELECT name, n FROM (
            SELECT w AS name, COUNT(*) AS n FROM (VALUES {WORDS}) AS t (w) GROUP BY w) WHERE n < 2""",
        epoch_records=1,
        parallelism=1,
    )
    last = {m.key(): m.value() for m in kafka.read(topic)}
    assert last == {
        b'{"name":"to"}': None,
        b'{"name":"be"}': None,
        b'{"name":"or"}': b'{"name":"or","n":1}',
        b'{"name":"not"}': b'{"name":"not","n":1}',
    }
