"""Tables that several plans read are read once."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types import IntType, parse_type
from firesteel.functions.columns.connectors import TableSource
from firesteel.functions.columns.endpoints import ColumnSource
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, TableScan, UnionAll
from firesteel.relational.options import PlanOptions
from firesteel.relational.paths import read_at
from firesteel.relational.physical.explaining import execution_forest
from firesteel.relational.physical.planning import Connections
from firesteel.relational.planning import physical_plans
from tests.relational.plans import NoSource, T, connections, greater, project, ref, scan, table, timed
from tests.relational.test_physical_plans import shown


def shared(*plans: LogicalNode, connected: Connections | None = None) -> str:
    """Return the execution plan of several logical plans."""
    return execution_forest(physical_plans(plans, PlanOptions(), connected or connections()))


def test_a_scan_has_the_columns_of_all_its_readers() -> None:
    assert shared(project(scan(), c=2), project(scan(), b=1, c=2)) == shown("""
        Calc(select=[c])
        +- TableSourceScan(table=[[c, d, t, project=[b, c]]], fields=[b, c])(reuse_id=[1])

        Reused(reference_id=[1])
    """)


def test_the_computations_of_a_reader_are_one_operator_with_its_selection() -> None:
    few = Filter(scan(), greater(ref(scan(), 1), 2))
    assert shared(project(scan(), a=0), project(few, more=greater(ref(few, 1), 7))) == shown("""
        Calc(select=[a])
        +- TableSourceScan(table=[[c, d, t, project=[a, b]]], fields=[a, b])(reuse_id=[1])

        Calc(select=[(b > 7) AS more], where=[(b > 2)])
        +- Reused(reference_id=[1])
    """)


def test_readers_share_the_watermark() -> None:
    assert shared(project(timed(), ts=3, a=0), project(timed(), b=1)) == shown("""
        Calc(select=[ts, a])
        +- WatermarkAssigner(rowtime=[ts], watermark=[ts])(reuse_id=[1])
           +- TableSourceScan(table=[[c, d, t, project=[a, b, ts]]], fields=[a, b, ts])

        Calc(select=[b])
        +- Reused(reference_id=[1])
    """)


def test_fields_of_rows_are_read_once_for_all_readers() -> None:
    given = TableScan(table("r", {"a": IntType(), "r": parse_type("ROW<x INT, y STRING, z INT>")}))
    one, other = (Project(given, (read_at(given.row, (1, field)),), ("f",)) for field in (0, 1))
    assert shared(one, other) == shown("""
        Calc(select=[r_x AS f])
        +- TableSourceScan(table=[[c, d, r, project=[r_x, r_y]]], fields=[r_x, r_y])(reuse_id=[1])

        Calc(select=[r_y AS f])
        +- Reused(reference_id=[1])
    """)
    assert shared(one, project(given, r=1)) == shown("""
        Calc(select=[r_x AS f])
        +- Calc(select=[r, FIELD_0(r) AS r_x])(reuse_id=[1])
           +- TableSourceScan(table=[[c, d, r, project=[r]]], fields=[r])

        Calc(select=[r])
        +- Reused(reference_id=[1])
    """)


def test_a_plan_that_reads_a_table_twice_scans_it_once() -> None:
    both = UnionAll((project(scan(), k=0, n=1), project(scan(), k=0, n=3)), project(scan(), k=0, n=1).row)
    assert shared(both).count("TableSourceScan") == 1


def test_other_tables_are_scans_of_their_own() -> None:
    other = replace(T, options={"path": "elsewhere"})
    assert shared(project(scan(), a=0), project(scan(other), b=1)) == shown("""
        TableSourceScan(table=[[c, d, t, project=[a]]], fields=[a])

        TableSourceScan(table=[[c, d, t, project=[b]]], fields=[b])
    """)


def test_a_source_that_reads_all_columns_is_shared() -> None:
    class Whole(NoSource):
        def projected(self, columns: tuple[int, ...]) -> ColumnSource | None:  # type: ignore[override]
            return None

    connected = replace(connections(), source=lambda table: TableSource(Whole()))
    assert shared(project(timed(), a=0), project(timed(), c=2), connected=connected) == shown("""
        Calc(select=[a])
        +- WatermarkAssigner(rowtime=[ts], watermark=[ts])(reuse_id=[1])
           +- Calc(select=[a, c, ts])
              +- TableSourceScan(table=[[c, d, t]], fields=[a, b, c, ts])

        Calc(select=[c])
        +- Reused(reference_id=[1])
    """)
