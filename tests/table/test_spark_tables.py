"""Tables of Spark: DataFrames in and out, and the connector 'spark'."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, ProgramError, UnsupportedError
from firesteel.spark.session import open_session
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing.execution import executing

pytestmark = pytest.mark.spark
TYPES = (
    "id BIGINT, name STRING, price DECIMAL(10, 2), day DATE, at TIMESTAMP_NTZ, seen TIMESTAMP, "
    "tags ARRAY<STRING>, counts MAP<STRING, INT>, inner STRUCT<a: INT, b: STRING>, raw BINARY, ok BOOLEAN"
)


@pytest.fixture
def spark() -> Iterator[Any]:
    return open_session(None, 2, {})


def session() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def test_a_frame_becomes_a_table_and_a_table_a_frame(spark: Any, tmp_path: Path) -> None:
    moment = dt.datetime(2024, 1, 2, 3, 4, 5, 678901)
    row = (
        1,
        "a",
        Decimal("2.50"),
        dt.date(2024, 1, 2),
        moment,
        moment,
        ["x"],
        {"k": 1},
        (7, "b"),
        b"\0",
        True,
    )
    given = spark.createDataFrame([row, (2, *[None] * 10)], TYPES)
    with executing("process", parallelism=2):
        environment = session()
        table = environment.from_spark(given)
        assert [str(kind) for kind in table.get_resolved_schema().get_column_data_types()][:6] == [
            *("BIGINT", "STRING", "DECIMAL(10, 2)", "DATE", "TIMESTAMP(6)", "TIMESTAMP_LTZ(6)")
        ]
        back = table.to_spark(spark, str(tmp_path))
    assert back.schema.simpleString() == given.schema.simpleString()
    assert sorted(map(str, back.collect())) == sorted(map(str, given.collect()))


def test_an_aggregate_of_a_frame_is_a_frame(spark: Any) -> None:
    with executing("process", parallelism=1):
        environment = session()
        environment.create_temporary_view("given", environment.from_spark(spark.range(10)))
        found = environment.sql_query("SELECT id / 5 AS half, COUNT(*) AS n FROM given GROUP BY id / 5")
        assert sorted(map(tuple, found.to_spark(spark).collect())) == [(0, 5), (1, 5)]
        none = environment.sql_query("SELECT id FROM given WHERE id > 100")
        assert none.to_spark(spark).collect() == []


def test_a_data_source_is_read_and_written(spark: Any, tmp_path: Path) -> None:
    spark.range(3).selectExpr("id", "id * 2 AS twice").write.option("header", True).csv(str(tmp_path / "in"))
    with executing("process", parallelism=2, epoch_records=1):
        environment = session()
        environment.execute_sql(
            "CREATE TABLE given (twice STRING) WITH ('connector' = 'spark', 'format' = 'csv', "
            f"'path' = '{tmp_path / 'in'}', 'option.header' = 'true')"
        )
        for name, mode in (("more", "append"), ("anew", "overwrite")):
            environment.execute_sql(
                f"CREATE TABLE {name} (n INT, note STRING) WITH ('connector' = 'spark', 'format' = 'json', "
                f"'path' = '{tmp_path / 'out'}', 'sink.mode' = '{mode}')"
            )
        written = "SELECT CAST(twice AS INT), 'x' FROM given"
        for target, count in (("INTO more", 3), ("INTO more", 6), ("INTO anew", 3), ("OVERWRITE more", 3)):
            environment.execute_sql(f"INSERT {target} {written}").wait()
            assert spark.read.json(str(tmp_path / "out")).count() == count, target
    found = spark.read.json(str(tmp_path / "out")).collect()
    assert sorted((row["n"], row["note"]) for row in found) == [(0, "x"), (2, "x"), (4, "x")]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ("", ConfigurationError, "requires one of the options 'table' and 'format'"),
        (", 'table' = 'a', 'format' = 'csv'", ConfigurationError, "got both"),
        (", 'table' = 'no_such'", ConnectorError, "requires that Spark can find it"),
        (", 'tabel' = 'a'", ConfigurationError, "tabel"),
    ],
)
def test_what_spark_does_not_have_is_refused(options: str, error: type, message: str, spark: Any) -> None:
    with executing("process", parallelism=1):
        environment = session()
        environment.execute_sql(f"CREATE TABLE t (a INT) WITH ('connector' = 'spark'{options})")
        with pytest.raises(error, match=message):
            environment.execute_sql("SELECT * FROM t")


def test_frames_are_bounded(spark: Any) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    with pytest.raises(ProgramError, match="requires BATCH mode"):
        environment.from_spark(spark.range(1)).to_spark(spark)
    with pytest.raises(ProgramError, match="requires a DataFrame of Spark"):
        environment.from_spark([1])  # type: ignore[arg-type]
    environment.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'spark', 'table' = 'x')")
    with pytest.raises(UnsupportedError, match="cannot be written in STREAMING mode"):
        environment.execute_sql("INSERT INTO t VALUES (1)")
