"""Random queries over tables that change give what DuckDB answers for the tables at the end, in both modes."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.against_duckdb import MODES, answered, case
from tests.queries.tables import session, table_of

USUAL = 100
ALL = 2_000
TOGETHER = 10
"""Seeds of one test."""


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=[] if first < USUAL else [pytest.mark.thorough])
        for first in range(0, ALL, TOGETHER)
    ],
)
def test_random_queries_have_the_answers_of_duckdb(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + TOGETHER):
        directory = tmp_path / str(seed)
        directory.mkdir()
        given = case(seed, directory)
        for mode in MODES:
            assert answered(given, mode, seed) == given.answer, f"seed {seed}, {mode}: {given.query}"


def test_a_column_of_a_join_may_equal_several() -> None:
    with executing(parallelism=2, epoch_records=7):
        rows = table_of(
            session(), "SELECT DISTINCT x.a, x.b FROM t AS x JOIN bid AS y ON x.a = y.k AND x.b = y.k"
        )
        swapped = table_of(
            session(), "SELECT DISTINCT x.a FROM t AS x JOIN bid AS y ON x.a = y.k AND x.a = y.v"
        )
    assert rows == {}
    assert swapped == {}


@pytest.mark.parametrize("name", ["$x", "order", "occurrences", "$"])
def test_rows_are_grouped_by_columns_of_any_name(name: str) -> None:
    with executing(parallelism=2):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.execute_sql(f"CREATE VIEW v AS SELECT * FROM (VALUES (1, 2), (1, 3), (2, 4)) AS t(`{name}`, n)")
        assert table_of(env, f"SELECT `{name}`, SUM(n) FROM v GROUP BY `{name}`") == {(1, 5): 1, (2, 4): 1}


@pytest.mark.parametrize("batch", [False, True], ids=["streaming", "batch"])
def test_a_chain_of_joins_is_the_same_with_the_option_of_multi_joins(batch: bool) -> None:
    joins = " ".join(f"LEFT JOIN bid AS b{place} ON b{place - 1}.k = b{place}.v" for place in range(1, 5))
    query = f"SELECT t.a, b4.k FROM t JOIN bid AS b0 ON t.a = b0.k {joins}"
    options = {"table.optimizer.multi-join.enabled": "true"}
    with executing(parallelism=2):
        plain = table_of(session(batch=batch), query)
        together = table_of(session(batch=batch, options=options), query)
    assert plain == together
    assert plain
