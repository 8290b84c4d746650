"""HiveCatalog on a real metastore: Derby in a directory, in Spark's JVM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from firesteel.common.errors import (
    ConfigurationError,
    ConnectorError,
    FiresteelError,
    ProgramError,
    UnsupportedError,
)
from firesteel.functions.columns.statistics import ColumnStatistics
from firesteel.spark.hive.metastore import Metastore
from firesteel.spark.hive.objects import VIEW, HiveColumn, HiveStorage, HiveTable
from firesteel.spark.hive.sessions import hive_session
from firesteel.spark.session import open_session
from firesteel.table import DataTypes, EnvironmentSettings, Schema, TableEnvironment
from firesteel.table.catalog import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    HiveCatalog,
    ObjectPath,
)
from firesteel.table.udf import udf
from firesteel.testing.execution import executing

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("hive")]
SITE = """<configuration>
<property><name>javax.jdo.option.ConnectionURL</name><value>jdbc:derby:;databaseName={0}/metastore;create=true</value></property>
<property><name>hive.metastore.warehouse.dir</name><value>{0}/warehouse</value></property>
<property><name>hive.metastore.schema.verification</name><value>false</value></property>
<property><name>datanucleus.schema.autoCreateAll</name><value>true</value></property>
</configuration>
"""
STORED = "WITH ('connector' = 'hive', 'hive.storage.file-format' = '{}')"

twice = udf(lambda number: 2 * number, result_type=DataTypes.INT())


@pytest.fixture(scope="module")
def conf_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("hive")
    jvm: Any = open_session(None, 2, {}).sparkContext._jvm
    jvm.java.lang.System.setProperty("derby.stream.error.file", f"{directory}/derby.log")
    (directory / "hive-site.xml").write_text(SITE.format(directory))
    return str(directory)


@pytest.fixture
def catalog(conf_dir: str, request: pytest.FixtureRequest) -> Iterator[HiveCatalog]:
    """A catalog with an empty database of the test's name, `test`, in use."""
    made = HiveCatalog("h", None, conf_dir)
    _remove(made)
    made.create_database("test", CatalogDatabase(), False)
    yield HiveCatalog("h", "test", conf_dir)
    _remove(made)


def _remove(catalog: HiveCatalog) -> None:
    if not catalog.database_exists("test"):
        return
    for name in catalog.list_tables("test"):
        catalog.drop_table(ObjectPath("test", name), False)
    for name in catalog.list_functions("test"):
        catalog.drop_function(ObjectPath("test", name), False)
    catalog.drop_database("test", False)


def session(catalog: HiveCatalog, *, streaming: bool = False) -> TableEnvironment:
    settings = EnvironmentSettings.in_streaming_mode if streaming else EnvironmentSettings.in_batch_mode
    environment = TableEnvironment.create(settings())
    environment.register_catalog("h", catalog)
    environment.use_catalog("h")
    return environment


def rows(environment: TableEnvironment, statement: str) -> list[tuple[object, ...]]:
    with executing("process", parallelism=1):
        return [tuple(row) for row in environment.execute_sql(statement).collect()]


def insert(environment: TableEnvironment, statement: str, parallelism: int = 1) -> None:
    with executing("process", parallelism=parallelism, epoch_records=1 if parallelism > 1 else None):
        environment.execute_sql(statement).wait()


# --- databases ---


def test_databases_are_made_changed_and_dropped(catalog: HiveCatalog, conf_dir: str):
    environment = session(catalog)
    environment.execute_sql("CREATE DATABASE more COMMENT 'a shop' WITH ('a' = 'b')")
    environment.execute_sql("ALTER DATABASE more SET ('a' = 'c', 'd' = 'e')")
    found = HiveCatalog("other", "more", conf_dir).get_database("more")
    assert (found.get_comment(), found.get_properties()["a"], found.get_properties()["d"]) == (
        "a shop",
        "c",
        "e",
    )
    assert found.get_properties()["hive.database.location-uri"].endswith("/warehouse/more.db")
    assert rows(environment, "SHOW DATABASES") == [("default",), ("more",), ("test",)]
    environment.execute_sql("CREATE TABLE more.t (a INT) WITH ('connector' = 'print')")
    with pytest.raises(ProgramError, match="requires a database without tables"):
        catalog.drop_database("more", False)
    environment.execute_sql("DROP DATABASE more CASCADE")
    assert not catalog.database_exists("more")
    catalog.drop_database("more", True)
    with pytest.raises(ProgramError, match="requires a database that exists"):
        catalog.drop_database("more", False)


# --- other tables, and views ---


def test_other_tables_are_kept_between_programs(catalog: HiveCatalog, conf_dir: str):
    first = session(catalog)
    first.execute_sql(
        "CREATE TABLE t (id BIGINT NOT NULL COMMENT 'it''s', `At` TIMESTAMP(3), "
        "off BIGINT METADATA FROM 'offset' VIRTUAL, twice AS id * 2, WATERMARK FOR `At` AS `At` - INTERVAL '5' SECOND, "
        "PRIMARY KEY (id) NOT ENFORCED) COMMENT 'orders' PARTITIONED BY (id) "
        "WITH ('connector' = 'kafka', 'topic' = 't')"
    )
    said = rows(first, "SHOW CREATE TABLE t")
    second = session(HiveCatalog("h", "test", conf_dir))
    assert rows(second, "SHOW CREATE TABLE t") == said
    kept = Metastore(conf_dir, "test").table("test", "t")
    assert kept is not None
    assert kept.columns == ()
    assert kept.parameters["flink.connector"] == "kafka"
    assert kept.parameters["flink.schema.0.name"] == "id"
    assert "is_generic" not in kept.parameters
    second.execute_sql("ALTER TABLE t SET ('topic' = 'u')")
    second.execute_sql("ALTER TABLE t RENAME TO Renamed")
    assert catalog.get_table(ObjectPath("test", "renamed")).get_options() == {
        "connector": "kafka",
        "topic": "u",
    }
    second.execute_sql("DROP TABLE renamed")
    assert catalog.list_tables("test") == []


def test_tables_that_flink_has_kept_are_read(catalog: HiveCatalog, conf_dir: str):
    parameters = {
        "flink.connector": "datagen",
        "flink.number-of-rows": "2",
        "flink.fields.a.kind": "sequence",
        "flink.fields.a.start": "1",
        "flink.fields.a.end": "2",
        "flink.schema.0.name": "a",
        "flink.schema.0.data-type": "INT",
        "flink.schema.1.name": "b",
        "flink.schema.1.expr": "`a` + 1",
        "flink.schema.1.data-type": "INT",
        "transient_lastDdlTime": "1",
    }
    Metastore(conf_dir, "test").create_table("test", "t", HiveTable(parameters), HiveStorage())
    assert rows(session(catalog), "SELECT * FROM t") == [(1, 2), (2, 3)]


def test_views_are_kept_with_the_names_that_they_were_made_with(catalog: HiveCatalog, conf_dir: str):
    first = session(catalog)
    options = (
        "'number-of-rows' = '2', 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '2'"
    )
    first.execute_sql(f"CREATE TABLE t (a INT) WITH ('connector' = 'datagen', {options})")
    first.execute_sql("CREATE VIEW v COMMENT 'all' AS SELECT *, a + 1 AS b FROM t")
    second = session(HiveCatalog("h", "default", conf_dir))
    assert rows(second, "SELECT * FROM test.v") == [(1, 2), (2, 3)]
    assert catalog.list_views("test") == ["v"]
    assert catalog.get_table(ObjectPath("test", "v")).get_comment() == "all"
    with pytest.raises(FiresteelError, match="requires a table"):
        second.execute_sql("DROP TABLE test.v")
    second.execute_sql("ALTER VIEW test.v AS SELECT a FROM test.t")
    assert rows(first, "SELECT * FROM v") == [(1,), (2,)]
    second.execute_sql("DROP VIEW test.v")
    with pytest.raises(UnsupportedError, match="cannot be kept between programs"):
        first.create_view("w", first.from_elements([(1,)], ["a"]))


def test_views_of_hive_are_read_as_flinks_sql(catalog: HiveCatalog, conf_dir: str):
    session(catalog).execute_sql(f"CREATE TABLE t (a INT) {STORED.format('orc')}")
    text = "select `t`.`a` from `test`.`t`"
    view = HiveTable({}, (HiveColumn("a", "int"),), kind=VIEW, texts=("select * from t", text))
    Metastore(conf_dir, "test").create_table("test", "v", view, HiveStorage())
    assert catalog.list_views("test") == ["v"]
    assert rows(session(catalog), "SELECT * FROM v") == []


# --- tables of Hive ---


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


def test_options_say_how_a_table_is_stored(catalog: HiveCatalog, conf_dir: str, tmp_path: Path):
    environment = session(catalog)
    environment.execute_sql(
        "CREATE TABLE t (a INT, b ARRAY<STRING>) COMMENT 'lines' "
        "WITH ('connector' = 'hive', 'hive.is-external' = 'true', "
        f"'hive.location-uri' = '{tmp_path / 't'}', 'hive.serde.info.prop.field.delim' = ';', "
        "'hive.serde.info.prop.collection.delim' = '|', 'mine' = 'x')"
    )
    (tmp_path / "t").mkdir(exist_ok=True)
    (tmp_path / "t" / "lines").write_text("1;x|y\n2;z\n")
    assert sorted(rows(environment, "SELECT * FROM t")) == [(1, ["x", "y"]), (2, ["z"])]
    found = catalog.get_table(ObjectPath("test", "t"))
    assert (found.get_comment(), found.get_options()["mine"]) == ("lines", "x")
    environment.execute_sql("ALTER TABLE t SET ('mine' = 'y')")
    kept = Metastore(conf_dir, "test").table("test", "t")
    assert kept is not None
    assert (kept.parameters["mine"], kept.kind) == ("y", "EXTERNAL_TABLE")
    assert not {"connector", "hive.table", "hive.conf-dir"} & {*kept.parameters}
    environment.execute_sql("DROP TABLE t")
    assert (tmp_path / "t" / "lines").exists()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a INT NOT NULL", "column 'a' cannot be NOT NULL"),
        ("a TIMESTAMP(3)", r"cannot have this type in a table of Hive; got TIMESTAMP\(3\)"),
        ("a INT, b AS a + 1", "has physical columns alone; got b"),
        ("a INT, t TIMESTAMP(3), WATERMARK FOR t AS t", "has no watermark and no primary key"),
    ],
)
def test_what_tables_of_hive_have_not_is_refused(columns: str, message: str, catalog: HiveCatalog):
    with pytest.raises(FiresteelError, match=message):
        session(catalog).execute_sql(f"CREATE TABLE t ({columns}) {STORED.format('orc')}")
    assert catalog.list_tables("test") == []


def test_what_cannot_become_something_else_is_refused(catalog: HiveCatalog):
    environment, path = session(catalog), ObjectPath("test", "t")
    with pytest.raises(FiresteelError, match="PARTITIONED BY to be the last ones"):
        environment.execute_sql(f"CREATE TABLE t (p STRING, a INT) PARTITIONED BY (p) {STORED.format('orc')}")
    environment.execute_sql(f"CREATE TABLE t (a INT) {STORED.format('orc')}")
    columns = Schema.new_builder().column("a", "INT").build()
    for other in (
        CatalogBaseTable.create_table(columns, [], {"connector": "print"}),
        CatalogBaseTable.create_view("SELECT 1", "SELECT 1", columns, {}),
        CatalogBaseTable.create_table(
            columns, [], {"connector": "hive", "hive.storage.file-format": "parquet"}
        ),
    ):
        with pytest.raises(UnsupportedError, match="cannot change whether something is a table of Hive"):
            catalog.alter_table(path, other, False)
    with pytest.raises(ProgramError, match="requires a name that no other table or view has"):
        catalog.create_table(path, CatalogBaseTable.create_table(columns), False)
    catalog.create_table(path, CatalogBaseTable.create_table(columns), True)
    with pytest.raises(ProgramError, match="requires a table or view that exists"):
        catalog.get_table(ObjectPath("test", "none"))
    catalog.drop_table(ObjectPath("test", "none"), True)
    catalog.rename_table(ObjectPath("test", "none"), "some", True)
    catalog.alter_table(ObjectPath("test", "none"), CatalogBaseTable.create_table(columns), True)
    maintained = replace(CatalogBaseTable.create_table(columns), maintenance=cast("Any", object()))
    with pytest.raises(UnsupportedError, match="cannot keep materialized tables"):
        catalog.create_table(ObjectPath("test", "m"), maintained, False)


# --- partitions ---


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


# --- functions ---


def test_functions_are_kept_between_programs(catalog: HiveCatalog, conf_dir: str):
    session(catalog).execute_sql(
        "CREATE FUNCTION Twice AS 'tests.table.functions_of_hive.twice' LANGUAGE PYTHON"
    )
    again = HiveCatalog("h", "test", conf_dir)
    assert again.list_functions("test") == ["twice"]
    assert (
        Metastore(conf_dir, "t").function("test", "twice")
        == "flink:python:tests.table.functions_of_hive.twice"
    )
    path = ObjectPath("test", "TWICE")
    again.alter_function(path, CatalogFunction.create_instance(f"{__name__}.twice"), False)
    found = catalog.get_function(path)
    assert (found.get_class_name(), found.get_function_language()) == (f"{__name__}.twice", "PYTHON")
    catalog.create_function(ObjectPath("test", "j"), CatalogFunction("org.Upper", "JAVA"), False)
    assert catalog.get_function(ObjectPath("test", "j")).get_function_language() == "JAVA"
    with pytest.raises(ProgramError, match="requires a name that no other function has"):
        catalog.create_function(path, CatalogFunction("a.b"), False)
    catalog.drop_function(path, False)
    catalog.drop_function(path, True)
    with pytest.raises(ProgramError, match="requires a function that exists"):
        catalog.get_function(path)


# --- statistics ---


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


# --- how a catalog is made ---


def test_a_statement_makes_the_catalog(catalog: HiveCatalog, conf_dir: str):
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    options = f"'type' = 'hive', 'hive-conf-dir' = '{conf_dir}', 'default-database' = 'test'"
    environment.execute_sql(f"CREATE CATALOG mine WITH ({options})")
    environment.use_catalog("mine")
    assert environment.get_current_database() == "test"
    with pytest.raises(ConfigurationError, match="takes the options type, default-database, hive-conf-dir"):
        environment.execute_sql("CREATE CATALOG other WITH ('type' = 'hive', 'hive-dir' = '/x')")


def test_a_metastore_that_is_not_there_is_refused(conf_dir: str, tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"requires a directory with hive-site\.xml"):
        HiveCatalog("h", None, str(tmp_path))
    with pytest.raises(ConfigurationError, match="requires a metastore of Hive"):
        HiveCatalog("h")
    with pytest.raises(ProgramError, match="requires a database that exists; got none"):
        HiveCatalog("h", "none", conf_dir)
    with pytest.raises(UnsupportedError, match="cannot list procedures"):
        HiveCatalog("h", None, conf_dir).list_procedures("default")


def test_what_the_metastore_refuses_is_said(catalog: HiveCatalog):
    columns = Schema.new_builder().column("a", "INT").build()
    with pytest.raises(ConnectorError, match="HiveCatalog 'h' requires that the metastore does it"):
        catalog.create_table(ObjectPath("test", "a-b"), CatalogBaseTable.create_table(columns), False)
