"""Exchanges leave rows in their subtasks that are distributed by the same columns already."""

from __future__ import annotations

import re

import pytest

from firesteel.graph import GraphBuilder, Location
from firesteel.graph.nodes import AUTO, KeyColumns
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import forest
from firesteel.relational.planning import physical_plans, written
from tests.relational.plans import connections
from tests.sql.binding.catalogs import small_catalog

CATALOG = small_catalog()
FIRST = "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY d) AS n FROM ({query})) WHERE n = 1"


def exchanges(sql: str, *, batch: bool = False) -> list[str]:
    """Return the distributions of a plan's exchanges, from the result to the sources."""
    text = forest(
        physical_plans([CATALOG.query(sql)], PlanOptions(batch=batch, two_phase=False), connections())
    )
    return re.findall(r"Exchange\(distribution=\[(.*?)\]\)", text)


def first(by: str, query: str) -> str:
    return FIRST.format(by=by, query=query)


JOINED = "SELECT t.a, t.b, s.a AS sa, s.b AS sb, t.d FROM t {kind} JOIN s ON t.a = s.a"


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize(
    ("kind", "by", "kept"),
    [
        ("INNER", "a", True),
        ("INNER", "sa", True),
        ("INNER", "b", False),
        ("INNER", "a, b", False),
        ("LEFT", "a", True),
        ("LEFT", "sa", False),
        ("RIGHT", "sa", True),
        ("RIGHT", "a", False),
        ("FULL", "a", False),
        ("FULL", "sa", False),
    ],
)
def test_a_rank_over_a_join(kind: str, by: str, kept: bool, batch: bool) -> None:
    top, *_ = exchanges(first(by, JOINED.format(kind=kind)), batch=batch)
    assert top == (f"keep_input_as_is[hash[{by}]]" if kept else f"hash[{by}]")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT a, MAX(n) FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b) GROUP BY a",
            ["hash[a]", "hash[a, b]"],
        ),
        (
            "SELECT b, a, MAX(n) FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b) GROUP BY b, a",
            ["hash[b, a]", "hash[a, b]"],
        ),
        (
            "SELECT x, MAX(d) FROM (SELECT a AS x, d FROM t WHERE a IN (SELECT a FROM s)) GROUP BY x",
            ["keep_input_as_is[hash[x]]", "hash[a]", "hash[a]"],
        ),
        (
            "SELECT x, MAX(d) FROM (SELECT a + 1 AS x, d FROM t WHERE a IN (SELECT a FROM s)) GROUP BY x",
            ["hash[x]", "hash[a]", "hash[a]"],
        ),
        ("SELECT COUNT(*) FROM (SELECT t.a FROM t JOIN s ON t.a = s.a)", ["single", "hash[a]", "hash[a]"]),
        ("SELECT COUNT(*) FROM (SELECT t.a FROM t, s)", ["single", "single", "single"]),
    ],
)
def test_other_operators(sql: str, expected: list[str]) -> None:
    assert exchanges(sql) == expected


def test_sides_of_a_join_stay_where_they_were_aggregated() -> None:
    sql = """SELECT * FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS x
        JOIN (SELECT a, MAX(b) AS m FROM s GROUP BY a) AS y ON x.a = y.a"""
    assert exchanges(sql) == ["keep_input_as_is[hash[a]]", "hash[a]"] * 2


def test_the_graph_sends_kept_rows_on() -> None:
    builder = GraphBuilder()
    plans = physical_plans(
        [CATALOG.query(first("a", JOINED.format(kind="INNER")))], PlanOptions(), connections()
    )
    graph = builder.build(written(plans, builder, PlanOptions(), Location("program.py", 1)))
    inputs = {
        node.name.partition("[")[0]: [edge.partitioning for port in node.inputs for edge in port]
        for node in graph.nodes
    }
    assert inputs["Rank"] == [AUTO]
    assert inputs["Join"] == [KeyColumns(("a",)), KeyColumns(("a",))]
