"""What FROM says of joins besides their rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firesteel.common.errors import SqlError
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import Aggregate, LogicalNode
from tests.sql.binding.catalogs import small_catalog

CATALOG = small_catalog()
DAY, HOUR = 86_400_000, 3_600_000


def nodes(plan: LogicalNode) -> Iterator[LogicalNode]:
    yield plan
    for given in plan.inputs:
        yield from nodes(given)


def joins(query: str) -> list[Join]:
    return [node for node in nodes(CATALOG.query(query)) if isinstance(node, Join)]


def test_a_hint_says_how_long_the_rows_of_each_side_live() -> None:
    (join,) = joins("SELECT /*+ STATE_TTL('x' = '1 d', 's' = '2 h') */ x.a FROM t AS x JOIN s ON x.a = s.a")
    assert join.times_to_live == (DAY, 2 * HOUR)
    (join,) = joins("SELECT /*+ STATE_TTL('s' = '2 h') */ x.a FROM t AS x LEFT JOIN s ON x.a = s.a")
    assert join.times_to_live == (None, 2 * HOUR)


def test_a_side_that_is_a_join_has_no_name() -> None:
    query = (
        "SELECT /*+ STATE_TTL('x' = '1 d', 'y' = '2 d', 'z' = '3 d') */ x.a"
        " FROM t AS x JOIN s AS y ON x.a = y.a, s AS z"
    )
    assert [join.times_to_live for join in joins(query)] == [(None, 3 * DAY), (DAY, 2 * DAY)]


def test_the_hint_of_a_join_is_not_that_of_groups() -> None:
    plan = CATALOG.query("SELECT /*+ STATE_TTL('x' = '1 d') */ s.a, COUNT(*) FROM t AS x, s GROUP BY s.a")
    (aggregate,) = [node for node in nodes(plan) if isinstance(node, Aggregate)]
    assert aggregate.time_to_live is None


@pytest.mark.parametrize(
    ("query", "part"),
    [
        (
            "SELECT /*+ STATE_TTL('q' = '1 d') */ x.a FROM t AS x JOIN s ON x.a = s.a",
            "requires the name of a table",
        ),
        ("SELECT a FROM t JOIN s ON t.a = s.a", "not the only one of this name; got a"),
        ("SELECT t.a FROM t JOIN s USING (zz)", "requires the name of a column; got zz"),
        ("SELECT t.a FROM t JOIN s ON t.a + s.a", "requires a condition (BOOLEAN) in ON"),
        ("SELECT t.a FROM t JOIN s ON t.a = q.a", "requires the name of a table in FROM"),
        ("SELECT a FROM t WHERE (a, b) IN (SELECT a FROM s)", "requires as many columns"),
        ("SELECT a FROM t WHERE a IN (SELECT MAX(s.a + t.b) FROM s)", "outside of its WHERE"),
    ],
)
def test_what_is_wrong_is_said(query: str, part: str) -> None:
    with pytest.raises(SqlError) as found:
        CATALOG.query(query)
    assert part in str(found.value)
