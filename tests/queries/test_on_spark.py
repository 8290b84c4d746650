"""Queries give Flink's tables on Spark, too: many of them are the INSERTs of one job."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firesteel.testing import executing
from tests.queries import test_changelogs, test_lookups
from tests.queries.flink.changelog_tables import HERE, definitions
from tests.queries.tables import Table, compared, expected, session
from tests.queries.together import sample, started, tables

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 2},
    "many epochs": {"parallelism": 3, "epoch_records": 20},
    "batch": {"parallelism": 2},
}
AT_ONCE = 15


@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", WAYS)
def test_queries_give_the_tables_that_flink_gives(
    way: str, thorough: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    batch = way == "batch"
    every = compared(batch=batch)
    chosen = every if thorough else sample(every)
    for start in range(0, len(chosen), AT_ONCE):
        some = chosen[start : start + AT_ONCE]
        capfd.readouterr()
        with executing("spark", **WAYS[way]):
            env = session(batch=batch)
            started(env, some).wait()
        for given, rows in zip(some, tables(env, some, capfd.readouterr().out), strict=True):
            assert rows == expected(given, batch=batch), given["query"]


def test_lookups_and_tables_of_changes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answers = {query: texts(rows) for query, rows in test_lookups.QUERIES}
    for given in test_changelogs.FLINK:
        if not given["twice"] and "refused" not in given and " twice" not in given["query"]:
            answers[given["query"]] = texts(Counter(map(tuple, given["rows"])))
    chosen = [{"query": query} for query in answers]
    with executing("spark", parallelism=2, epoch_records=7):
        env = test_lookups.session(tmp_path)
        for statement in definitions(HERE / "changes"):
            env.execute_sql(statement)
        started(env, chosen).wait()
    found = tables(env, chosen, capfd.readouterr().out)
    assert dict(zip(answers, map(texts, found), strict=True)) == answers


def texts(rows: Counter[tuple[Any, ...]]) -> Table:
    """Return rows as texts, with numbers of all types alike."""
    return Counter({tuple(map(_text, row)): count for row, count in rows.items()})


def _text(cell: Any) -> str | None:
    try:
        return f"{float(cell):.12g}"
    except (TypeError, ValueError):
        return None if cell is None else str(cell)
