"""HiveCatalog with a metastore that is a process of its own, which others share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.catalog import (
    CatalogDatabase,
    CatalogFunction,
    CatalogPartitionSpec,
    HiveCatalog,
    ObjectPath,
)
from firesteel.testing.execution import executing
from harness.hive_metastore import HiveMetastore, hive_metastore

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.xdist_group("hive"), pytest.mark.timeout(900)]
STORED = "WITH ('connector' = 'hive', 'hive.storage.file-format' = 'orc')"


@pytest.fixture(scope="module")
def server() -> Iterator[HiveMetastore]:
    with hive_metastore() as running:
        yield running


def session(catalog: HiveCatalog) -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.register_catalog("h", catalog)
    environment.use_catalog("h")
    return environment


def rows(environment: TableEnvironment, statement: str) -> list[tuple[object, ...]]:
    with executing("process", parallelism=1):
        return sorted(tuple(row) for row in environment.execute_sql(statement).collect())


def test_what_one_program_makes_another_finds(server: HiveMetastore):
    catalog = HiveCatalog("h", None, server.conf_dir)
    catalog.create_database("shop", CatalogDatabase(), False)
    first, path, x = session(catalog), ObjectPath("shop", "t"), CatalogPartitionSpec({"p": "x"})
    first.use_database("shop")
    first.execute_sql(f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) {STORED}")
    first.execute_sql("CREATE VIEW v AS SELECT a FROM t WHERE p = 'x'")
    first.execute_sql("CREATE TABLE other (a INT) WITH ('connector' = 'blackhole')")
    with executing("process", parallelism=1):
        first.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'x'), (3, 'y')").wait()
        first.execute_sql("ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS FOR COLUMNS a")
    catalog.create_function(ObjectPath("shop", "f"), CatalogFunction("shop.f", "PYTHON"), False)
    again = HiveCatalog("h", "shop", server.conf_dir)
    second = session(again)
    assert rows(second, "SELECT * FROM t") == [(1, "x"), (2, "x"), (3, "y")]
    assert rows(second, "SELECT * FROM v") == [(1,), (2,)]
    assert again.list_tables("shop") == ["other", "t", "v"]
    assert again.list_functions("shop") == ["f"]
    assert again.get_partition_statistics(path, x).get_row_count() == 2
    second.execute_sql("ALTER TABLE t DROP PARTITION (p = 'x')")
    assert catalog.list_partitions(path) == [CatalogPartitionSpec({"p": "y"})]
    assert rows(first, "SELECT * FROM t") == [(3, "y")]
    second.use_database("default")
    catalog.drop_function(ObjectPath("shop", "f"), False)
    second.execute_sql("DROP DATABASE shop CASCADE")
    assert not catalog.database_exists("shop")


@pytest.mark.thorough
def test_a_server_that_was_away_is_found_again(server: HiveMetastore):
    catalog = HiveCatalog("h", None, server.conf_dir)
    catalog.create_database("kept", CatalogDatabase({"a": "b"}), False)
    server.stop()
    with pytest.raises(ConnectorError, match="HiveCatalog 'h' requires that the metastore does it"):
        catalog.get_database("kept")
    server.start()
    assert catalog.get_database("kept").get_properties()["a"] == "b"
    catalog.drop_database("kept", False)
