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
        ("SELECT (SELECT COLLECT(s.a) FROM s WHERE s.a > t.a) FROM t", "COLLECT of all rows"),
        ("SELECT a FROM t WHERE a = (SELECT s.a FROM s WHERE s.a = t.a LIMIT 1)", "LIMIT and no ORDER BY"),
        ("SELECT a FROM t WHERE a = (SELECT a, a FROM s)", "requires one column"),
        (
            "SELECT t.a FROM t RIGHT JOIN UNNEST(ARRAY[1]) AS u(x) ON TRUE",
            "requires CROSS, INNER or LEFT JOIN",
        ),
        ("SELECT t.a FROM t CROSS JOIN UNNEST(t.a)", "requires an ARRAY, a MAP or a MULTISET"),
        ("SELECT t.a FROM t CROSS JOIN UNNEST(ARRAY[1]) AS u(x, y)", "requires 1 names of columns"),
        ("SELECT t.a FROM t, LATERAL TABLE(f(a))", "requires a table function; got f, which does not exist"),
        (
            "SELECT t.a FROM t, LATERAL TABLE(add_one(a))",
            "requires a table function; got add_one, which has one",
        ),
        ("SELECT words(c) FROM t", "requires a function with one value; got the table function words"),
        ("SELECT add_one(c) FROM t", "requires arguments as in add_one(BIGINT); got STRING"),
        (
            "SELECT add_one(a, a) FROM t",
            "requires arguments as in add_one(BIGINT); got 2 arguments (INT, INT)",
        ),
        ("SELECT add_one(DISTINCT a) FROM t", "uses DISTINCT with add_one, which is no aggregate"),
        ("SELECT a FROM t, LATERAL TABLE(words(DISTINCT c))", "uses DISTINCT with a table function"),
    ],
)
def test_what_is_wrong_is_said(query: str, part: str) -> None:
    with pytest.raises(SqlError) as found:
        CATALOG.query(query)
    assert part in str(found.value)


@pytest.mark.parametrize(
    ("join", "said", "column"),
    [
        ("RIGHT JOIN bid FOR SYSTEM_TIME AS OF b.bidtime AS x ON b.auction = x.auction", "RIGHT JOIN", 22),
        (
            "JOIN bid FOR SYSTEM_TIME AS OF b.price AS x ON b.auction = x.auction",
            "requires a TIMESTAMP in",
            53,
        ),
        (
            "JOIN bid FOR SYSTEM_TIME AS OF b.bidtime + INTERVAL '1' DAY AS x ON b.auction = x.auction",
            "requires a time attribute of the left table",
            53,
        ),
        ("JOIN s FOR SYSTEM_TIME AS OF b.bidtime AS x ON b.auction = x.a", "got no row time attribute", 27),
        ("JOIN bid FOR SYSTEM_TIME AS OF b.nosuch AS x ON b.auction = x.auction", "got nosuch", 55),
        (", bid FOR SYSTEM_TIME AS OF x.bidtime AS x", "requires the name of a table in FROM", 49),
    ],
)
def test_what_a_temporal_join_requires(join: str, said: str, column: int) -> None:
    with pytest.raises(SqlError) as caught:
        CATALOG.query(f"SELECT 1 FROM bid b {'' if join.startswith(',') else ' '}{join}")
    assert said in str(caught.value)
    assert f"column {column})" in str(caught.value)


def test_the_right_columns_of_a_temporal_join_are_no_time_attributes() -> None:
    plan = CATALOG.query(
        "SELECT b.bidtime, x.bidtime AS was FROM bid AS b JOIN bid FOR SYSTEM_TIME AS OF b.bidtime AS x"
        " ON b.auction = x.auction"
    )
    assert [str(field.type).endswith("*ROWTIME*") for field in plan.row.fields] == [True, False]


def test_a_table_as_it_was_needs_a_table_to_the_left_of_it() -> None:
    with pytest.raises(SqlError, match=r"(?s)column 19\) requires a table to the left of it"):
        CATALOG.query("SELECT * FROM bid FOR SYSTEM_TIME AS OF bidtime")
    with pytest.raises(SqlError, match="a time that is given"):
        CATALOG.query("SELECT * FROM bid FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01 00:00:00'")
