"""Functions of your own in MATCH_RECOGNIZE: of a row, of rows that are missing, of what a match has measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.udf import udf
from firesteel.testing import executing
from tests.queries.tables import table_of

PRICES = [1, 12, 13, 5, 20, 3, 4, 11, 2]
Matches = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(params=[1, 2, 100], ids=lambda rows: f"epochs of {rows}")
def matches(tmp_path: Path, request: pytest.FixtureRequest) -> Matches:
    """Return what finds the matches in prices of consecutive seconds, in epochs of so many rows."""
    lines = [{"k": "a", "v": v, "t": f"2020-01-01 00:00:{second:02d}"} for second, v in enumerate(PRICES)]
    (tmp_path / "prices.json").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(
        "CREATE TABLE prices (k STRING, v INT, t TIMESTAMP(3), WATERMARK FOR t AS t) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
    )
    env.create_temporary_function("big", udf(lambda v: v > 10, result_type="BOOLEAN"))
    env.create_temporary_function("twice", udf(lambda v: -1 if v is None else 2 * v, result_type="INT"))
    env.create_temporary_function("plus", udf(lambda one, other: one + other, result_type="INT"))

    def found(clauses: str) -> list[tuple[Any, ...]]:
        query = f"SELECT * FROM prices MATCH_RECOGNIZE (PARTITION BY k ORDER BY t {clauses})"
        with executing(parallelism=2, epoch_records=request.param):
            return sorted(table_of(env, query).elements(), key=str)

    return found


def test_conditions_and_aggregates_call_functions_of_a_row(matches: Matches) -> None:
    assert matches(
        "MEASURES FIRST(A.v) AS f, SUM(twice(A.v)) AS s, COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW "
        "PATTERN (A+ B) DEFINE A AS big(v), B AS NOT big(B.v)"
    ) == [("a", 11, 22, 2), ("a", 12, 50, 3), ("a", 20, 40, 2)]


def test_measures_call_functions_of_what_is_measured(matches: Matches) -> None:
    assert matches(
        "MEASURES twice(LAST(A.v)) + 1 AS t, plus(B.v, SUM(A.v)) AS p, plus(1, twice(B.v)) AS q, B.v AS b "
        "AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS big(v), B AS NOT big(B.v)"
    ) == [("a", 23, 13, 5, 2), ("a", 27, 30, 11, 5), ("a", 41, 23, 7, 3)]


def test_a_function_of_a_row_that_is_not_there_is_one_of_nulls(matches: Matches) -> None:
    """There is no A before the only one, so `twice` gives -1."""
    clauses = "MEASURES A.v AS a, B.v AS b PATTERN (A B) DEFINE {}, B AS twice(A.v) < B.v"
    assert matches(clauses.format("A AS twice(LAST(A.v, 1)) = -1")) == [
        ("a", 1, 12),
        ("a", 4, 11),
        ("a", 5, 20),
    ]
    assert matches(clauses.format("A AS twice(LAST(A.v, 1)) > 0")) == []


def test_all_rows_of_a_match_have_the_columns_of_the_table(matches: Matches) -> None:
    found = matches(
        "MEASURES twice(A.v) AS w, v AS b ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW "
        "PATTERN (A B) DEFINE A AS big(A.v)"
    )
    assert [(v, *measures) for _, _, v, *measures in found] == [
        (12, 24, 12),
        (13, 24, 13),
        (20, 40, 20),
        (3, 40, 3),
        (11, 22, 11),
        (2, 22, 2),
    ]


def test_a_function_of_several_rows_is_refused_in_a_condition(matches: Matches) -> None:
    with pytest.raises(UnsupportedError, match=r"(?s)plus cannot be called in DEFINE.*plus\(A\.v, B\.v\)"):
        matches("MEASURES A.v AS a PATTERN (A B) DEFINE B AS plus(A.v, B.v) > 3")
