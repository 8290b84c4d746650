"""Statements that need no job: what they change, what they answer, and where their errors point."""

from __future__ import annotations

from pathlib import Path

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
from firesteel.testing import executing

ORDERS = (
    "CREATE TABLE orders (id BIGINT, price DECIMAL(10, 2), twice AS price * 2) WITH ('connector' = 'print')"
)


def environment(*statements: str) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in statements:
        env.execute_sql(statement)
    return env


def files(path: Path) -> str:
    return f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{path}')"


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
    assert str(table.get_resolved_schema()) == "(\n  `id` BIGINT,\n  `twice` DECIMAL(21, 2)\n)"


def test_a_table_has_a_name_in_sql():
    env = environment(ORDERS)
    ids = env.sql_query("SELECT id FROM orders")
    assert env.sql_query(f"SELECT id + 1 AS higher FROM {ids}").get_resolved_schema().get_column_names() == [
        "higher"
    ]
    env.create_temporary_view("ids", ids)
    assert "ids" in env.list_views()


def test_options_return_to_what_they_were():
    env = environment("SET 'table.local-time-zone' = 'Europe/Berlin'", "SET 'parallelism.default' = '3'")
    assert env.get_config().get_local_timezone() == "Europe/Berlin"
    env.execute_sql("RESET 'parallelism.default'")
    assert env.get_config().get("parallelism.default", "none") == "none"
    env.execute_sql("RESET")
    assert env.get_config().to_map() == {"execution.runtime-mode": "STREAMING"}


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE FUNCTION f AS 'a.b'",
        "ANALYZE TABLE orders COMPUTE STATISTICS",
        "ALTER TABLE orders RENAME price.x TO y",
    ],
)
def test_what_is_not_supported_says_so_by_name_and_place(statement: str):
    with pytest.raises(SqlUnsupportedError, match="not supported yet") as found:
        environment(ORDERS).execute_sql(statement)
    assert found.value.line == 1


def test_names_that_are_not_there_yet_say_so():
    env = environment(ORDERS)
    with pytest.raises(UnsupportedError, match=r"TableEnvironment\.create_java_function"):
        env.create_java_function("f", None)
    with pytest.raises(ImportError, match=r"firesteel\.table\.UserDefinedType is not supported yet"):
        from firesteel.table import UserDefinedType  # noqa: F401
    assert not hasattr(env, "nonsense")


def test_an_error_of_alter_points_at_the_column():
    assert error(environment(ORDERS), "ALTER TABLE orders DROP (price)") == [
        "ALTER TABLE statement (line 1, column 26) changes the column price, which the computed column twice needs",
        "    ALTER TABLE orders DROP (price)",
        "                             ^^^^^",
    ]
    assert (
        error(environment(ORDERS), "ALTER TABLE orders MODIFY prise INT")[-1] == "  hint: did you mean price?"
    )
    message = error(environment(ORDERS), "ALTER TABLE orders ADD (total AS price + idd)")
    assert message[0].startswith(
        "ALTER TABLE statement (line 1, column 42) requires the name of a column; got idd"
    )


def test_what_a_change_leaves_without_a_meaning_is_named():
    message = error(environment(ORDERS), "ALTER TABLE orders MODIFY price STRING")
    assert message[0].startswith(
        "ALTER TABLE statement (line 1, column 1) leaves the computed column twice, `price` * 2, without a meaning"
    )
    assert message[1:] == ["    ALTER TABLE orders MODIFY price STRING", f"    {'^' * 38}"]


def test_an_altered_table_is_read_as_it_is_declared_now(tmp_path: Path):
    (tmp_path / "rows.json").write_text(
        '{"id": 1, "at": "2024-01-01 00:00:01"}\n{"id": 2, "at": "2024-01-01 00:00:09"}\n'
    )
    env = environment(
        f"CREATE TABLE t (id INT, twice AS id * 2) WITH {files(tmp_path)}",
        "ALTER TABLE t ADD (`at` TIMESTAMP(3) FIRST, WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND)",
        "ALTER TABLE t MODIFY id BIGINT",
        "ALTER TABLE t ADD later AS `at` + INTERVAL '1' HOUR AFTER id",
    )
    with executing(parallelism=1):
        found = env.execute_sql("SELECT * FROM t")
        assert [str(kind) for kind in found.get_resolved_schema().get_column_data_types()] == [
            "TIMESTAMP(3) *ROWTIME*",
            "BIGINT",
            "TIMESTAMP(3)",
            "BIGINT",
        ]
        assert sorted((row[1], row[3], row[2].hour) for row in found.collect()) == [(1, 2, 1), (2, 4, 1)]
        windows = env.execute_sql(
            "SELECT window_end, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(`at`), INTERVAL '5' SECOND) "
            "GROUP BY window_start, window_end"
        )
        assert sorted(row[1] for row in windows.collect()) == [1, 1]


def test_a_view_has_the_columns_that_were_there_when_it_was_made():
    env = environment(ORDERS.replace("print", "datagen"), "CREATE VIEW v AS SELECT DISTINCT * FROM orders")
    env.execute_sql("CREATE VIEW w (a, b, c) AS SELECT o.* FROM orders AS o")
    env.execute_sql("ALTER TABLE orders ADD (more INT FIRST, yet AS id + 1)")
    assert env.from_path("v").get_resolved_schema().get_column_names() == ["id", "price", "twice"]
    assert "select=[id, price, *(price, 2) AS twice]" in env.explain_sql("SELECT * FROM v")
    assert "select=[id AS a, price AS b, *(price, 2) AS c]" in env.explain_sql("SELECT * FROM w")
    env.execute_sql("ALTER TABLE orders DROP twice")
    message = error(env, "SELECT * FROM v")
    who = "view `default_catalog`.`default_database`.`v` (line 1, column 34)"
    assert message == [
        f"{who} requires the column twice, which was there when the view was made",
        "    CREATE VIEW v AS SELECT DISTINCT * FROM orders",
        f"    {' ' * 33}^",
    ]
    env.execute_sql("ALTER VIEW v AS SELECT * FROM orders")
    assert env.from_path("v").get_resolved_schema().get_column_names() == ["more", "id", "price", "yet"]


def test_the_table_of_a_query_has_columns_of_its_own(tmp_path: Path):
    with executing(parallelism=1):
        env = environment()
        env.execute_sql(
            f"CREATE TABLE t (more AS n + 1, word STRING, n BIGINT) WITH {files(tmp_path / 't')} "
            "AS SELECT 1 AS n, 'x' AS x"
        ).wait()
        with env.execute_sql("SELECT * FROM t").collect() as rows:
            assert [tuple(row) for row in rows] == [(2, None, 1, "x")]
        env.execute_sql(
            f"REPLACE TABLE t (x, m) WITH {files(tmp_path / 'u')} AS SELECT 2 AS m, 'y' AS x"
        ).wait()
        with env.execute_sql("SELECT * FROM t").collect() as rows:
            assert [tuple(row) for row in rows] == [("y", 2)]
    message = error(env, "CREATE OR REPLACE TABLE t (a INT) WITH ('connector' = 'print')")
    assert message[-1] == "  hint: DROP TABLE first; a table is replaced with AS and a query only"
    message = error(env, "REPLACE TABLE nowhere WITH ('connector' = 'print') AS SELECT 1 AS a")
    assert "requires a table that exists" in message[0]
