"""Tables with buckets: what declares them, which catalogs keep them, and which connectors are given them."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common.errors import FiresteelError, ProgramError, SqlError, UnsupportedError
from firesteel.connectors.tables.blackhole import BlackholeConnector
from firesteel.functions.columns.connectors import TableDistribution, TableRequest, TableSink
from firesteel.relational.physical import connecting
from firesteel.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from firesteel.table.catalog.definitions import CatalogBaseTable
from firesteel.table.catalog.property_definitions import properties_of
from firesteel.testing import executing

SCHEMA = Schema.new_builder().column("a", DataTypes.INT()).column("b", DataTypes.STRING()).build()


def session() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def shown(env: TableEnvironment, table: str) -> str:
    with env.execute_sql(f"SHOW CREATE TABLE {table}").collect() as rows:
        return str(next(iter(rows))[0])


def builder() -> TableDescriptor.Builder:
    return TableDescriptor.for_connector("blackhole").schema(SCHEMA)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (builder().distributed_by("a", bucket_count=4), "DISTRIBUTED BY (`a`) INTO 4 BUCKETS"),
        (builder().distributed_by_hash("a", "b"), "DISTRIBUTED BY HASH(`a`, `b`)"),
        (builder().distributed_by_range("b", bucket_count=2), "DISTRIBUTED BY RANGE(`b`) INTO 2 BUCKETS"),
        (builder().distributed_into(3), "DISTRIBUTED INTO 3 BUCKETS"),
    ],
)
def test_a_descriptor_says_how_rows_are_in_buckets(made: TableDescriptor.Builder, said: str) -> None:
    env, descriptor = session(), made.build()
    assert str(descriptor.get_distribution()) == said
    env.create_table("t", descriptor)
    assert said in shown(env, "t").splitlines()


def test_a_descriptor_without_buckets_has_none() -> None:
    assert builder().build().get_distribution() is None
    with pytest.raises(ProgramError, match="requires columns or a number of buckets"):
        builder().distributed_by_hash()
    with pytest.raises(SqlError, match="nowhere"):
        session().create_table("t", builder().distributed_by("nowhere").build())


def test_a_catalog_in_files_keeps_buckets(tmp_path: Path) -> None:
    for _ in range(2):
        env = session()
        env.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{tmp_path}')")
        env.execute_sql("CREATE DATABASE IF NOT EXISTS kept.d")
        env.execute_sql(
            "CREATE TABLE IF NOT EXISTS kept.d.t (a INT) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS "
            "WITH ('connector' = 'blackhole')"
        )
        assert "DISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS" in shown(env, "kept.d.t")


def test_a_catalog_of_properties_refuses_buckets() -> None:
    table = CatalogBaseTable(SCHEMA, distribution=TableDistribution(None, (), 3))
    with pytest.raises(UnsupportedError, match="a table with buckets cannot be kept in this catalog"):
        properties_of(table)


def test_a_materialized_table_has_no_buckets(tmp_path: Path) -> None:
    env = session()
    env.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{tmp_path}')")
    env.execute_sql("CREATE DATABASE kept.d")
    with pytest.raises(FiresteelError, match="DISTRIBUTED BY of a materialized table"):
        env.execute_sql(
            "CREATE MATERIALIZED TABLE kept.d.m DISTRIBUTED BY (a) INTO 2 BUCKETS "
            "FRESHNESS = INTERVAL '1' DAY AS SELECT 1 AS a"
        )


class Buckets(BlackholeConnector):
    buckets = True

    def __init__(self) -> None:
        self.asked: list[TableDistribution | None] = []

    def sink(self, table: TableRequest) -> TableSink:
        self.asked.append(table.distribution)
        return super().sink(table)


def test_a_connector_with_buckets_is_told_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    env, connector = session(), Buckets()
    env.create_table("t", builder().distributed_by_hash("a", bucket_count=2).build())
    with pytest.raises(UnsupportedError, match="connector 'blackhole' has no buckets"):
        env.execute_sql("INSERT INTO t VALUES (1, 'x')")
    monkeypatch.setattr(connecting, "connector_of", lambda name, who: connector)
    with executing():
        env.execute_sql("INSERT INTO t VALUES (1, 'x')").wait()
    assert connector.asked == [TableDistribution("HASH", ("a",), 2)]
