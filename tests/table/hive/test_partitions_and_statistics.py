"""Partitions in a catalog of Hive, and what it knows of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.functions.columns.statistics import ColumnStatistics
from firesteel.table.catalog import (
    CatalogColumnStatistics,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    HiveCatalog,
    ObjectPath,
)
from firesteel.testing.execution import executing
from tests.table.hive.programs import STORED, insert, rows, session

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("hive")]


def test_partitions_are_made_changed_and_dropped(catalog: HiveCatalog, tmp_path: Path):
    environment, path = session(catalog), ObjectPath("test", "t")
    environment.execute_sql(
        f"CREATE TABLE t (a INT, p INT, q STRING) PARTITIONED BY (p, q) {STORED.format('orc')}"
    )
    environment.execute_sql(
        f"ALTER TABLE t ADD PARTITION (p = 1, q = 'a/b') WITH ('hive.location-uri' = '{tmp_path / 'there'}', 'k' = 'v')"
    )
    one, two = CatalogPartitionSpec({"p": "1", "q": "a/b"}), CatalogPartitionSpec({"q": "c", "p": "2"})
    catalog.create_partition(path, two, CatalogPartition({}, "two"), False)
    catalog.create_partition(path, two, CatalogPartition({}, "three"), True)
    assert {*catalog.list_partitions(path)} == {one, two}
    assert catalog.list_partitions(path, CatalogPartitionSpec({"p": "2"})) == [two]
    found = catalog.get_partition(path, one)
    assert found.get_properties()["k"] == "v"
    assert found.get_properties()["hive.location-uri"].endswith("/there")
    catalog.alter_partition(path, two, CatalogPartition({"k": "w"}, "other"), False)
    changed = catalog.get_partition(path, two)
    assert (changed.get_comment(), changed.get_properties()["k"]) == ("other", "w")
    catalog.drop_partition(path, two, False)
    catalog.drop_partition(path, two, True)
    assert catalog.list_partitions(path) == [one]
    assert (catalog.partition_exists(path, one), catalog.partition_exists(path, two)) == (True, False)


def test_partitions_that_cannot_be_are_refused(catalog: HiveCatalog):
    environment = session(catalog)
    environment.execute_sql(f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) {STORED.format('orc')}")
    environment.execute_sql(f"CREATE TABLE plain (a INT) {STORED.format('orc')}")
    environment.execute_sql(
        "CREATE TABLE other (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'blackhole')"
    )
    path, one = ObjectPath("test", "t"), CatalogPartitionSpec({"p": "x"})
    catalog.create_partition(path, one, CatalogPartition(), False)
    for name, spec, message in (
        ("t", one, "requires a name that no other partition has"),
        ("t", CatalogPartitionSpec({"q": "x"}), "requires values of the columns p"),
        ("plain", one, "requires a table that is PARTITIONED BY"),
        ("other", one, "has no partitions: it is no table of Hive"),
    ):
        with pytest.raises(FiresteelError, match=message):
            catalog.create_partition(ObjectPath("test", name), spec, CatalogPartition(), False)
    with pytest.raises(ProgramError, match="requires a partition that exists"):
        catalog.get_partition(path, CatalogPartitionSpec({"p": "y"}))
    with pytest.raises(ProgramError, match="requires values of the columns p"):
        catalog.list_partitions(path, CatalogPartitionSpec({"a": "1"}))


def test_statistics_of_a_table_are_kept_as_hive_has_them(catalog: HiveCatalog, conf_dir: str):
    environment, path = session(catalog), ObjectPath("test", "t")
    environment.execute_sql(
        "CREATE TABLE t (a INT, b STRING, c DATE, d DECIMAL(10, 2), e DOUBLE, f BOOLEAN, g BYTES) "
        f"{STORED.format('orc')}"
    )
    insert(
        environment,
        "INSERT INTO t VALUES (1, 'x', DATE '2024-01-01', -1.25, 0.5, TRUE, X'00'), "
        "(5, 'x', DATE '2024-02-01', 3.5, 1.5, FALSE, X'01'), (CAST(NULL AS INT), CAST(NULL AS STRING), "
        "CAST(NULL AS DATE), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS DOUBLE), CAST(NULL AS BOOLEAN), "
        "CAST(NULL AS BYTES))",
    )
    with executing("process", parallelism=1):
        environment.execute_sql("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS")
    again = HiveCatalog("h", "test", conf_dir)
    assert again.get_table_statistics(path).get_row_count() == 3
    known = again.get_table_column_statistics(path).get_column_statistics_data()
    assert known["a"] == ColumnStatistics(2, 1, 5, 1)
    assert known["b"] == ColumnStatistics(1, nulls=1)
    assert [str(known["c"].low), str(known["d"].low), str(known["d"].high)] == ["2024-01-01", "-1.25", "3.50"]
    assert (known["e"].low, known["e"].high, known["g"].nulls) == (0.5, 1.5, 1)
    assert "f" not in known
    catalog.alter_table_statistics(path, CatalogTableStatistics(9, 2, 100, 200), False)
    found = catalog.get_table_statistics(path)
    assert (found.get_row_count(), found.get_raw_data_size()) == (9, 200)
    assert rows(session(again), "SELECT COUNT(*) AS n FROM t") == [(3,)]


def test_statistics_of_partitions_are_kept(catalog: HiveCatalog):
    environment, path = session(catalog), ObjectPath("test", "t")
    environment.execute_sql(f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) {STORED.format('orc')}")
    insert(environment, "INSERT INTO t VALUES (1, 'x'), (2, 'x'), (3, 'y')")
    with executing("process", parallelism=1):
        environment.execute_sql("ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS FOR COLUMNS a")
    x, y = CatalogPartitionSpec({"p": "x"}), CatalogPartitionSpec({"p": "y"})
    assert [one.get_row_count() for one in catalog.bulk_get_partition_statistics(path, [x, y])] == [2, 1]
    known = catalog.get_partition_column_statistics(path, x).get_column_statistics_data()
    assert known == {"a": ColumnStatistics(2, 1, 2, 0)}
    assert catalog.get_table_statistics(path).get_row_count() == -1
    assert catalog.get_table_column_statistics(path) == CatalogColumnStatistics()
    with pytest.raises(ProgramError, match="requires a table without partitions"):
        catalog.alter_table_column_statistics(path, CatalogColumnStatistics({}), False)
