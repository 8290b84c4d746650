"""Rows of the tables of Hive."""

from __future__ import annotations

import pytest

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.spark.hive.sessions import hive_session
from firesteel.table.catalog import HiveCatalog
from firesteel.testing.execution import executing
from tests.table.hive.programs import STORED, insert, rows, session

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("hive")]


def test_rows_of_each_type_are_written_and_read(catalog: HiveCatalog, conf_dir: str):
    environment = session(catalog)
    values = (
        "CAST(1 AS TINYINT), 2, CAST(3 AS BIGINT), TRUE, CAST(0.5 AS DOUBLE), 1.25, 'x', CAST('ab' AS CHAR(2)), "
        "DATE '2024-01-01', TIMESTAMP '2024-03-31 02:30:00.123456', X'00FF', "
        "ARRAY[1, 2], MAP['k', 1], CAST(ROW(1, 'y') AS ROW<x INT, y STRING>)"
    )
    for form in ("parquet", "orc", "textfile"):
        environment.execute_sql(
            f"CREATE TABLE {form} (a TINYINT, b INT, c BIGINT, d BOOLEAN, e DOUBLE, f DECIMAL(10, 2), "
            "g STRING, h CHAR(2), i DATE, j TIMESTAMP(9), k BYTES, l ARRAY<INT>, m MAP<STRING, INT>, "
            f"n ROW<x INT, y STRING>) {STORED.format(form)}"
        )
        insert(environment, f"INSERT INTO {form} SELECT {values}")
    expected = rows(environment, f"SELECT {values}")
    for form in ("parquet", "orc", "textfile"):
        assert rows(environment, f"SELECT * FROM {form}") == expected, form
        moment = hive_session(conf_dir, "test").table(f"test.{form}").selectExpr("CAST(j AS STRING)").first()
        assert moment is not None
        assert moment[0] == "2024-03-31 02:30:00.123456", form


def test_rows_find_their_partitions(catalog: HiveCatalog, conf_dir: str):
    environment = session(catalog)
    environment.execute_sql(
        f"CREATE TABLE t (a INT, weekday STRING) PARTITIONED BY (weekday) {STORED.format('parquet')}"
    )
    insert(environment, "INSERT INTO t VALUES (1, 'mon'), (2, 'tue'), (3, 'tue')", parallelism=2)
    insert(environment, "INSERT INTO t PARTITION (weekday = 'wed') SELECT a FROM t WHERE a = 1")
    insert(
        environment, "INSERT OVERWRITE t SELECT a + 10, weekday FROM t WHERE weekday = 'tue'", parallelism=2
    )
    assert sorted(rows(environment, "SELECT * FROM t")) == [(1, "mon"), (1, "wed"), (12, "tue"), (13, "tue")]
    assert rows(environment, "SHOW PARTITIONS t") == [("weekday=mon",), ("weekday=tue",), ("weekday=wed",)]
    of_spark = hive_session(conf_dir, "test").table("test.t").where("weekday = 'tue'").collect()
    assert sorted(row["a"] for row in of_spark) == [12, 13]
    environment.execute_sql("ALTER TABLE t DROP PARTITION (weekday = 'tue')")
    assert sorted(rows(environment, "SELECT * FROM t")) == [(1, "mon"), (1, "wed")]


def test_an_unpartitioned_table_is_overwritten_whole(catalog: HiveCatalog):
    environment = session(catalog)
    environment.execute_sql(f"CREATE TABLE t (a INT) {STORED.format('orc')}")
    insert(environment, "INSERT INTO t VALUES 1, 2")
    insert(environment, "INSERT OVERWRITE t SELECT a * 10 FROM t WHERE a > 1")
    assert rows(environment, "SELECT * FROM t") == [(20,)]


def test_truncating_is_refused_with_what_empties_a_table(catalog: HiveCatalog):
    environment = session(catalog)
    environment.execute_sql(f"CREATE TABLE t (a INT) {STORED.format('orc')}")
    environment.execute_sql(f"CREATE TABLE u (a INT, p INT) PARTITIONED BY (p) {STORED.format('orc')}")
    insert(environment, "INSERT INTO t VALUES 1, 2")
    with pytest.raises(UnsupportedError, match=r"(?s)cannot be truncated.* as in Flink.*INSERT OVERWRITE"):
        environment.execute_sql("TRUNCATE TABLE t")
    with pytest.raises(UnsupportedError, match=r"(?s)cannot be truncated.* as in Flink.*DROP PARTITION"):
        environment.execute_sql("TRUNCATE TABLE u")
    assert sorted(rows(environment, "SELECT * FROM t")) == [(1,), (2,)]
    insert(environment, "INSERT OVERWRITE t SELECT a FROM t WHERE FALSE")
    assert rows(environment, "SELECT * FROM t") == []


def test_jobs_on_spark_read_and_write(catalog: HiveCatalog):
    environment = session(catalog)
    environment.execute_sql(f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) {STORED.format('orc')}")
    with executing("spark", parallelism=2, epoch_records=2):
        environment.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'x'), (3, 'y')").wait()
        environment.execute_sql("INSERT OVERWRITE t SELECT a, 'y' FROM t WHERE a > 9").wait()
        found = environment.execute_sql("SELECT p, SUM(a) AS s FROM t GROUP BY p").collect()
        assert sorted(map(tuple, found)) == [("x", 3), ("y", 3)]
    with pytest.raises(ConfigurationError, match="requires a metastore of Hive"):
        HiveCatalog("other")


def test_tables_of_spark_are_read_with_their_columns(catalog: HiveCatalog, conf_dir: str):
    spark = hive_session(conf_dir, "test")
    spark.sql("CREATE TABLE test.own (`Id` BIGINT, at TIMESTAMP) USING json")
    spark.sql("INSERT INTO test.own VALUES (1, TIMESTAMP '2024-01-01 00:00:00')")
    spark.sql("CREATE TABLE test.hives (id BIGINT, name VARCHAR(3)) STORED AS orc")
    spark.sql("INSERT INTO test.hives VALUES (1, 'abc')")
    environment = session(catalog)
    assert rows(environment, "DESCRIBE own")[0][:2] == ("Id", "BIGINT")
    assert rows(environment, "SELECT `Id` FROM own") == [(1,)]
    assert rows(environment, "SELECT * FROM hives WHERE name = 'abc'") == [(1, "abc")]


def test_a_table_is_bounded_input_of_a_stream(catalog: HiveCatalog):
    session(catalog).execute_sql(f"CREATE TABLE t (a INT) {STORED.format('orc')}")
    insert(session(catalog), "INSERT INTO t VALUES 1, 2")
    environment = session(catalog, streaming=True)
    found = rows(environment, "SELECT SUM(a) AS s FROM t")
    assert found[-1] == (3,)
    with pytest.raises(UnsupportedError, match="cannot be written in STREAMING mode"):
        environment.execute_sql("INSERT INTO t VALUES 3")
    with pytest.raises(UnsupportedError, match="cannot be read as it grows"):
        environment.execute_sql("SELECT * FROM t /*+ OPTIONS('streaming-source.enable' = 'true') */")
