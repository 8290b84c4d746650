"""Queries give Flink's tables when their job is killed or its parallelism changes: many are the INSERTs of one job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.queries.interrupted import Start, killed, rescaled
from tests.queries.tables import compared, expected, session
from tests.queries.together import sample, started, tables

AT_ONCE = 15


@pytest.mark.timeout(900)
@pytest.mark.parametrize("interrupted", [killed, rescaled])
def test_queries_give_the_tables_that_flink_gives(
    tmp_path: Path,
    interrupted: Callable[[Path, Start], None],
    thorough: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    chosen = compared() if thorough else sample(compared())
    jobs = -(-len(chosen) // AT_ONCE)
    for number in range(jobs):
        some = chosen[number::jobs]  # each job reads all tables, so all have many epochs
        capfd.readouterr()
        interrupted(tmp_path / str(number), lambda some=some: started(session(), some))
        for given, rows in zip(some, tables(session(), some, capfd.readouterr().out), strict=True):
            assert rows == expected(given), given["query"]
