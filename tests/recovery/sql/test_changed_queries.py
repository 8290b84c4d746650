"""A query that is not the one whose state is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.common.errors import StateMismatchError
from tests.recovery.sql.jobs import QUERIES, Table, prepared, run, table
from tests.recovery.sql.test_rescaling import Stopping

GROUPS = QUERIES["groups"][1]
WINDOWS = QUERIES["windows"][1]
CHANGED = {
    "another function": ("groups", GROUPS.replace("MAX", "MIN")),
    "one more function": ("groups", GROUPS.replace("SUM(v)", "SUM(v) + MIN(v)")),
    "another key": ("groups", GROUPS.replace("GROUP BY k", "GROUP BY v").replace("SELECT k", "SELECT v")),
    "another column": ("groups", GROUPS.replace("SUM(v)", "SUM(k)")),
    "without DISTINCT": ("groups", GROUPS.replace("DISTINCT v", "v")),
    "another window": ("windows", WINDOWS.replace("'6'", "'8'")),
    "another kind of window": ("windows", WINDOWS.replace("HOP", "CUMULATE")),
    "another gap": ("sessions", QUERIES["sessions"][1].replace("1.5", "2.5")),
    "another frame": ("over", QUERIES["over"][1].replace("3 PRECEDING", "5 PRECEDING")),
    "no groups": ("groups", "SELECT k, v, v, v, v FROM source ON CONFLICT DO DEDUPLICATE"),
}


def stopped(home: Path, name: str) -> None:
    """Run a query for three epochs."""
    prepared(home, name)
    run(home, name, parallelism=2, act=Stopping(3, home / "savepoints"), epoch_records=11)


@pytest.mark.parametrize("change", CHANGED)
def test_a_query_does_not_take_the_state_of_another_for_its_own(tmp_path: Path, change: str) -> None:
    name, query = CHANGED[change]
    home = tmp_path / "job"
    stopped(home, name)
    before = table(home)
    with pytest.raises(StateMismatchError, match="belongs to another program"):
        run(home, name, query=query, epoch_records=11)
    assert table(home) == before


def test_a_filter_may_change(tmp_path: Path) -> None:
    home = tmp_path / "job"
    stopped(home, "groups")
    before = table(home)
    query = GROUPS.replace("FROM source", "FROM source WHERE v < 0")
    run(home, "groups", query=query, epoch_records=11)
    assert table(home) == before


def test_a_query_may_leave_the_state_of_another_out(tmp_path: Path) -> None:
    home = tmp_path / "job"
    stopped(home, "groups")
    name, query = CHANGED["another function"]
    before = table(home)
    run(home, name, query=query, epoch_records=11, allow_non_restored_state=True)
    after = table(home)
    assert _count(after) == 120 - _count(before)


def _count(rows: Table) -> int:
    return sum(row[1] for row in rows)
