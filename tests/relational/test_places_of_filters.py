"""A condition that moves to another place in the plan is still said to be where it is written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firesteel.relational.logical.nodes import Filter, LogicalNode
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.push_filters import push_filters
from tests.sql.binding.catalogs import small_catalog

CATALOG = small_catalog()
LOOKED_UP = """SELECT x.a FROM (SELECT a, PROCTIME() AS p FROM t) AS x
JOIN s FOR SYSTEM_TIME AS OF x.p AS y ON x.a = y.a WHERE x.a > 3"""


def filters(node: LogicalNode) -> Iterator[Filter]:
    """Yield the filters of a plan."""
    if isinstance(node, Filter):
        yield node
    for below in node.inputs:
        yield from filters(below)


@pytest.mark.parametrize(
    ("sql", "lines"),
    [
        (
            "SELECT a\nFROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM t)\nWHERE n < 3",
            [3],
        ),
        ("SELECT a FROM (SELECT a, b FROM t\nWHERE b > 1)\nWHERE a > 3", [3]),
        ("SELECT a FROM (SELECT a FROM t UNION ALL SELECT a FROM s)\nWHERE a > 3", [2, 2]),
        ("SELECT x.a FROM t AS x\nJOIN s AS y ON x.a = y.a AND x.b > 3\nWHERE y.b > 4", [2, 3]),
        ("SELECT a FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a)\nWHERE a > 3\nAND n > 1", [2, 2]),
        (LOOKED_UP, [2]),
    ],
)
def test_a_filter_that_moves_keeps_its_place(sql: str, lines: list[int]) -> None:
    moved = filters(push_filters(CATALOG.query(sql), PlanOptions()))
    assert [one.place.span.line if one.place else None for one in moved] == lines
