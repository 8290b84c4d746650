"""In BATCH mode, the smaller side of a join stays, and is in every subtask if it is small."""

from __future__ import annotations

import pytest

from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import forest
from firesteel.relational.planning import physical_plans
from tests.relational.plans import connections, sized
from tests.sql.binding.catalogs import small_catalog

CATALOG = small_catalog()
ROWS = {"s": 1_000, "part": 500, "t": 10_000_000}
SMALL = 1 << 20


def plan(sql: str, most: int = SMALL, *, known: bool = True) -> str:
    connected = sized(ROWS) if known else connections()
    return forest(
        physical_plans([CATALOG.query(sql)], PlanOptions(batch=True, most_everywhere=most), connected)
    )


@pytest.mark.parametrize(
    ("join", "stays", "everywhere"),
    [
        ("SELECT s.c FROM s JOIN t ON s.a = t.a", "left", True),
        ("SELECT s.c FROM t JOIN s ON s.a = t.a", "right", True),
        ("SELECT s.c FROM t LEFT JOIN s ON s.a = t.a", "right", True),
        ("SELECT t.c FROM t WHERE a IN (SELECT a FROM s)", "right", True),
        ("SELECT t.c FROM t WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.a = t.a)", "right", True),
        ("SELECT s.c FROM s RIGHT JOIN t ON s.a = t.a", "left", True),
        # Each row of the small side that has no partner, or has one, is in the result once.
        ("SELECT s.c FROM s LEFT JOIN t ON s.a = t.a", "left", False),
        ("SELECT s.c FROM s FULL JOIN t ON s.a = t.a", "left", False),
        ("SELECT s.c FROM s WHERE a IN (SELECT a FROM t)", "left", False),
        ("SELECT s.c FROM s WHERE NOT EXISTS (SELECT 1 FROM t WHERE s.a = t.a)", "left", False),
    ],
)
def test_the_smaller_side_stays(join: str, stays: str, everywhere: bool) -> None:
    found = plan(join)
    assert f"build=[{stays}]" in found
    assert ("isBroadcast=[true]" in found) == ("distribution=[broadcast]" in found) == everywhere
    assert found.count("Exchange(") == (1 if everywhere else 2)
    assert "broadcast" not in plan(join, most=0)


def test_sides_of_unknown_size_are_nowhere_but_in_their_subtasks() -> None:
    found = plan("SELECT s.c FROM s JOIN t ON s.a = t.a", 1 << 60, known=False)
    assert "build=[right]" in found
    assert found.count("distribution=[hash") == 2


def test_rows_that_have_met_a_side_of_every_subtask_are_where_they_were() -> None:
    large = "SELECT x.a, x.b FROM t AS x JOIN t AS y ON x.a = y.a"
    sql = f"SELECT z.a, COUNT(*) FROM ({large}) AS z JOIN s ON z.b = s.a GROUP BY z.a"
    options = PlanOptions(batch=True, most_everywhere=SMALL, two_phase=False)
    found = forest(physical_plans([CATALOG.query(sql)], options, sized(ROWS)))
    assert found.startswith("GroupAggregate")
    assert found.index("keep_input_as_is[hash[a]]") < found.index("isBroadcast=[true]")


def test_the_bound_is_that_of_the_session() -> None:
    def bound(**options: str) -> int:
        named = {f"table.optimizer.join.{key}": value for key, value in options.items()}
        return PlanOptions.of(named, batch=True, zone="UTC").most_everywhere

    assert bound() == 10 << 20
    key = "broadcast-threshold"
    assert bound(**{key: "-1"}) == 0
    assert bound(**{key: "1048576"}) == 1 << 20
