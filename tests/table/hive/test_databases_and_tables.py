"""What a catalog of Hive keeps: databases, tables, views and functions, and how such a catalog is made."""

from __future__ import annotations

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
from firesteel.spark.hive.metastore import Metastore
from firesteel.spark.hive.objects import VIEW, HiveColumn, HiveStorage, HiveTable
from firesteel.table import DataTypes, EnvironmentSettings, Schema, TableEnvironment
from firesteel.table.catalog import CatalogBaseTable, CatalogFunction, HiveCatalog, ObjectPath
from firesteel.table.udf import udf
from tests.table.hive.programs import STORED, rows, session

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("hive")]

twice = udf(lambda number: 2 * number, result_type=DataTypes.INT())


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
