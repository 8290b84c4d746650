"""Statements that start jobs: queries, INSERT, statement sets."""

from __future__ import annotations

from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.logical_types.logical_type import escaped_identifier
from firesteel.common.places import Source
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql.binding.catalog import PlannedView
from firesteel.sql.binding.statements import bind_insert, bind_query, bind_statement_set
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import Insert, Query, StatementSet
from firesteel.table.running import run_inserts, run_query
from firesteel.table.session import Session
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult


def query(statement: Query, execution: Execution) -> TableResult:
    """Start the job of a query; its rows are the result."""
    return run_query(bind_query(statement.query, execution.source, execution.catalog), execution.session)


def insert(statement: Insert, execution: Execution) -> TableResult:
    """Start the job of an INSERT."""
    return run_inserts([bind_insert(statement, execution.source, execution.catalog)], execution.session)


def statement_set(statement: StatementSet, execution: Execution) -> TableResult:
    """Start one job of several INSERTs; without any there is nothing to do."""
    if not statement.inserts:
        return answers.ok()
    return run_inserts(bind_statement_set(statement, execution.source, execution.catalog), execution.session)


def sink_of(
    plan: LogicalNode,
    target: ObjectIdentifier,
    session: Session,
    *,
    overwrite: bool = False,
    by_name: bool = False,
) -> LogicalNode:
    """Return the plan that writes the rows of another plan to a table, with the checks and casts of INSERT.

    `by_name` writes each column to the one of its name, and NULL to the others.
    """
    view = session.unnamed()
    with session.holding(PlannedView(view, plan)):
        names = f" ({', '.join(map(escaped_identifier, plan.row.field_names))})" if by_name else ""
        text = f"INSERT {'OVERWRITE' if overwrite else 'INTO'} {target}{names} SELECT * FROM {view}"
        statement = parse_statement(text)
        assert isinstance(statement, Insert)
        return bind_insert(statement, Source(text), session.catalog)
