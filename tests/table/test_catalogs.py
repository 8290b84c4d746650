"""Catalogs: of a program's own, in files that other programs see, and how they are made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common.configuration import Configuration
from firesteel.common.errors import ConfigurationError, FiresteelError, ProgramError, UnsupportedError
from firesteel.table import DataTypes, EnvironmentSettings, Schema, TableEnvironment
from firesteel.table.catalog import (
    Catalog,
    CatalogBaseTable,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    FileCatalog,
    GenericInMemoryCatalog,
    ObjectIdentifier,
    ObjectPath,
)

COUNTED = {
    "connector": "datagen",
    "number-of-rows": "3",
    "fields.n.kind": "sequence",
    "fields.n.start": "1",
    "fields.n.end": "3",
}
PARTITIONED = "CREATE TABLE t (a INT, `day` STRING) PARTITIONED BY (`day`) WITH ('connector' = 'blackhole')"


def session(**options: str) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().in_batch_mode()
    given = {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    return TableEnvironment.create(settings.with_configuration(Configuration.from_dict(given)).build())


def rows(environment: TableEnvironment, statement: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(statement).collect()]


class Numbers(Catalog):
    """A catalog that only shows what there is."""

    def list_databases(self) -> list[str]:
        return ["default"]

    def list_tables(self, database_name: str) -> list[str]:
        return ["three", "twice"]

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        schema = Schema.new_builder().column("n", DataTypes.INT())
        if table_path.object_name == "twice":
            query = "SELECT n * 2 AS n FROM three"
            return CatalogBaseTable.create_view(query, query, schema.build(), {})
        schema.column_by_expression("squared", "n * n")
        return CatalogBaseTable.create_table(schema.build(), [], COUNTED)


def test_tables_and_views_of_a_catalog_of_ones_own_are_read():
    environment = session()
    environment.register_catalog("mine", Numbers())
    assert sorted(rows(environment, "SELECT * FROM mine.`default`.three")) == [(1, 1), (2, 4), (3, 9)]
    assert sorted(rows(environment, "SELECT * FROM mine.`default`.twice")) == [(2,), (4,), (6,)]
    environment.use_catalog("mine")
    assert (environment.get_current_database(), environment.list_views()) == ("default", ["twice"])
    assert isinstance(environment.get_catalog("mine"), Numbers)
    assert environment.get_catalog("yours") is None


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE other (a INT) WITH ('connector' = 'print')",
        "DROP TABLE three",
        "ALTER TABLE three SET ('number-of-rows' = '1')",
        "ALTER TABLE three RENAME TO four",
        "CREATE DATABASE more",
        "CREATE FUNCTION f AS 'a.b' LANGUAGE PYTHON",
    ],
)
def test_what_a_catalog_does_not_define_is_refused(statement):
    environment = session()
    environment.register_catalog("mine", Numbers())
    environment.use_catalog("mine")
    with pytest.raises(UnsupportedError, match="the catalog Numbers cannot"):
        environment.execute_sql(statement)


def test_a_definition_that_means_nothing_shows_its_text():
    class Wrong(Numbers):
        def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
            schema = Schema.new_builder().column("n", "INT").column_by_expression("m", "k + 1")
            return CatalogBaseTable.create_table(schema.build(), [], COUNTED)

    environment = session()
    environment.register_catalog("mine", Wrong())
    with pytest.raises(FiresteelError, match="`m` AS k \\+ 1"):
        environment.execute_sql("SELECT * FROM mine.`default`.three")


DEFINED = """
CREATE DATABASE shop COMMENT 'all of it' WITH ('owner' = 'me');
USE shop;
CREATE TABLE orders (
  id BIGINT, price DECIMAL(10, 2) COMMENT 'net', ts TIMESTAMP(3), total AS price * 2,
  file STRING METADATA FROM 'file.path' VIRTUAL,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'what was ordered' PARTITIONED BY (id) WITH ('connector' = 'filesystem', 'path' = '/tmp/x', 'format' = 'csv');
CREATE VIEW dear COMMENT 'above ten' AS SELECT *, price > 10 AS is_dear FROM orders;
CREATE FUNCTION half AS 'some.module.half' LANGUAGE PYTHON
"""


def defined(path: Path) -> TableEnvironment:
    environment = session()
    environment.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{path}')")
    environment.use_catalog("kept")
    return environment


def test_what_is_defined_in_files_is_there_in_another_session(tmp_path: Path):
    first = defined(tmp_path)
    for statement in DEFINED.split(";"):
        first.execute_sql(statement)
    second = defined(tmp_path)
    assert second.list_databases() == ["default", "shop"]
    second.use_database("shop")
    assert (second.list_tables(), second.list_views()) == (["dear", "orders"], ["dear"])
    for statement in (
        "SHOW CREATE TABLE orders",
        "SHOW CREATE VIEW dear",
        "DESCRIBE orders",
        "DESCRIBE dear",
        "SHOW USER FUNCTIONS",
        "DESCRIBE DATABASE EXTENDED shop",
    ):
        assert rows(second, statement) == rows(first, statement), statement
    second.execute_sql("ALTER TABLE orders ADD (more INT)")
    assert ("more",) in rows(first, "SHOW COLUMNS FROM orders") or "more" in str(
        rows(first, "DESCRIBE orders")
    )
    assert "more" not in str(rows(first, "DESCRIBE dear")), "a view has the columns it was made with"
    first.execute_sql("ALTER TABLE orders RENAME TO sold")
    assert second.list_tables() == ["dear", "sold"]
    second.use_database("default")
    second.execute_sql("DROP DATABASE shop CASCADE")
    assert first.list_databases() == ["default"]


def test_a_view_in_files_reads_the_columns_it_was_made_with(tmp_path: Path):
    first = defined(tmp_path)
    options = ", ".join(f"'{key}' = '{value}'" for key, value in COUNTED.items())
    first.execute_sql(f"CREATE TABLE t (n INT) WITH ({options})")
    first.execute_sql("CREATE VIEW v AS SELECT * FROM t")
    first.execute_sql("ALTER TABLE t ADD (m AS n + 1)")
    assert sorted(rows(defined(tmp_path), "SELECT * FROM kept.`default`.v")) == [(1,), (2,), (3,)]


def test_a_view_of_a_table_of_a_program_is_not_kept_in_files(tmp_path: Path):
    environment = defined(tmp_path)
    with pytest.raises(UnsupportedError, match="cannot be kept between programs"):
        environment.create_view("v", environment.from_elements([(1,)], ["a"]))


@pytest.mark.parametrize("kind", ["memory", "files"])
def test_catalogs_of_both_kinds_do_the_same(kind: str, tmp_path: Path):
    catalog = GenericInMemoryCatalog("c") if kind == "memory" else FileCatalog("c", str(tmp_path))
    path, schema = (
        ObjectPath("d", "t"),
        Schema.new_builder().column("a", "INT").column("day", "STRING").build(),
    )
    catalog.create_database("d", CatalogDatabase.create_instance({"k": "v"}, "c"), False)
    catalog.create_database("d", CatalogDatabase(), True)
    assert catalog.get_database("d").get_properties() == {"k": "v"}
    catalog.alter_database("d", CatalogDatabase({"k": "w"}), False)
    assert (catalog.list_databases(), catalog.get_database("d").get_comment()) == (["d", "default"], None)
    catalog.create_table(path, CatalogBaseTable.create_table(schema, ["day"], {"connector": "print"}), False)
    with pytest.raises(ProgramError, match="no other table or view has"):
        catalog.create_table(path, CatalogBaseTable.create_table(schema), False)
    monday, tuesday = (CatalogPartitionSpec({"day": day}) for day in ("monday", "tuesday"))
    catalog.create_partition(path, monday, CatalogPartition({"p": "1"}), False)
    catalog.create_partition(path, tuesday, CatalogPartition(), False)
    assert catalog.list_partitions(path, CatalogPartitionSpec({"day": "monday"})) == [monday]
    catalog.alter_partition_statistics(path, monday, CatalogTableStatistics(7), False)
    assert catalog.bulk_get_partition_statistics(path, [monday, tuesday])[0].get_row_count() == 7
    catalog.drop_partition(path, tuesday, False)
    with pytest.raises(ProgramError, match="requires a partition that exists"):
        catalog.drop_partition(path, tuesday, False)
    with pytest.raises(ProgramError, match="a value for each of the columns day"):
        catalog.create_partition(path, CatalogPartitionSpec({"a": "1"}), CatalogPartition(), False)
    catalog.rename_table(path, "u", False)
    moved = ObjectPath("d", "u")
    assert (catalog.list_tables("d"), catalog.partition_exists(moved, monday)) == (["u"], True)
    catalog.create_function(ObjectPath("d", "F"), CatalogFunction.create_instance("a.b"), False)
    assert catalog.get_function(ObjectPath("d", "f")).get_class_name() == "a.b"
    with pytest.raises(ProgramError, match="without tables, functions and models"):
        catalog.drop_database("d", False)
    catalog.drop_function(ObjectPath("d", "f"), False)
    catalog.drop_table(moved, False)
    catalog.drop_table(moved, True)
    catalog.drop_database("d", False)
    assert not catalog.database_exists("d")
    with pytest.raises(ProgramError, match="requires a database that exists"):
        catalog.get_database("d")


def test_a_store_of_files_has_the_catalogs_of_other_sessions(tmp_path: Path):
    options = {"table_catalog__store_kind": "file", "table_catalog__store_file_path": str(tmp_path)}
    first = session(**options)
    first.execute_sql(
        "CREATE CATALOG `a b` COMMENT 'it''s' WITH ('type' = 'generic_in_memory', 'default-database' = 'd')"
    )
    first.create_catalog(
        "other", CatalogDescriptor.of("other", Configuration.from_dict({"type": "generic_in_memory"}))
    )
    second = session(**options)
    assert second.list_catalogs() == ["a b", "default_catalog", "other"]
    second.use_catalog("a b")
    assert second.get_current_database() == "d"
    assert rows(second, "SHOW CREATE CATALOG `a b`") == rows(first, "SHOW CREATE CATALOG `a b`")
    with pytest.raises(ProgramError, match="no other catalog has"):
        second.execute_sql("CREATE CATALOG other WITH ('type' = 'generic_in_memory')")
    second.execute_sql("DROP CATALOG other")
    assert session(**options).list_catalogs() == ["a b", "default_catalog"]


def test_a_file_of_flink_is_read(tmp_path: Path):
    (tmp_path / "theirs.yaml").write_text('type: "generic_in_memory"\ndefault-database: shop\n')
    environment = session(table_catalog__store_kind="file", table_catalog__store_file_path=str(tmp_path))
    environment.use_catalog("theirs")
    assert environment.get_current_database() == "shop"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table_catalog__store_kind": "file"}, "requires the option 'table.catalog-store.file.path'"),
        ({"table_catalog__store_kind": "etcd"}, "requires generic_in_memory or file"),
    ],
)
def test_a_store_that_cannot_be_is_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        session(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'type' = 'filesystm'", "did you mean"),
        ("'type' = 'filesystem'", "requires the options path"),
        ("'type' = 'jdbc', 'base-url' = 'x'", "no default-database, username, password"),
        ("'type' = 'generic_in_memory', 'size' = '1'", "takes the options type, default-database"),
    ],
)
def test_a_catalog_of_wrong_options_is_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        session().execute_sql(f"CREATE CATALOG c WITH ({options})")
    assert session().list_catalogs() == ["default_catalog"]


def test_the_catalog_of_the_session_shows_what_statements_made():
    environment = session()
    environment.execute_sql(PARTITIONED)
    catalog = environment.get_catalog("default_catalog")
    assert catalog is not None
    table = catalog.get_table(
        ObjectIdentifier.of("default_catalog", "default_database", "t").to_object_path()
    )
    assert table.get_options() == {"connector": "blackhole"}
    assert str(table.get_unresolved_schema()) == "(\n  `a` INT,\n  `day` VARCHAR(2147483647)\n)"
