"""Statements that need no job: what they change, what they answer, and where their errors point."""

from __future__ import annotations

import pytest

from firesteel.common.errors import SqlError, SqlUnsupportedError, UnsupportedError
from firesteel.table import (
    DataTypes,
    EnvironmentSettings,
    ResultKind,
    Schema,
    TableDescriptor,
    TableEnvironment,
)

ORDERS = (
    "CREATE TABLE orders (id BIGINT, price DECIMAL(10, 2), twice AS price * 2) WITH ('connector' = 'print')"
)


def environment(*statements: str) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in statements:
        env.execute_sql(statement)
    return env


def error(env: TableEnvironment, statement: str) -> list[str]:
    with pytest.raises(SqlError) as found:
        env.execute_sql(statement)
    return str(found.value).split("\n")


def test_the_rows_of_show_can_be_collected():
    with environment(ORDERS).execute_sql("SHOW TABLES").collect() as rows:
        assert [tuple(row) for row in rows] == [("orders",)]


def test_a_statement_without_rows_is_a_success():
    result = environment().execute_sql("CREATE DATABASE d")
    assert result.get_result_kind() is ResultKind.SUCCESS
    assert result.get_job_client() is None
    assert [tuple(row) for row in result.collect()] == [("OK",)]


def test_an_error_points_at_the_name():
    who = "DESCRIBE TABLE (line 2, column 3)"
    assert error(environment(ORDERS), "DESCRIBE\n  ordes") == [
        f"{who} requires a table or view that exists; got default_catalog.default_database.ordes",
        "      ordes",
        "      ^^^^^",
        "  hint: did you mean orders?",
    ]


def test_a_table_can_be_made_without_sql():
    env = environment()
    schema = (
        Schema.new_builder()
        .column("id", DataTypes.BIGINT().not_null())
        .column("at", "TIMESTAMP(3)")
        .column_by_expression("day", "CAST(`at` AS DATE)")
        .watermark("at", "`at` - INTERVAL '1' SECOND")
        .primary_key("id")
        .build()
    )
    descriptor = TableDescriptor.for_connector("print").schema(schema).option("print-identifier", "o").build()
    env.create_temporary_table("orders", descriptor)
    [(text,)] = env.execute_sql("SHOW CREATE TABLE orders").collect()
    assert text.split("\n")[:7] == [
        "CREATE TEMPORARY TABLE `default_catalog`.`default_database`.`orders` (",
        "  `id` BIGINT NOT NULL,",
        "  `at` TIMESTAMP(3),",
        "  `day` AS CAST(`at` AS DATE),",
        "  WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND,",
        "  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED",
        ")",
    ]
    assert env.list_temporary_tables() == ["orders"]
    assert env.drop_temporary_table("orders")
    assert not env.drop_temporary_table("orders")


def test_the_schema_of_a_query_is_known_before_it_runs():
    table = environment(ORDERS).sql_query("SELECT id, twice FROM orders")
    assert str(table.get_schema()) == "(\n  `id` BIGINT,\n  `twice` DECIMAL(21, 2)\n)"


def test_a_table_has_a_name_in_sql():
    env = environment(ORDERS)
    ids = env.sql_query("SELECT id FROM orders")
    assert env.sql_query(f"SELECT id + 1 AS higher FROM {ids}").get_schema().get_column_names() == ["higher"]
    env.create_temporary_view("ids", ids)
    assert "ids" in env.list_views()


def test_options_return_to_what_they_were():
    env = environment("SET 'table.local-time-zone' = 'Europe/Berlin'", "SET 'parallelism.default' = '3'")
    assert env.get_config().get_local_timezone() == "Europe/Berlin"
    env.execute_sql("RESET 'parallelism.default'")
    assert env.get_config().get("parallelism.default", "none") == "none"
    env.execute_sql("RESET")
    assert env.get_config().to_map() == {"execution.runtime-mode": "streaming"}


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE FUNCTION f AS 'a.b'",
        "ANALYZE TABLE orders COMPUTE STATISTICS",
        "TRUNCATE TABLE orders",
        "CALL p()",
        "SHOW PARTITIONS orders",
        "CREATE OR REPLACE TABLE orders (a INT) WITH ('connector' = 'print')",
        "ALTER TABLE orders ADD (b INT)",
        "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' DAY AS SELECT 1",
    ],
)
def test_what_is_not_supported_says_so_by_name_and_place(statement: str):
    with pytest.raises(SqlUnsupportedError, match="not supported yet") as found:
        environment(ORDERS).execute_sql(statement)
    assert found.value.line == 1


def test_names_that_are_not_there_yet_say_so():
    env = environment(ORDERS)
    with pytest.raises(UnsupportedError, match=r"Table.select \(tests/table/.*\) is not supported yet"):
        env.sql_query("SELECT id FROM orders").select("id")
    with pytest.raises(UnsupportedError, match=r"TableEnvironment\.create_temporary_function"):
        env.create_temporary_function("f", None)
    with pytest.raises(ImportError, match=r"firesteel\.table\.ScalarFunction is not supported yet"):
        from firesteel.table import ScalarFunction  # noqa: F401
    assert not hasattr(env, "nonsense")
    assert not hasattr(env, "load_plan")
