"""Scalar functions for a batch of rows (pandas, Arrow), those that are awaited, and types from annotations."""

from __future__ import annotations

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.table import AsyncScalarFunction, DataTypes, EnvironmentSettings, TableEnvironment
from firesteel.table.udf import udf
from firesteel.testing import executing
from tests.queries.tables import table_of


def environment(**functions: Any) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.create_temporary_view("t", env.from_elements([(1, "ab"), (2, None), (None, "c")], ["n", "s"]))
    for name, function in functions.items():
        env.create_temporary_function(name, function)
    return env


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with executing(parallelism=2, epoch_records=2):
        return sorted(table_of(env, query).elements(), key=str)


@udf(result_type="BIGINT", func_type="pandas")
def twice(n: pd.Series[int]) -> pd.Series[int]:
    assert isinstance(n, pd.Series)
    return n * 2


@udf(result_type="STRING", func_type="arrow")
def upper(text: pa.Array) -> pa.Array:
    assert isinstance(text, pa.Array)
    return pc.utf8_upper(text)


def test_a_function_of_series_gets_and_gives_those_of_a_batch():
    env = environment(twice=twice)
    assert rows(env, "SELECT n, twice(n), twice(twice(n) + 1) FROM t") == [
        (1, 2, 6),
        (2, 4, 10),
        (None, None, None),
    ]


def test_a_function_of_arrays_of_arrow_does_the_same():
    assert rows(environment(up=upper), "SELECT up(s) FROM t") == [("AB",), ("C",), (None,)]


def test_rows_are_frames_and_times_have_the_zone_of_the_session():
    @udf(result_type="ROW<a INT, at_time TIMESTAMP_LTZ(3), on_day DATE, d DECIMAL(4, 1)>", func_type="pandas")
    def parts(row: pd.DataFrame, at: pd.Series[Any], day: pd.Series[Any], d: pd.Series[Any]) -> pd.DataFrame:
        assert list(row.columns) == ["x", "y"]
        assert str(at.dt.tz) == "Asia/Tokyo"
        assert type(day[0]) is dt.date
        return pd.DataFrame({"a": row["x"] + 1, "at": at.dt.tz_localize(None), "day": day, "d": d})

    env = environment(parts=parts)
    env.get_config().set_local_timezone("Asia/Tokyo")
    query = """SELECT p.a, CAST(p.at_time AS STRING), p.on_day, p.d FROM (SELECT parts(
        CAST(ROW(5, 'z') AS ROW<x INT, y STRING>), TO_TIMESTAMP_LTZ(0, 3), DATE '2024-02-29', 1.5) AS p)"""
    assert rows(env, query) == [(6, "1970-01-01 09:00:00.000", dt.date(2024, 2, 29), Decimal("1.5"))]


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (udf(lambda n: n[:0], result_type="BIGINT", func_type="pandas"), "one result for each of"),
        (udf(lambda n: 5, result_type="BIGINT", func_type="pandas"), "a Series or a DataFrame"),
        (udf(lambda n: n + 0.5, result_type="BIGINT", func_type="pandas"), "does not fit BIGINT"),
        (udf(lambda n: n, result_type="BIGINT NOT NULL", func_type="pandas"), "requires a value in each row"),
        (udf(lambda n: n / "x", result_type="BIGINT", func_type="pandas"), "TypeError"),
        (udf(lambda n: [1], result_type="BIGINT", func_type="arrow"), "an array of Arrow"),
        (udf(lambda n: pa.array(["x"] * len(n)), result_type="BIGINT", func_type="arrow"), "does not fit"),
        (udf(lambda n: "x", result_type="BIGINT"), "for the record (1,)"),
    ],
)
def test_what_is_wrong_names_the_function(function: Any, part: str):
    with pytest.raises(FiresteelError) as raised:
        rows(environment(f=function), "SELECT f(n) FROM t")
    assert part in str(raised.value)
    assert "function f of" in str(raised.value)


class Counting(AsyncScalarFunction):
    """Says how many calls ran at once at most, and fails a row some times before it answers."""

    most = running = 0
    failures = 0

    async def eval(self, n: int | None, failing: int) -> str:
        Counting.running += 1
        Counting.most = max(Counting.most, Counting.running)
        try:
            await asyncio.sleep(0)
            if failing and Counting.failures < failing:
                Counting.failures += 1
                raise ConnectionError("no answer")
            for _ in range(3 - (n or 0)):  # later rows answer sooner
                await asyncio.sleep(0)
            return f"<{n}>"
        finally:
            Counting.running -= 1


@pytest.fixture(autouse=True)
def fresh_counts() -> None:
    Counting.most = Counting.running = Counting.failures = 0


def counted(most: int = 10, **options: str) -> TableEnvironment:
    env = environment(f=udf(Counting(), result_type="STRING"))
    env.create_temporary_view("many", env.from_elements([(n,) for n in range(20)], ["n"]))
    config = env.get_config()
    config.set("table.exec.async-scalar.max-concurrent-operations", str(most))
    config.set("table.exec.async-scalar.retry-delay", "1 ms")
    for name, value in options.items():
        config.set(f"table.exec.async-scalar.{name.replace('_', '-')}", value)
    return env


def test_calls_run_at_once_and_results_are_those_of_their_rows():
    env = counted(most=4)
    with executing(parallelism=1, epoch_records=20):
        found = list(table_of(env, "SELECT n, f(n, 0) FROM many").elements())
    assert found == [(n, f"<{n}>") for n in range(20)]
    assert Counting.most == 4


def test_a_call_that_fails_is_made_again():
    assert rows(counted(), "SELECT f(n, 3) FROM t WHERE n = 1") == [("<1>",)]
    assert Counting.failures == 3


@pytest.mark.parametrize(("options", "failing"), [({}, 4), ({"retry_strategy": "NO_RETRY"}, 1)])
def test_the_last_failure_is_an_error_of_the_row(options: dict[str, str], failing: int):
    with pytest.raises(FiresteelError, match=r"function f of .*ConnectionError: no answer") as raised:
        rows(counted(**options), f"SELECT f(n, {failing}) FROM t WHERE n = 1")
    assert "(1, " in str(raised.value)


def test_a_call_that_does_not_answer_is_an_error():
    @udf
    async def never(n: int) -> int:
        await asyncio.Event().wait()
        return n

    env = environment(never=never)
    env.get_config().set("table.exec.async-scalar.timeout", "20 ms")
    with pytest.raises(FiresteelError, match="an answer within 20 ms") as raised:
        rows(env, "SELECT never(n) FROM t WHERE n = 2")
    assert "(2,)" in str(raised.value)


def test_one_that_is_awaited_is_of_one_row():
    async def f(n: int) -> int:
        return n

    with pytest.raises(ProgramError, match="'general' as func_type"):
        udf(f, result_type="INT", func_type="pandas")


def test_the_type_of_a_result_is_that_of_the_annotation():
    def of(n: int | None) -> dict[str, list[Decimal]] | None:
        return None if n is None else {"k": [Decimal(n)]}

    assert str(udf(of).signature.result) == "MAP<STRING, ARRAY<DECIMAL(38, 18)>>"
    assert str(udf(of, result_type=DataTypes.INT()).signature.result) == "INT"
    assert rows(environment(f=udf(of)), "SELECT f(n)['k'][1] FROM t WHERE n = 2") == [(Decimal(2),)]
