"""Aggregate functions of your own: their life, what they are called with, and what is wrong with them."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError, ProgramError, UnsupportedError
from firesteel.common.types import Row
from firesteel.table import (
    AggregateFunction,
    EnvironmentSettings,
    FunctionContext,
    ListView,
    MapView,
    TableEnvironment,
)
from firesteel.table.udf import udaf
from firesteel.testing import executing
from tests.queries.tables import table_of

HERE = __name__


class Total(AggregateFunction):
    """The sum of a column, which counts how often it was called."""

    added = 0

    def open(self, function_context: FunctionContext) -> None:
        self.start = int(function_context.get_job_parameter("start", "0"))
        self.calls = function_context.get_metric_group().counter("calls")

    def create_accumulator(self) -> Row:
        return Row(0)

    def accumulate(self, accumulator: Row, n: int | None) -> None:
        Total.added += 1
        self.calls.inc()
        accumulator[0] += n or 0

    def retract(self, accumulator: Row, n: int | None) -> None:
        accumulator[0] -= n or 0

    def get_value(self, accumulator: Row) -> int:
        return int(self.start + accumulator[0])

    def get_result_type(self) -> str:
        return "BIGINT"


class Once(Total):
    """One that takes nothing back."""

    retract = AggregateFunction.retract


total = udaf(Total())
"""A function that statements name."""


def environment(*, batch: bool = False, **functions: Any) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    given = [(1, 10, "a"), (1, 20, "b"), (2, 5, "a"), (2, None, None), (3, 7, "c"), (1, 30, "a")]
    env.create_temporary_view("t", env.from_elements(given, ["k", "n", "s"]))
    for name, function in functions.items():
        env.create_temporary_function(name, function)
    return env


def rows(env: TableEnvironment, query: str, parallelism: int = 2) -> list[tuple[Any, ...]]:
    with executing(parallelism=parallelism, epoch_records=2):
        return sorted(table_of(env, query).elements(), key=str)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_statement_gives_it_a_name_and_each_row_is_added_once(batch: bool, parallelism: int):
    env = environment(batch=batch)
    env.execute_sql(f"CREATE FUNCTION total AS '{HERE}.total' LANGUAGE PYTHON")
    Total.added = 0
    assert rows(env, "SELECT k, total(n) FROM t GROUP BY k", parallelism) == [(1, 60), (2, 5), (3, 7)]
    assert Total.added == 6


def test_job_parameters_reach_it():
    env = environment(total=total)
    env.get_config().set("pipeline.global-job-parameters", "start:100")
    assert rows(env, "SELECT total(n) FROM t WHERE k = 3") == [(107,)]


def test_rows_are_taken_back_where_the_input_changes():
    env = environment(total=total)
    assert rows(env, "SELECT total(n) FROM (SELECT s, COUNT(*) AS n FROM t GROUP BY s)") == [(6,)]


def test_one_that_takes_nothing_back_is_refused_there():
    env = environment(once=udaf(Once()))
    with pytest.raises(UnsupportedError, match=r"Aggregate function once requires the method retract\(\)"):
        env.explain_sql("SELECT once(n) FROM (SELECT s, COUNT(*) AS n FROM t GROUP BY s)")


def test_a_function_of_series_has_all_values_of_a_group():
    span = udaf(lambda n: n.max() - n.min(), result_type="BIGINT", func_type="pandas")
    for batch in (False, True):
        env = environment(batch=batch, span=span)
        assert rows(env, "SELECT k, span(n) FROM t GROUP BY k") == [(1, 20), (2, 0), (3, 0)]


def test_any_function_has_frames():
    env = environment(batch=True, total=total)
    query = (
        "SELECT n, total(n) OVER (PARTITION BY k ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t"
    )
    assert rows(env, query) == [(10, 10), (20, 30), (30, 50), (5, 5), (7, 7), (None, 0)]


class Views(AggregateFunction):
    """The texts of a group with the number of times that each is there."""

    def create_accumulator(self) -> tuple[ListView[str], MapView[str, int]]:
        return ListView(), MapView()

    def accumulate(self, accumulator: tuple[ListView[str], MapView[str, int]], text: str | None) -> None:
        order, counts = accumulator
        if text is not None:
            if text not in counts:
                order.add(text)
            counts[text] = (counts[text] or 0) + 1

    def get_value(self, accumulator: tuple[ListView[str], MapView[str, int]]) -> str:
        order, counts = accumulator
        return " ".join(f"{text}{counts[text]}" for text in order)


def test_views_are_kept_with_the_accumulator():
    env = environment(seen=udaf(Views(), result_type="STRING"))
    assert rows(env, "SELECT k, seen(s) FROM t GROUP BY k", 1) == [(1, "a2 b1"), (2, "a1"), (3, "c1")]


class Wrong(Total):
    """One that fails in a method."""

    def __init__(self, method: str) -> None:
        self.method = method

    def create_accumulator(self) -> Row:
        if self.method == "create_accumulator":
            raise ValueError("no start")
        return Row(threading.Lock()) if self.method == "pickle" else Row(0)

    def accumulate(self, accumulator: Row, n: int | None) -> None:
        if self.method == "accumulate" and n == 20:
            raise ValueError("not twenty")

    def get_value(self, accumulator: Row) -> Any:
        if self.method == "get_value":
            raise ValueError("no value")
        return "x"


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("create_accumulator", "create_accumulator() of function wrong of"),
        ("accumulate", "got the record (20,)"),
        ("get_value", "get_value() of function wrong of"),
        ("pickle", "an accumulator that can be pickled"),
        ("type", "requires a whole number"),
    ],
)
def test_what_fails_names_the_method_and_the_row(method: str, part: str):
    env = environment(wrong=udaf(Wrong(method)))
    with pytest.raises(FiresteelError) as raised:
        rows(env, "SELECT wrong(n) FROM t")
    assert part in str(raised.value)
    assert "function wrong of" in str(raised.value)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (
            lambda: udaf(len, result_type="INT"),
            "requires an object of a class that extends AggregateFunction",
        ),
        (lambda: udaf(Total, result_type="INT"), "extends AggregateFunction"),
        (lambda: udaf(Total(), func_type="fast"), "'general' or 'pandas'"),
        (lambda: udaf(Views()), "get_result_type()"),
    ],
)
def test_what_is_no_function_is_refused(make: Any, part: str):
    with pytest.raises((ProgramError, UnsupportedError)) as raised:
        make()
    assert part in str(raised.value)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("SELECT n FROM t WHERE total(n) > 1", "uses the aggregate function TOTAL in WHERE"),
        ("SELECT * FROM t, LATERAL TABLE(total(n))", "requires a table function"),
        ("SELECT total(*) FROM t", "an asterisk"),
        ("SELECT pair(n) FROM t", "as in pair(BIGINT, BIGINT)"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(query: str, part: str):
    env = environment(total=total, pair=udaf(Total(), input_types=["BIGINT", "BIGINT"]))
    with pytest.raises(ProgramError) as raised:
        env.sql_query(query)
    assert part in str(raised.value)
