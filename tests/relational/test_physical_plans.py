"""Physical plans: what the rules leave, exchanges and phases, changelog modes, refusals."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import BigIntType, Field, IntType, RowType, TimestampType
from firesteel.functions.columns.connectors import ChangelogMode, TableSink
from firesteel.relational.expressions import AggregateCall
from firesteel.relational.logical import nodes
from firesteel.relational.logical.nodes import (
    Aggregate,
    Filter,
    LogicalNode,
    UnionAll,
    WindowTable,
)
from firesteel.relational.logical.windows import Tumble
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.explaining import execution_forest
from firesteel.relational.planning import physical_plans
from firesteel.relational.tables import ResolvedTable
from tests.relational.plans import (
    ROWTIME,
    NoSink,
    connections,
    count,
    greater,
    grouped,
    planned,
    project,
    ref,
    scan,
    table,
    timed,
)

KV = {"k": IntType(), "n": BigIntType(nullable=False)}


def shown(text: str) -> str:
    return dedent(text).strip()


def counts() -> Aggregate:
    return grouped(scan(), (0,), n=count())


def into(node: LogicalNode, key: tuple[str, ...] | None = None) -> nodes.TableSink:
    return nodes.TableSink(node, table("s", KV, primary_key=key))  # type: ignore[arg-type]


def test_groups_are_aggregated_before_and_after_the_exchange() -> None:
    assert planned(counts()) == shown("""
        GlobalGroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n], changelogMode=[I,UA])
        +- Exchange(distribution=[hash[a]], changelogMode=[I])
           +- LocalGroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n], changelogMode=[I])
              +- TableSourceScan(table=[[c, d, t, project=[a]]], fields=[a], changelogMode=[I])
    """)


def test_one_phase_is_asked_for() -> None:
    assert planned(counts(), two_phase=False) == shown("""
        GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n], changelogMode=[I,UA])
        +- Exchange(distribution=[hash[a]], changelogMode=[I])
           +- TableSourceScan(table=[[c, d, t, project=[a]]], fields=[a], changelogMode=[I])
    """)


def test_an_aggregate_of_an_aggregate_needs_the_old_rows() -> None:
    plan = planned(grouped(counts(), (1,), m=count()), two_phase=False)
    assert plan == shown("""
        GroupAggregate(groupBy=[n], select=[n, COUNT_RETRACT(*) AS m], changelogMode=[I,UA,D])
        +- Exchange(distribution=[hash[n]], changelogMode=[I,UB,UA])
           +- Calc(select=[n], changelogMode=[I,UB,UA])
              +- GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n], changelogMode=[I,UB,UA])
                 +- Exchange(distribution=[hash[a]], changelogMode=[I])
                    +- TableSourceScan(table=[[c, d, t, project=[a]]], fields=[a], changelogMode=[I])
    """)


def test_a_sink_with_the_key_of_the_groups_gets_new_rows_only() -> None:
    plan = planned(into(counts(), ("k",)), connections(ChangelogMode.upserts()), two_phase=False)
    assert plan.split("\n")[:2] == [
        "Sink(table=[c.d.s], fields=[a, n], changelogMode=[NONE])",
        "+- GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n], changelogMode=[I,UA])",
    ]


def test_a_filter_of_updates_makes_the_old_rows_necessary() -> None:
    few = Filter(counts(), greater(ref(counts(), 1), 2))
    plan = planned(into(few, ("k",)), connections(ChangelogMode.upserts()), two_phase=False)
    assert plan.split("\n")[1:4] == [
        "+- UpdateBeforeToDelete(changelogMode=[I,UA,D])",
        "   +- Calc(select=[a, n], where=[>(n, 2)], changelogMode=[I,UB,UA])",
        "      +- GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n], changelogMode=[I,UB,UA])",
    ]


def test_what_plans_share_gives_old_rows_to_those_that_need_them() -> None:
    def sink(table: ResolvedTable) -> TableSink:
        return TableSink(
            NoSink(), ChangelogMode.all() if table.primary_key is None else ChangelogMode.upserts()
        )

    options = PlanOptions(two_phase=False)
    connected = replace(connections(), sink=sink)
    plans = physical_plans([into(counts(), ("k",)), into(counts())], options, connected)
    assert execution_forest(plans) == shown("""
        Sink(table=[c.d.s], fields=[a, n])
        +- DropUpdateBefore()
           +- GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n], state=[a row for each group])(reuse_id=[1])
              +- Exchange(distribution=[hash[a]])
                 +- TableSourceScan(table=[[c, d, t, project=[a]]], fields=[a])

        Sink(table=[c.d.s], fields=[a, n])
        +- Reused(reference_id=[1])
    """)


def test_a_filter_of_keys_moves_below_the_aggregate() -> None:
    plan = planned(Filter(counts(), greater(ref(counts(), 0), 2)), two_phase=False)
    assert plan.split("\n")[2:] == [
        "   +- Calc(select=[a], where=[>(a, 2)], changelogMode=[I])",
        "      +- TableSourceScan(table=[[c, d, t, project=[a]]], fields=[a], changelogMode=[I])",
    ]


def test_updates_do_not_go_into_an_appending_sink() -> None:
    with pytest.raises(ProgramError) as error:
        planned(into(project(counts(), k=0, n=1)))
    assert str(error.value) == shown("""
        Table sink 'c.d.s' doesn't support consuming update changes which is produced by node \
        GlobalGroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n])
          hint: declare PRIMARY KEY (...) NOT ENFORCED if the connector can update rows
    """).replace("        ", "")


def test_a_sink_whose_key_is_not_that_of_the_groups_is_refused() -> None:
    with pytest.raises(
        ProgramError, match=r"primary key \[n\], which differs from the upsert key .* got \[a\]"
    ):
        planned(into(counts(), ("n",)), connections(ChangelogMode.upserts()))


def test_updates_of_unions_come_from_their_parts() -> None:
    plan = planned(UnionAll((counts(), project(scan(), a=0, n=1)), counts().row), two_phase=False)
    assert plan.split("\n")[0] == "Union(all=[true], union=[a, n], changelogMode=[I,UA])"


def windowed() -> WindowTable:
    below = timed()
    when = [Field(name, TimestampType(3, nullable=False)) for name in ("window_start", "window_end")]
    fields = (*below.row.fields, *when, Field("window_time", ROWTIME))
    return WindowTable(below, Tumble(3, 60_000), RowType(fields, nullable=False))


def by_window(*, filtered: bool = False) -> Aggregate:
    node: LogicalNode = windowed()
    if filtered:
        node = Filter(node, greater(ref(node, 1), 3))
    return grouped(node, (0, 4, 5), n=count())


def test_an_aggregate_by_windows_assigns_them_itself() -> None:
    assert planned(by_window(filtered=True)) == shown("""
        Calc(select=[a, window_start, window_end, n], changelogMode=[I])
        +- GlobalWindowAggregate(groupBy=[a], window=[TUMBLE(time_col=[ts], size=[1 min])], \
select=[a, COUNT(*) AS n, start('w$) AS window_start, end('w$) AS window_end], changelogMode=[I])
           +- Exchange(distribution=[hash[a]], changelogMode=[I])
              +- LocalWindowAggregate(groupBy=[a], window=[TUMBLE(time_col=[ts], size=[1 min])], \
select=[a, COUNT(*) AS n], changelogMode=[I])
                 +- Calc(select=[a, ts], where=[>(b, 3)], changelogMode=[I])
                    +- WatermarkAssigner(rowtime=[ts], watermark=[ts], changelogMode=[I])
                       +- TableSourceScan(table=[[c, d, t, project=[a, b, ts]]], fields=[a, b, ts], changelogMode=[I])
    """)


def test_an_aggregate_of_a_window_aggregate_has_its_windows() -> None:
    total = AggregateCall("SUM", (3,), BigIntType())
    plan = planned(grouped(by_window(), (1, 2), total=total))
    assert plan.split("\n")[1].strip() == (
        "+- GlobalWindowAggregate(window=[TUMBLE(win_start=[window_start], win_end=[window_end], size=[1 min])], "
        "select=[SUM(n) AS total, start('w$) AS window_start, end('w$) AS window_end], changelogMode=[I])"
    )


def test_the_end_of_a_window_alone_is_an_ordinary_key() -> None:
    assert "GroupAggregate(groupBy=[window_end]" in planned(grouped(windowed(), (5,), n=count()))


def test_windows_of_updates_are_refused() -> None:
    twice = grouped(by_window(), (1,), m=count())
    assert "GlobalGroupAggregate(groupBy=[window_start]" in planned(twice)


def test_a_window_needs_a_time_attribute() -> None:
    below = scan()
    plan = WindowTable(below, Tumble(3, 60_000), windowed().row)
    with pytest.raises(
        ProgramError, match=r"requires the timecol is a time attribute type; got ts TIMESTAMP\(3\)"
    ):
        planned(plan)


def test_sets_of_keys_are_expanded() -> None:
    call = AggregateCall("GROUPING", (0,), BigIntType(nullable=False))
    row = RowType((*scan().row.fields[:1], Field("n", count().type), Field("g", call.type)), nullable=False)
    plan = planned(Aggregate(scan(), (0,), (count(0), call), row, ((0,), ())), two_phase=False)
    assert plan == shown("""
        Calc(select=[a, n, CASE(=(e$, 0), 0, 1) AS g], changelogMode=[I,UA])
        +- GroupAggregate(groupBy=[a, e$], select=[a, e$, COUNT(a_0) AS n], changelogMode=[I,UA])
           +- Exchange(distribution=[hash[a, e$]], changelogMode=[I])
              +- Expand(projects=[{a, a_0, 0 AS e$}, {null AS a, a_0, 1 AS e$}], changelogMode=[I])
                 +- Calc(select=[a, a AS a_0], changelogMode=[I])
                    +- TableSourceScan(table=[[c, d, t, project=[a]]], fields=[a], changelogMode=[I])
    """)
