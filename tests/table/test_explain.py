"""EXPLAIN: its sections, with changelog modes, state and operators."""

from __future__ import annotations

import json

import pytest

from firesteel.common.errors import SqlError, UnsupportedError
from firesteel.table import EnvironmentSettings, TableEnvironment

QUERY = "SELECT k, COUNT(*) AS n FROM s WHERE v > 3 GROUP BY k"


@pytest.fixture
def environment() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.execute_sql(
        "CREATE TABLE s (k INT, v BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '3')"
    )
    return made


def explained(environment: TableEnvironment, statement: str) -> str:
    with environment.execute_sql(statement).collect() as rows:
        (row,) = rows
    return str(row[0])


def test_a_query_is_explained_in_three_sections(environment: TableEnvironment) -> None:
    environment.get_config().set("table.exec.state.ttl", "1 h")
    text = explained(environment, f"EXPLAIN CHANGELOG_MODE {QUERY}")
    assert text.split("== Optimized Physical Plan ==\n")[1] == (
        "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n], changelogMode=[I,UA])\n"
        "+- Exchange(distribution=[hash[k]], changelogMode=[I])\n"
        "   +- LocalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n], changelogMode=[I])\n"
        "      +- Calc(select=[k], where=[>(v, 3)], changelogMode=[I])\n"
        "         +- TableSourceScan(table=[[default_catalog, default_database, s]], fields=[k, v], "
        "changelogMode=[I])\n"
        "\n"
        "== Optimized Execution Plan ==\n"
        "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n], "
        "state=[a row for each group, for 1 h after its last change])\n"
        "+- Exchange(distribution=[hash[k]])\n"
        "   +- LocalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n])\n"
        "      +- Calc(select=[k], where=[(v > 3)])\n"
        "         +- TableSourceScan(table=[[default_catalog, default_database, s]], fields=[k, v])\n"
    )
    assert text.startswith("== Abstract Syntax Tree ==\nLogicalProject(")


def test_the_operators_of_the_job_are_json(environment: TableEnvironment) -> None:
    text = explained(environment, f"EXPLAIN JSON_EXECUTION_PLAN {QUERY}")
    plan = json.loads(text.split("== Physical Execution Plan ==\n")[1])
    names = [node["type"].split("[")[0] for node in plan["nodes"]]
    assert names == [
        "Source: s",
        "Calc",
        "LocalGroupAggregate",
        "GlobalGroupAggregate",
        "Sink: Collect table sink",
    ]
    assert plan["nodes"][3]["predecessors"][0]["ship_strategy"] == "HASH"
    assert plan["nodes"][1]["contents"] == "[2]:Calc(select=[k], where=[(v > 3)])"


def test_estimated_costs_are_behind_each_node_as_in_flink(environment: TableEnvironment) -> None:
    text = explained(environment, f"EXPLAIN ESTIMATED_COST, CHANGELOG_MODE {QUERY}")
    physical = text.split("== Optimized Physical Plan ==\n")[1].split("\n\n")[0].splitlines()
    calc = "{6.0 rows, 6.0 cpu, 36.0 io, 0.0 network, 0.0 memory}"
    scan = "{3.0 rows, 3.0 cpu, 36.0 io, 0.0 network, 0.0 memory}"
    assert physical[-2].endswith(f"changelogMode=[I]): rowcount = 1.5, cumulative cost = {calc}")
    assert physical[-1].endswith(f"changelogMode=[I]): rowcount = 3.0, cumulative cost = {scan}")
    assert all(": rowcount = " in line for line in physical)
    assert "rowcount" not in text.split("== Optimized Execution Plan ==")[1]
    assert "GroupAggregate(advice=[1], groupBy=[k], select=[k, COUNT(*) AS n]): rowcount" in explained(
        one_phase(environment), f"EXPLAIN PLAN_ADVICE, ESTIMATED_COST {QUERY}"
    )


def one_phase(environment: TableEnvironment) -> TableEnvironment:
    environment.get_config().set("table.optimizer.agg-phase-strategy", "ONE_PHASE")
    return environment


def test_a_table_of_unknown_size_has_as_many_rows_as_in_flink(environment: TableEnvironment) -> None:
    environment.execute_sql("CREATE TABLE u (k INT) WITH ('connector' = 'datagen')")
    assert "rowcount = 1.0E8, cumulative cost = {1.0E8 rows" in explained(
        environment, "EXPLAIN ESTIMATED_COST SELECT k FROM u"
    )


def test_advice_is_that_of_flink(environment: TableEnvironment) -> None:
    text = explained(environment, f"EXPLAIN PLAN_ADVICE {QUERY}")
    assert "== Optimized Physical Plan With Advice ==" in text
    assert "No available advice..." in text
    text = explained(one_phase(environment), f"EXPLAIN PLAN_ADVICE {QUERY}")
    assert "GroupAggregate(advice=[1], groupBy=[k]," in text
    assert (
        "advice[1]: [ADVICE] You might want to enable local-global two-phase optimization by configuring "
        "('table.optimizer.agg-phase-strategy' to 'AUTO')."
    ) in text
    environment.get_config().set("execution.runtime-mode", "batch")
    with pytest.raises(UnsupportedError, match="EXPLAIN PLAN_ADVICE is not supported under batch mode"):
        explained(environment, f"EXPLAIN PLAN_ADVICE {QUERY}")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE {table} WITH ('connector' = 'blackhole') AS SELECT k FROM s",
        "REPLACE TABLE {table} WITH ('connector' = 'blackhole') AS SELECT k FROM s",
        "CREATE OR REPLACE TABLE {table} WITH ('connector' = 'blackhole') AS SELECT k FROM s",
    ],
)
@pytest.mark.parametrize("table", ["filled", "s", "passing"])
def test_a_table_that_a_query_would_fill_is_explained_and_not_made(
    environment: TableEnvironment, statement: str, table: str
) -> None:
    environment.execute_sql("CREATE TEMPORARY TABLE passing (z INT) WITH ('connector' = 'print')")
    before = environment.list_tables()
    given = statement.format(table=table)
    text = explained(environment, f"EXPLAIN {given}")
    name = f"default_catalog.default_database.{table}"
    assert f"LogicalSink(table=[{name}], fields=[k])" in text
    assert f"Sink(table=[{name}], fields=[k])\n+- TableSourceScan(" in text
    assert environment.explain_sql(given) == text
    assert environment.list_tables() == before
    assert environment.from_path("passing").get_resolved_schema().get_column_names() == ["z"]


@pytest.mark.parametrize("statement", ["SHOW TABLES", "CREATE VIEW v AS SELECT k FROM s", "DROP TABLE s"])
def test_what_runs_nothing_is_not_explained(environment: TableEnvironment, statement: str) -> None:
    with pytest.raises(SqlError):
        environment.execute_sql(f"EXPLAIN {statement}")
    with pytest.raises(SqlError, match="EXPLAIN"):
        environment.explain_sql(statement)
    assert environment.list_tables() == ["s"]
