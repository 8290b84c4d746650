"""Functions of your own: how they get their names, what they are called with, and what is wrong with them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError, ProgramError, SqlError
from firesteel.common.types import Row
from firesteel.table import (
    DataTypes,
    EnvironmentSettings,
    FunctionContext,
    ScalarFunction,
    TableEnvironment,
    TableFunction,
)
from firesteel.table.udf import udf, udtf
from firesteel.testing import executing
from tests.queries.tables import table_of

double = udf(lambda n: 2 * n, input_types=[DataTypes.BIGINT()], result_type=DataTypes.BIGINT())
"""A function that statements name."""
letters = udtf(lambda text: list(text), result_types="ROW<letter STRING>")
number = 7
"""No function."""


def set_of(n: int) -> set[int]:
    return {n}


HERE = __name__


def environment(*, batch: bool = False) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.create_temporary_view("t", env.from_elements([(1, "ab"), (2, ""), (3, "c")], ["n", "s"]))
    return env


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with executing(parallelism=2, epoch_records=2):
        return sorted(table_of(env, query).elements(), key=str)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("SELECT twise(n) FROM t", "did you mean twice?"),
        ("SELECT default_database.tweice(n) FROM t", "did you mean twice?"),
        ("SELECT UPPR(s) FROM t", "did you mean UPPER?"),
        ("SELECT * FROM t, LATERAL TABLE(leters(s)) AS l(letter)", "did you mean letters?"),
        ("SELECT * FROM leters(TABLE t)", "did you mean letters?"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(query: str, hint: str):
    env = environment()
    env.create_temporary_function("twice", double)
    env.create_temporary_system_function("letters", letters)
    with pytest.raises(FiresteelError, match=re.escape(f"hint: {hint}")):
        env.sql_query(query)


def test_a_function_is_found_by_its_name_in_any_case():
    env = environment()
    env.create_temporary_function("Twice", double)
    assert rows(env, "SELECT TWICE(n), `twice`(n), default_catalog.default_database.Twice(n) FROM t") == [
        (2, 2, 2),
        (4, 4, 4),
        (6, 6, 6),
    ]


def test_those_of_the_session_go_before_built_in_ones_and_these_before_those_of_catalogs():
    env = environment()
    shout = udf(lambda text: f"{text}!", result_type="STRING")
    env.create_temporary_function("`upper`", shout)
    assert rows(env, "SELECT UPPER(s) FROM t WHERE n = 1") == [("AB",)]
    assert rows(env, "SELECT default_database.`UPPER`(s) FROM t WHERE n = 1") == [("ab!",)]
    env.create_temporary_system_function("upper", shout)
    assert rows(env, "SELECT UPPER(s) FROM t WHERE n = 1") == [("ab!",)]
    assert env.drop_temporary_system_function("UPPER")
    assert rows(env, "SELECT UPPER(s) FROM t WHERE n = 1") == [("AB",)]


def test_statements_create_alter_show_and_drop_functions():
    env = environment()
    env.execute_sql(f"CREATE FUNCTION f AS '{HERE}.double' LANGUAGE PYTHON")
    env.execute_sql(f"CREATE FUNCTION IF NOT EXISTS F AS '{HERE}.letters' LANGUAGE PYTHON")
    env.execute_sql(f"CREATE TEMPORARY FUNCTION g AS '{HERE}.letters' LANGUAGE PYTHON")
    env.execute_sql(f"CREATE TEMPORARY SYSTEM FUNCTION h AS '{HERE}.double' LANGUAGE PYTHON")
    assert rows(env, "SELECT f(n), h(n) FROM t WHERE n = 1") == [(2, 2)]
    assert rows(env, "SELECT n, letter FROM t, LATERAL TABLE(g(s))") == [(1, "a"), (1, "b"), (3, "c")]
    assert env.list_user_defined_functions() == ["f", "g", "h"]
    assert {"f", "g", "h", "upper"} <= {*env.list_functions()}
    with env.execute_sql("SHOW USER FUNCTIONS LIKE 'f%'").collect() as shown:
        assert [row[0] for row in shown] == ["f"]
    env.execute_sql(f"ALTER FUNCTION f AS '{HERE}.letters' LANGUAGE PYTHON")
    assert rows(env, "SELECT letter FROM LATERAL TABLE(f('xy'))") == [("x",), ("y",)]
    env.execute_sql("DROP FUNCTION f")
    env.execute_sql("DROP TEMPORARY FUNCTION g")
    env.execute_sql("DROP TEMPORARY SYSTEM FUNCTION h")
    env.execute_sql("DROP FUNCTION IF EXISTS f")
    assert env.list_user_defined_functions() == []


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("CREATE FUNCTION kept AS 'a.b' LANGUAGE PYTHON", "requires a name that no other function has"),
        ("CREATE TEMPORARY FUNCTION hiding AS 'a.b' LANGUAGE PYTHON", "a name that no other function has"),
        ("CREATE FUNCTION f AS 'com.example.F'", "a function in JAVA"),
        ("CREATE FUNCTION f AS 'com.example.F' LANGUAGE SCALA", "a function in SCALA"),
        ("ALTER FUNCTION nobody AS 'a.b' LANGUAGE PYTHON", "requires a function that exists"),
        ("ALTER TEMPORARY FUNCTION hiding AS 'a.b' LANGUAGE PYTHON", "ALTER of a temporary function"),
        ("DROP FUNCTION nobody", "requires a function that exists"),
        ("DROP TEMPORARY FUNCTION kept", "requires a function that exists"),
        ("DROP TEMPORARY SYSTEM FUNCTION kept", "requires a function that exists"),
        ("DROP FUNCTION hiding", "a temporary one of the same name hides it"),
        ("DROP DATABASE d", "requires a database without tables, functions and models"),
        ("SELECT nowhere(1)", "No module named 'nowhere'"),
        ("SELECT number(1)", "what udf(...), udtf(...) or udaf(...) has made"),
        ("SELECT nothing(1)", "has no attribute 'nothing'"),
    ],
)
def test_what_is_wrong_with_a_statement_is_said(statement: str, part: str):
    env = environment()
    env.execute_sql("CREATE DATABASE d")
    env.execute_sql("CREATE FUNCTION d.f AS 'a.b' LANGUAGE PYTHON")
    env.execute_sql("CREATE FUNCTION kept AS 'a.b' LANGUAGE PYTHON")
    env.execute_sql("CREATE FUNCTION nowhere AS 'nowhere.f' LANGUAGE PYTHON")
    env.execute_sql(f"CREATE FUNCTION number AS '{HERE}.number' LANGUAGE PYTHON")
    env.execute_sql(f"CREATE FUNCTION nothing AS '{HERE}.nothing' LANGUAGE PYTHON")
    env.create_temporary_function("hiding", double)
    with pytest.raises(SqlError) as raised:
        env.execute_sql(statement)
    assert part in str(raised.value)
    assert raised.value.line == 1


def test_functions_go_with_their_database():
    env = environment()
    env.execute_sql("CREATE DATABASE d")
    env.execute_sql("CREATE FUNCTION d.f AS 'a.b' LANGUAGE PYTHON")
    env.create_temporary_function("d.g", double)
    env.execute_sql("DROP DATABASE d CASCADE")
    env.execute_sql("CREATE DATABASE d")
    with pytest.raises(SqlError, match=r"d\.g"):
        env.execute_sql("SELECT d.g(1)")


def test_names_that_are_taken_and_names_that_are_not_there():
    env = environment()
    env.create_temporary_function("f", double)
    with pytest.raises(ProgramError, match="no other function has"):
        env.create_temporary_function("F", double)
    assert env.drop_temporary_function("f")
    assert not env.drop_temporary_function("f")
    assert not env.drop_function("f")
    assert not env.drop_temporary_system_function("f")
    with pytest.raises(ProgramError, match="requires a function with its types"):
        env.create_temporary_function("f", len)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: udf(3, result_type="INT"), "requires a function, or an object"),
        (lambda: udf(ScalarFunction, result_type="INT"), "requires a function, or an object"),
        (lambda: udtf(Opened(), result_types="INT"), "a class that extends TableFunction"),
        (lambda: udf(len), "requires a data type"),
        (lambda: udtf(list), "requires the types of the result's columns"),
        (lambda: udf(set_of), "requires a type for the result"),
        (lambda: udf(len, result_type=["INT"]), "requires a data type"),
        (lambda: udf(len, result_type="INT", func_type="fast"), "'general', 'pandas' or 'arrow'"),
        (lambda: udf(Opened(), result_type="INT", deterministic=False), "is_deterministic()"),
    ],
)
def test_what_is_no_function_is_refused(make: Any, part: str):
    with pytest.raises(ProgramError) as raised:
        make()
    assert part in str(raised.value)


class Opened(ScalarFunction):
    """Says in which subtask it is, and that it was opened once."""

    opened = 0

    def open(self, function_context: FunctionContext) -> None:
        self.opened += 1
        self.subtask = function_context.get_index_of_this_subtask()
        self.parallelism = function_context.get_number_of_parallel_subtasks()
        self.counter = function_context.get_metric_group().counter("calls")

    def eval(self, n: int) -> str:
        self.counter.inc()
        return f"{self.opened} {self.subtask < self.parallelism}"


class Closing(TableFunction):
    """Counts how often it is closed, in the process of the test."""

    closed: list[int] = []  # noqa: RUF012 - all objects share it

    def eval(self, n: int) -> Iterator[Row]:
        yield Row(n, str(n))
        yield Row(x=-n, y=None)

    def close(self) -> None:
        Closing.closed.append(1)


def test_functions_are_opened_and_closed_once_in_each_subtask():
    env = environment()
    env.create_temporary_function("opened", udf(Opened(), result_type="STRING"))
    env.create_temporary_function("pair", udtf(Closing(), result_types=["BIGINT", "STRING"]))
    assert set(rows(env, "SELECT opened(n), opened(n + 1) FROM t")) == {("1 True", "1 True")}
    found = rows(env, "SELECT f0, f1 FROM t, LATERAL TABLE(pair(n)) WHERE n < 3")
    assert found == [(-1, None), (-2, None), (1, "1"), (2, "2")]


@pytest.mark.parametrize("query", ["SELECT f(n) FROM t", "SELECT x FROM t, LATERAL TABLE(g(n)) AS u(x)"])
def test_an_error_of_a_function_names_it_the_operator_and_the_arguments(query: str):
    env = environment()
    env.create_temporary_function("f", udf(lambda n: 1 // (n - 2), result_type="BIGINT"))
    env.create_temporary_function("g", udtf(lambda n: (1 // (n - 2) for _ in "a"), result_types="BIGINT"))
    with pytest.raises(FiresteelError, match=r"function [fg] of .*ZeroDivisionError") as raised:
        rows(env, query)
    assert "the record (2,)" in str(raised.value)


@pytest.mark.parametrize(
    ("result", "given", "part"),
    [
        ("BIGINT", "x", "requires a whole number"),
        ("ROW<a INT, b INT>", 3, "requires rows of 2 values (a, b)"),
        ("ROW<a INT NOT NULL>", (None,), "requires a value"),
    ],
)
def test_a_result_of_another_type_is_an_error(result: str, given: Any, part: str):
    env = environment()
    env.create_temporary_function("f", udtf(lambda n: given, result_types=result))
    with pytest.raises(FiresteelError) as raised:
        rows(env, "SELECT * FROM t, LATERAL TABLE(f(n))")
    assert part in str(raised.value)
    assert "function f of" in str(raised.value)


def test_a_function_that_is_not_deterministic_is_called_for_each_of_its_calls():
    env = environment()
    env.create_temporary_function("draw", udf(random.random, result_type="DOUBLE", deterministic=False))
    env.create_temporary_function("fixed", udf(random.random, result_type="DOUBLE"))
    (row,) = rows(env, "SELECT draw() = draw(), fixed() = fixed() FROM t WHERE n = 1")
    assert row == (False, True)
    assert rows(env, "SELECT x = x FROM (SELECT draw() AS x FROM t) WHERE x >= 0") == [(True,)] * 3


def test_a_view_keeps_calling_the_functions_of_its_database():
    env = environment()
    env.create_temporary_function("f", double)
    env.execute_sql("CREATE VIEW v AS SELECT f(n) AS m FROM t")
    env.execute_sql("CREATE DATABASE d")
    env.execute_sql("USE d")
    assert rows(env, "SELECT m FROM default_database.v") == [(2,), (4,), (6,)]


def test_a_function_that_only_a_program_has_is_in_no_compiled_plan(tmp_path: Any):
    env = environment()
    env.execute_sql("CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '2')")
    env.execute_sql("CREATE TABLE sink (n BIGINT) WITH ('connector' = 'blackhole')")
    env.create_temporary_function("f", double)
    with pytest.raises(
        ProgramError, match="COMPILE PLAN requires functions that statements have named; got f,"
    ):
        env.execute_sql(f"COMPILE PLAN '{tmp_path / 'p.json'}' FOR INSERT INTO sink SELECT f(n) FROM numbers")
