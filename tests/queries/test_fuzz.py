"""Whatever query is asked: rows, or an error of ours with its place; never one of Python, Arrow or DuckDB."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firesteel.common.errors import ConstraintError, ExpressionError, SqlError
from firesteel.table import EnvironmentSettings, ExplainDetail, TableEnvironment
from firesteel.testing import executing
from tests.queries.random_queries import TABLES, Queries


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("random")
    lines = [
        {
            "a": place % 3 if place % 5 else None,
            "b": place,
            "s": ["x", "a-b", "12", None, "2020-01-01 00:00:00"][place % 5],
            "d": place * 1.25,
            "f": place / 3,
            "x": [True, False, None][place % 3],
            "dt": f"2020-01-0{place % 9 + 1}",
            "ts": f"2020-01-01 00:00:{place:02}",
            "l": [place, None] if place % 2 else None,
            "r": {"n": place, "w": f"w{place}"} if place % 3 else None,
        }
        for place in range(20)
    ]
    for name, end in (("t", ""), ("u", "Z")):
        (into / name).mkdir()
        rows = [{**line, "ts": f"{line['ts']}{end}"} for line in lines]
        (into / name / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return into


def environment(path: Path, seed: int) -> TableEnvironment:
    batch = seed % 2
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    for table in TABLES:
        env.execute_sql(table.format(path=path))
    return env


def planned(path: Path, seed: int) -> bool:
    """Return whether a query has a plan; nothing but errors with a place may be raised."""
    try:
        environment(path, seed).explain_sql(Queries(seed).statement(), ExplainDetail.JSON_EXECUTION_PLAN)
    except SqlError:
        return False
    return True


def ran(path: Path, seed: int) -> bool:
    """Return whether a query has rows, all of which are read."""
    try:
        result = environment(path, seed).execute_sql(Queries(seed).statement())
        with result.collect() as rows:
            list(rows)
    except (SqlError, ExpressionError, ConstraintError):
        return False
    return True


def test_queries_are_planned_or_refused_at_their_place(path: Path) -> None:
    found = [planned(path, seed) for seed in range(150)]
    assert 50 < sum(found) < 140


def test_queries_run_or_fail_with_an_expression_and_a_row(path: Path) -> None:
    with executing(parallelism=1):
        found = [ran(path, seed) for seed in range(1_000, 1_030)]
    assert 8 < sum(found) < 29
