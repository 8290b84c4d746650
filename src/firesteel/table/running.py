"""From plans to running jobs."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.connectors.tables.collect import CollectTableSink
from firesteel.connectors.tables.registry import register
from firesteel.control import JobHandle
from firesteel.datastream.execution import execution_plan, start
from firesteel.functions.columns.connectors import ChangelogMode, TableSink
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.graph import GraphBuilder, Location
from firesteel.relational.explaining import explained
from firesteel.relational.logical import nodes
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.connecting import registered
from firesteel.relational.physical.explaining import forest
from firesteel.relational.physical.planning import Connections
from firesteel.relational.physical.sinks import Sink
from firesteel.relational.planning import add_to_graph, compiled, written
from firesteel.relational.stored import StoredPlan, stored_plan
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.spark.hive.connector import HiveConnector
from firesteel.spark.table_connector import SparkConnector
from firesteel.table.catalog.functions import ImportedFunction
from firesteel.table.job_state import COLLECT, own_state
from firesteel.table.session import Session, Submit
from firesteel.table.table_config import TableConfig
from firesteel.table.table_result import Printing, TableResult, of_values
from firesteel.table.tableau import MOST

# Spark is above the connectors: it brings its own.
register(SparkConnector())
register(HiveConnector())

NAME: Final = "pipeline.name"
SYNCHRONOUS: Final = "table.dml-sync"
_COLLECTED: Final = "*anonymous_collect$"
_Adding = Callable[[GraphBuilder], list[int]]
"""Adds operators to a program, and gives the ids of the sinks' nodes."""

MadeSink = Callable[[ResolvedTable], TableSink]
"""Gives the sink of a table."""

_WIDTHS: Final = ("table.display.max-column-width", "sql-client.display.max-column-width")


def run_query(plan: LogicalNode, session: Session) -> TableResult:
    """Start the job of a query; its rows are the result."""
    collecting = _collecting(plan, session)
    connections = _connections(session)
    sinks, job = _start(_adding([collecting], session, connections), session, COLLECT)
    printing = Printing(kinds=session.streaming, most=most_width(session.config), zone=session.zone)
    return TableResult(plan.row, job.results(sinks[0]), printing, job=job)


def run_inserts(sinks: Sequence[LogicalNode], session: Session) -> TableResult:
    """Start one job of several INSERTs; the result has a column for each, with -1 for the number of rows."""
    targets = [str(_target(sink).identifier) for sink in sinks]
    if session.submit is not None:
        return _submitted(targets, compiled_plan(sinks, session), session, session.submit)
    return _run(targets, session, _adding(sinks, session, _connections(session)))


def in_step(result: TableResult, session: Session) -> TableResult:
    """Return the result of INSERTs, whose job has ended if 'table.dml-sync' is 'true'. Raises the error of the job."""
    if session.config.get(SYNCHRONOUS, "false").lower() == "true":
        result.wait()
    return result


def run_sink(sink: LogicalNode, session: Session, name: str, made: MadeSink | None = None) -> JobHandle:
    """Start the job of one INSERT in the state directory of the surroundings; `made` gives the sink of its table."""
    environment = session.job_environment()
    with environment._builder.apart() as builder:
        return start(environment, _adding([sink], session, _connections(session, made))(builder), name)


def run_stored_sink(text: str, name: str, session: Session, made: MadeSink | None = None) -> JobHandle:
    """Start the job of a compiled plan as `run_sink` does, under a name that its errors begin with, too."""
    plan, options = _stored(text, name, session, made), plan_options(session)
    environment = session.job_environment()
    with environment._builder.apart() as builder:
        added = written(plan.plans, builder, options, Location.of_caller(), plan.ids)
        return start(environment, added, name)


def attach(sinks: Sequence[LogicalNode], session: Session) -> None:
    """Add the operators of INSERTs to the program of the session, whose job runs them, too."""
    _adding(sinks, session, _connections(session))(session.job_environment()._builder)


def _run(targets: Sequence[str], session: Session, add: _Adding) -> TableResult:
    names = _numbered([name.replace("`", "") for name in targets])
    _, job = _start(add, session, f"insert-into_{','.join(names)}")
    return _unknown_counts(names, job)


def _submitted(targets: Sequence[str], plan: str, session: Session, submit: Submit) -> TableResult:
    submit(plan, session.config.to_map())
    return _unknown_counts(_numbered([name.replace("`", "") for name in targets]), None)


def _unknown_counts(names: Sequence[str], job: JobHandle | None) -> TableResult:
    row = RowType(tuple(Field(name, BigIntType()) for name in names), nullable=False)
    return of_values(row, [[-1] * len(names)], Printing(raw=True), job=job)


def compiled_plan(sinks: Sequence[LogicalNode], session: Session, made: MadeSink | None = None) -> str:
    """Return what `run_inserts` would run, or `run_sink`, as the text of a file."""
    with session.job_environment()._builder.apart() as builder:
        return compiled(sinks, builder, plan_options(session), _connections(session, made)).json


def run_plan(text: str, who: str, session: Session) -> TableResult:
    """Start the job of a compiled plan, the text of a file; errors begin with `who`."""
    return _run_stored(_stored(text, who, session), text, who, session)


def explain_plan(text: str, who: str, session: Session) -> str:
    """Return the operators of a compiled plan, the text of a file, as text; errors begin with `who`."""
    return forest(_stored(text, who, session).plans)


def _stored(text: str, who: str, session: Session, made: MadeSink | None = None) -> StoredPlan:
    def imported(target: str, name: str) -> UserFunction:
        return ImportedFunction(target, name).signature

    return stored_plan(text, who, _connections(session, made), session.resolved, imported)


def _run_stored(plan: StoredPlan, text: str, who: str, session: Session) -> TableResult:
    options = plan_options(session)
    if plan.batch is not options.batch:
        wanted, got = ("BATCH" if mode else "STREAMING" for mode in (plan.batch, options.batch))
        raise ProgramError(f"requires {wanted} mode, for which it was compiled", who=who, got=got)
    targets = [str(one.target.identifier) for one in plan.plans if isinstance(one, Sink) and one.target]
    if session.submit is not None:
        return _submitted(targets, text, session, session.submit)
    return _run(targets, session, lambda b: written(plan.plans, b, options, Location.of_caller(), plan.ids))


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


def _adding(sinks: Sequence[LogicalNode], session: Session, connections: Connections) -> _Adding:
    options, location = plan_options(session), Location.of_caller()
    return lambda builder: add_to_graph(sinks, builder, options, connections, location)


def _start(add: _Adding, session: Session, name: str) -> tuple[list[int], JobHandle]:
    environment = session.job_environment()
    given = session.config.get(NAME, "")
    directory = given if given and name != COLLECT else name
    with environment._builder.apart() as builder, own_state(session.state_names, directory):
        added = add(builder)
        return added, start(environment, added, None if given else name)


def _connections(session: Session, made: MadeSink | None = None) -> Connections:
    connected = registered(plan_options(session))
    token = uuid.uuid4().hex

    def sink(table: ResolvedTable) -> TableSink:
        if table.identifier.name.startswith(_COLLECTED):
            return TableSink(CollectTableSink(token), ChangelogMode.all(), name="Collect table sink")
        return (made or connected.sink)(table)

    return replace(connected, sink=sink)


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


def most_width(config: TableConfig) -> int:
    """Return how wide a column may be shown whose type does not say it."""
    for key in _WIDTHS:
        text = config.get(key, "")
        if text.isdecimal():
            return max(int(text), 1)
    return MOST
