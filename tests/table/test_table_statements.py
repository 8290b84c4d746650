"""ANALYZE, TRUNCATE, CALL and partitions: what they change, and who sees it."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest

from firesteel.common.errors import ProgramError, SqlError
from firesteel.table import DataTypes, EnvironmentSettings, ExplainDetail, TableEnvironment
from firesteel.table.catalog import (
    Catalog,
    CatalogColumnStatistics,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    GenericInMemoryCatalog,
    ObjectPath,
    Procedure,
)
from firesteel.testing.execution import executing

T = ObjectPath("default_database", "t")


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[TableEnvironment]:
    with executing("process", parallelism=2):
        found = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        for name, partitions in (("t", ""), ("p", "PARTITIONED BY (h)")):
            found.execute_sql(
                f"CREATE TABLE {name} (a INT, b STRING, c DATE, h INT, twice AS a * 2) {partitions} "
                f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'json')"
            )
        values = "(1, 'x', DATE '2024-01-01', 1), (2, 'y', DATE '2024-01-03', 1), (2, CAST(NULL AS STRING), NULL, 2)"
        found.execute_sql(
            f"INSERT INTO t SELECT a, b, CAST(c AS DATE), h FROM (VALUES {values}) AS v (a, b, c, h)"
        ).wait()
        found.execute_sql("INSERT INTO p SELECT a, b, c, h FROM t").wait()
        yield found


def catalog_of(environment: TableEnvironment) -> Catalog:
    found = environment.get_catalog("default_catalog")
    assert found is not None
    return found


def test_analyze_counts_what_columns_have(environment: TableEnvironment):
    catalog = catalog_of(environment)
    environment.execute_sql("ANALYZE TABLE t COMPUTE STATISTICS")
    assert catalog.get_table_statistics(T).get_row_count() == 3
    assert catalog.get_table_column_statistics(T).get_column_statistics_data() == {}
    environment.execute_sql("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS")
    known = catalog.get_table_column_statistics(T).get_column_statistics_data()
    assert {name: (one.distinct, one.low, one.high, one.nulls) for name, one in known.items()} == {
        "a": (2, 1, 2, 0),
        "b": (2, None, None, 1),
        "c": (2, dt.date(2024, 1, 1), dt.date(2024, 1, 3), 1),
        "h": (2, 1, 2, 0),
    }


def test_the_planner_knows_what_was_counted(environment: TableEnvironment):
    environment.execute_sql("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a")
    costs = environment.explain_sql("SELECT a FROM t", ExplainDetail.ESTIMATED_COST)
    assert "rowcount = 3.0" in costs
    catalog_of(environment).alter_table_statistics(T, CatalogTableStatistics(5_000), False)
    catalog_of(environment).alter_table_column_statistics(T, CatalogColumnStatistics(), False)
    costs = environment.explain_sql("SELECT a FROM t", ExplainDetail.ESTIMATED_COST)
    assert "rowcount = 5000.0" in costs


def test_partitions_are_counted_one_by_one(environment: TableEnvironment):
    catalog, path = catalog_of(environment), ObjectPath("default_database", "p")
    environment.execute_sql("ALTER TABLE p ADD PARTITION (h = 1) PARTITION (h = 2)")
    environment.execute_sql("ANALYZE TABLE p PARTITION (h) COMPUTE STATISTICS FOR COLUMNS a")
    specs = [CatalogPartitionSpec({"h": "1"}), CatalogPartitionSpec({"h": "2"})]
    found = catalog.bulk_get_partition_statistics(path, specs)
    assert [one.get_row_count() for one in found] == [2, 1]
    columns = catalog.bulk_get_partition_column_statistics(path, specs)
    assert [one.get_column_statistics_data()["a"].high for one in columns] == [2, 2]


def test_truncate_deletes_the_rows_of_a_table_of_a_database(environment: TableEnvironment, tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute("CREATE TABLE orders (id INT)")
        database.execute("INSERT INTO orders VALUES (1), (2)")
        database.commit()
        options = f"('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{tmp_path}/shop.db', 'table-name' = 'orders')"
        environment.execute_sql(f"CREATE TABLE orders (id INT) WITH {options}")
        environment.execute_sql("TRUNCATE TABLE orders")
        assert database.execute("SELECT COUNT(*) FROM orders").fetchone() == (0,)


def test_truncate_removes_the_rows_of_a_table(environment: TableEnvironment, tmp_path: Path):
    for name in ("t", "p"):
        environment.execute_sql(f"TRUNCATE TABLE {name}")
        assert [*environment.execute_sql(f"SELECT * FROM {name}").collect()] == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    environment.execute_sql("INSERT INTO t VALUES (9, 'z', DATE '2024-01-01', 1)").wait()
    assert [row[0] for row in environment.execute_sql("SELECT a FROM t").collect()] == [9]


class Twice(Procedure):
    """Returns its argument twice."""

    def call(self, environment: Any, *arguments: Any) -> Iterable[Any]:
        return [f"{environment.get_parallelism()} {one!r}" for one in arguments]


class Counted(Procedure):
    """Returns rows of two columns."""

    def call(self, environment: Any, *arguments: Any) -> Iterable[Any]:
        return [(place, str(place)) for place in range(*arguments)]

    def result_type(self) -> Any:
        return DataTypes.ROW(
            [DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("text", DataTypes.STRING())]
        )


class Doing(GenericInMemoryCatalog):
    """A catalog with two procedures."""

    procedures: ClassVar[dict[str, Procedure]] = {"shown": Twice(), "counted": Counted()}

    def list_procedures(self, database_name: str) -> list[str]:
        return [*self.procedures]

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        if procedure_path.object_name not in self.procedures:
            raise ProgramError("requires a procedure that exists", got=str(procedure_path))
        return self.procedures[procedure_path.object_name]


def test_a_procedure_of_a_catalog_is_called(environment: TableEnvironment):
    environment.register_catalog("doing", Doing("doing"))
    environment.get_config().set("parallelism.default", "3")

    def rows(statement: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in environment.execute_sql(statement).collect()]

    assert rows("CALL doing.`default`.shown(1 + 1, 'a', TRUE, CAST(NULL AS INT))") == [
        *(("3 2",), ("3 'a'",), ("3 True",), ("3 None",))
    ]
    environment.use_catalog("doing")
    assert rows("CALL counted(1, 3)") == [(1, "1"), (2, "2")]
    assert rows("SHOW PROCEDURES LIKE 'sh%'") == [("shown",)]
    with pytest.raises(SqlError, match="requires a procedure that exists"):
        environment.execute_sql("CALL nothing()")
    with pytest.raises(SqlError, match="cannot find procedures"):
        environment.execute_sql("CALL default_catalog.default_database.nothing()")


@pytest.mark.parametrize("way", ["statement", "set", "pipeline", "table", "plan"])
def test_inserts_are_waited_for_if_that_is_asked(environment: TableEnvironment, way: str):
    insert = "INSERT INTO t VALUES (9, 'z', DATE '2024-01-01', 1)"
    environment.get_config().set("table.dml-sync", "true")
    rows = environment.sql_query("SELECT 9 AS a, 'z' AS b, DATE '2024-01-01' AS c, 1 AS h")
    result = {
        "statement": lambda: environment.execute_sql(insert),
        "set": lambda: environment.create_statement_set().add_insert_sql(insert).execute(),
        "pipeline": lambda: rows.insert_into("t").execute(),
        "table": lambda: rows.execute_insert("t"),
        "plan": lambda: environment.compile_plan_sql(insert).execute(),
    }[way]()
    assert result.job is not None
    assert result.job.status.name == "FINISHED"
