"""From plans to running jobs."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Final

from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.connectors.tables.collect import CollectTableSink
from firesteel.control import JobHandle
from firesteel.datastream.execution import execution_plan, start
from firesteel.functions.columns.connectors import ChangelogMode, TableSink
from firesteel.graph import Location
from firesteel.relational.explaining import explained
from firesteel.relational.logical import nodes
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.connecting import registered
from firesteel.relational.physical.planning import Connections
from firesteel.relational.planning import add_to_graph
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.table.job_state import COLLECT, own_state
from firesteel.table.session import Session
from firesteel.table.table_result import Printing, TableResult, of_values
from firesteel.table.tableau import MOST

NAME: Final = "pipeline.name"
_COLLECTED: Final = "*anonymous_collect$"
_WIDTHS: Final = ("table.display.max-column-width", "sql-client.display.max-column-width")


def run_query(plan: LogicalNode, session: Session) -> TableResult:
    """Start the job of a query; its rows are the result."""
    collecting = _collecting(plan, session)
    connections = _connections(session)
    sinks, job = _start([collecting], session, connections, COLLECT)
    printing = Printing(kinds=session.streaming, most=_most(session), zone=session.zone)
    return TableResult(plan.row, job.results(sinks[0]), printing, job=job)


def run_inserts(sinks: Sequence[LogicalNode], session: Session) -> TableResult:
    """Start one job of several INSERTs; the result has a column for each, with -1 for the number of rows."""
    names = _numbered([str(_target(sink).identifier).replace("`", "") for sink in sinks])
    _, job = _start(sinks, session, _connections(session), f"insert-into_{','.join(names)}")
    row = RowType(tuple(Field(name, BigIntType()) for name in names), nullable=False)
    return of_values(row, [[-1] * len(names)], Printing(raw=True), job=job)


def explain_plans(plans: Sequence[LogicalNode], details: Sequence[str], session: Session) -> str:
    """Return what would run, as text; with the detail JSON_EXECUTION_PLAN, its operators as JSON, too."""
    text = explained(plans, plan_options(session), _connections(session), details)
    if "JSON_EXECUTION_PLAN" not in details:
        return text
    return f"{text}\n== Physical Execution Plan ==\n{_execution_plan(plans, session)}\n"


def _execution_plan(plans: Sequence[LogicalNode], session: Session) -> str:
    sinks = [plan if isinstance(plan, nodes.TableSink) else _collecting(plan, session) for plan in plans]
    environment = session.job_environment()
    with environment._builder.apart() as builder:
        options = plan_options(session)
        added = add_to_graph(sinks, builder, options, _connections(session), Location.of_caller())
        return execution_plan(environment, added)


def plan_options(session: Session) -> PlanOptions:
    """Return what the session's options say about plans."""
    return PlanOptions.of(session.config.to_map(), batch=not session.streaming, zone=session.zone)


def _start(
    sinks: Sequence[LogicalNode], session: Session, connections: Connections, name: str
) -> tuple[list[int], JobHandle]:
    environment = session.job_environment()
    given = session.config.get(NAME, "")
    directory = given if given and name != COLLECT else name
    with environment._builder.apart() as builder, own_state(session.state_names, directory):
        added = add_to_graph(sinks, builder, plan_options(session), connections, Location.of_caller())
        return added, start(environment, added, None if given else name)


def _connections(session: Session) -> Connections:
    connected = registered(plan_options(session))
    token = uuid.uuid4().hex

    def sink(table: ResolvedTable) -> TableSink:
        if table.identifier.name.startswith(_COLLECTED):
            return TableSink(CollectTableSink(token), ChangelogMode.all())
        return connected.sink(table)

    return Connections(connected.source, sink)


def _collecting(plan: LogicalNode, session: Session) -> LogicalNode:
    """Return the plan that hands the rows of another to the program."""
    columns = tuple(PhysicalColumn(field.name, field.type) for field in plan.row.fields)
    return nodes.TableSink(plan, ResolvedTable(session.unnamed(_COLLECTED), columns))


def _numbered(names: Sequence[str]) -> list[str]:
    """Return the names, with a number behind each that is there several times.

    >>> _numbered(["a", "b", "a"])
    ['a_1', 'b', 'a_2']
    """
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(f"{name}_{seen[name]}" if names.count(name) > 1 else name)
    return result


def _target(sink: LogicalNode) -> ResolvedTable:
    assert isinstance(sink, nodes.TableSink)
    return sink.table


def _most(session: Session) -> int:
    for key in _WIDTHS:
        text = session.config.get(key, "")
        if text.isdecimal():
            return max(int(text), 1)
    return MOST
