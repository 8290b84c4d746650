"""What DESCRIBE FUNCTION and plans say of functions: the answers of real Flink for functions of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from firesteel.common.errors import SqlError
from firesteel.table import EnvironmentSettings, TableAggregateFunction, TableEnvironment
from firesteel.table.expressions import col
from firesteel.table.process_tables import ArgumentTrait, udptf
from firesteel.table.udf import udaf, udf, udtaf, udtf
from tests.table.flink.process_tables.functions import Kinds


class Best(TableAggregateFunction):
    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator.append(args[0])

    def emit_value(self, accumulator: Any) -> Any:
        yield max(accumulator)


@pytest.fixture
def env() -> TableEnvironment:
    found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    plain = udf(lambda a, b: a, input_types=["INT", "STRING"], result_type="BIGINT", deterministic=False)
    found.create_temporary_function("plain", plain)
    found.create_temporary_system_function(
        "many", udtf(lambda a: [a], input_types=["INT"], result_types="BIGINT")
    )
    found.create_temporary_system_function(
        "mean", udaf(lambda v: v.mean(), result_type="DOUBLE", func_type="pandas")
    )
    found.create_temporary_system_function("best", udtaf(Best(), result_type="BIGINT"))
    traits = [ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES]
    process = udptf(Kinds(), {"r": traits, "factor": "INT"}, "STRING")
    found.create_temporary_system_function("process", process)
    found.execute_sql("CREATE FUNCTION stored AS 'a.b' LANGUAGE PYTHON")
    return found


def described(env: TableEnvironment, statement: str) -> list[tuple[str, str]]:
    with env.execute_sql(statement).collect() as rows:
        return [tuple(row) for row in rows]


SYSTEM = [("is system function", "true"), ("is temporary", "true")]


def extended(kind: str, signature: str, deterministic: str = "true") -> list[tuple[str, str]]:
    return [
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", deterministic),
        ("supports constant folding", "true"),
        ("signature", signature),
    ]


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("DESCRIBE FUNCTION many", SYSTEM),
        ("DESC FUNCTION EXTENDED many", [*SYSTEM, *extended("TABLE", "many(arg0 => INT)")]),
        ("DESCRIBE FUNCTION EXTENDED mean", [*SYSTEM, *extended("AGGREGATE", "mean(*)")]),
        ("DESCRIBE FUNCTION EXTENDED best", [*SYSTEM, *extended("TABLE_AGGREGATE", "best(*)")]),
        (
            "DESCRIBE FUNCTION EXTENDED process",
            [
                *SYSTEM,
                *extended(
                    "PROCESS_TABLE",
                    "process(r => {TABLE, SET SEMANTIC TABLE, SUPPORT UPDATES}, factor => INT, "
                    "on_time => DESCRIPTOR, uid => STRING)",
                ),
            ],
        ),
        (
            "DESCRIBE FUNCTION EXTENDED default_catalog.default_database.plain",
            [
                ("is system function", "false"),
                ("is temporary", "true"),
                *extended("SCALAR", "plain(arg0 => INT, arg1 => STRING)", "false"),
            ],
        ),
        (
            "DESCRIBE FUNCTION stored",
            [
                ("is system function", "false"),
                ("is temporary", "false"),
                ("class name", "a.b"),
                ("function language", "PYTHON"),
                ("resource uris", "[]"),
            ],
        ),
        ("DESCRIBE FUNCTION `SUBSTRING`", [("is system function", "true"), ("is temporary", "false")]),
    ],
)
def test_a_function_is_described(
    env: TableEnvironment, statement: str, wanted: list[tuple[str, str]]
) -> None:
    assert described(env, statement) == wanted


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("DESCRIBE FUNCTION nosuch", "requires the name of a function"),
        ("DESCRIBE FUNCTION EXTENDED sha2", "EXTENDED of a built-in function"),
    ],
)
def test_what_cannot_be_described_is_refused(env: TableEnvironment, statement: str, part: str) -> None:
    with pytest.raises(SqlError, match=part):
        env.execute_sql(statement)


def test_a_plan_names_table_aggregates_as_flink_does(env: TableEnvironment) -> None:
    table = env.from_elements([("a", 1)], ["k", "v"])
    best = udtaf(Best(), result_type="BIGINT")
    plan = table.group_by(col("k")).flat_aggregate(best(col("v")).alias("m")).select(col("k"), col("m"))
    assert "GroupTableAggregate(groupBy=[k]" in plan.explain()
    assert "GroupAggregate(groupBy=[k]" in table.group_by(col("k")).select(col("v").sum).explain()
