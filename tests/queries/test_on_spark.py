"""Queries give Flink's tables on Spark, too: many of them are the INSERTs of one job."""

from __future__ import annotations

from typing import Any

import pytest

from firesteel.testing import executing
from tests.queries.tables import compared, expected, session
from tests.queries.together import sample, started, tables

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 2},
    "many epochs": {"parallelism": 3, "epoch_records": 20},
    "batch": {"parallelism": 2},
}
AT_ONCE = 15


@pytest.mark.parametrize("way", WAYS)
def test_queries_give_the_tables_that_flink_gives(
    way: str, long_form: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    batch = way == "batch"
    chosen = compared(batch=batch) if long_form else sample(compared(batch=batch))
    for start in range(0, len(chosen), AT_ONCE):
        some = chosen[start : start + AT_ONCE]
        capfd.readouterr()
        with executing("spark", **WAYS[way]):
            env = session(batch=batch)
            started(env, some).wait()
        for given, rows in zip(some, tables(env, some, capfd.readouterr().out), strict=True):
            assert rows == expected(given, batch=batch), given["query"]
