"""In BATCH mode, small inputs are read by one subtask, and what is computed of them has no exchange."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firesteel.functions.columns.connectors import TableSource
from firesteel.functions.source import Boundedness
from firesteel.graph import GraphBuilder, Location
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.connecting import registered
from firesteel.relational.physical.explaining import forest
from firesteel.relational.physical.planning import Connections
from firesteel.relational.planning import physical_plans, written
from firesteel.relational.tables import ResolvedTable
from tests.relational.plans import Sized, connections, sized
from tests.sql.binding.catalogs import small_catalog

CATALOG = small_catalog()
OPTIONS = PlanOptions(batch=True, small=1 << 20)
ROWS = {"s": 1_000, "part": 500, "t": 10_000_000}


def plan(sql: str, connected: Connections | None = None, **options: object) -> str:
    given = replace(OPTIONS, **options)  # type: ignore[arg-type]
    return forest(physical_plans([CATALOG.query(sql)], given, connected or sized(ROWS)))


def exchanges(sql: str, connected: Connections | None = None, **options: object) -> int:
    return plan(sql, connected, **options).count("Exchange(")


def test_groups_of_a_small_table_are_aggregated_at_once() -> None:
    assert plan("SELECT c, COUNT(*) AS n FROM s GROUP BY c ORDER BY n") == (
        "Sort(orderBy=[n ASC])\n"
        "+- GroupAggregate(groupBy=[c], select=[c, COUNT(*) AS n])\n"
        "   +- TableSourceScan(table=[[default_catalog, default_database, s, project=[c]]], fields=[c])"
    )


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT s.c FROM s JOIN part ON s.a = part.a", 0),
        ("SELECT s.c FROM s JOIN t ON s.a = t.a", 2),
        ("SELECT c, COUNT(*) FROM (SELECT c FROM s UNION ALL SELECT p FROM part) GROUP BY c", 0),
        ("SELECT c, COUNT(*) FROM (SELECT c FROM s UNION ALL SELECT c FROM t) GROUP BY c", 1),
        ("SELECT b, c, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM s", 0),
        ("SELECT s.c FROM s JOIN (VALUES (1), (2)) AS v(x) ON s.a = v.x", 0),
        ("SELECT COUNT(*) FROM bid", 1),
        ("SELECT x.c FROM s AS x JOIN s AS y ON x.f = y.f JOIN s AS z ON x.f = z.f", 4),
    ],
)
def test_what_is_computed_of_small_inputs_alone_needs_no_exchange(sql: str, count: int) -> None:
    assert exchanges(sql) == count
    assert exchanges(sql, small=0) >= count


def test_rows_that_become_many_are_exchanged() -> None:
    cross = "SELECT c, COUNT(*) FROM (SELECT s.c FROM s JOIN part ON s.f = (part.q > 3)) GROUP BY c"
    assert exchanges(cross, small=1 << 16) > exchanges(cross, small=1 << 30) == 0


def test_inputs_are_small_together_or_not_at_all() -> None:
    join = "SELECT s.c FROM s JOIN part ON s.a = part.a"
    assert exchanges(join, small=300 << 10) == 2
    assert exchanges(join, small=600 << 10) == 0


def test_a_table_that_never_ends_has_all_subtasks() -> None:
    class Endless(Sized):
        boundedness = Boundedness.CONTINUOUS_UNBOUNDED

    connected = Connections(lambda _: TableSource(Endless(10)), connections().sink)
    assert exchanges("SELECT c, COUNT(*) FROM s GROUP BY c", connected) == 1


def test_small_tables_have_all_subtasks_where_rows_are_looked_up() -> None:
    sql = (
        "SELECT o.a, s.c FROM (SELECT a, PROCTIME() AS p FROM part) AS o "
        "JOIN s FOR SYSTEM_TIME AS OF o.p ON o.a = s.a"
    )

    def source(table: ResolvedTable) -> TableSource:
        return TableSource(Sized(10))

    connected = replace(registered(OPTIONS), source=source)
    for query, subtasks in ((sql, [None, None]), ("SELECT a FROM part", [1])):
        plans = physical_plans([CATALOG.query(query)], OPTIONS, connected)
        builder = GraphBuilder()
        graph = builder.build(written(plans, builder, OPTIONS, Location.of_caller()))
        assert [node.parallelism for node in graph.nodes][: len(subtasks)] == subtasks


def test_streams_are_read_by_all_subtasks() -> None:
    assert exchanges("SELECT c, COUNT(*) FROM s GROUP BY c", batch=False) == 1


@pytest.mark.parametrize(
    ("options", "small"),
    [
        ({}, 4 << 20),
        ({"execution.batch.adaptive.auto-parallelism.enabled": "false"}, 0),
        ({"table.exec.resource.default-parallelism": "3"}, 0),
        ({"table.exec.resource.default-parallelism": "-1"}, 4 << 20),
        ({"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "64 mb"}, 64 << 20),
    ],
)
def test_the_options_are_those_of_flinks_scheduler(options: dict[str, str], small: int) -> None:
    assert PlanOptions.of(options, batch=True, zone="UTC").small == small
