"""EXPLAIN: what a statement would run, as text."""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql.binding.statements import bind_insert, bind_query, bind_statement_set
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.parts import Statement
from firesteel.sql.statements.queries import Explain, Insert, Query, StatementSet
from firesteel.table.running import explain_plans
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.statements.jobs import sink_of
from firesteel.table.statements.tables import catalog_table
from firesteel.table.table_result import TableResult


def explain(statement: Explain, execution: Execution) -> TableResult:
    """Return what would run, as text."""
    plans = plans_of(statement.statement, execution)
    with execution.at(statement.span):
        return answers.text(explain_plans(plans, statement.details, execution.session))


def plans_of(statement: Statement, execution: Execution) -> Sequence[LogicalNode]:
    """Return the plans that a statement would run. CREATE TABLE ... AS makes no table.

    Raises SqlUnsupportedError for a statement that runs none.
    """
    source, catalog = execution.source, execution.catalog
    match statement:
        case Query(query=syntax):
            return [bind_query(syntax, source, catalog)]
        case Insert() as one:
            return [bind_insert(one, source, catalog)]
        case StatementSet() as several:
            return bind_statement_set(several, source, catalog)
        case CreateTable(query=syntax) if syntax is not None:
            return [_filling(statement, bind_query(syntax, source, catalog), execution)]
    raise execution.text.unsupported(statement.span, "EXPLAIN of this kind of statement")


def _filling(statement: CreateTable, plan: LogicalNode, execution: Execution) -> LogicalNode:
    """Return the plan that fills a new table, whether or not there is one of its name."""
    found = catalog_table(statement, execution, plan)
    with execution.session.holding(found):
        return sink_of(plan, found.identifier, execution.session, by_name=True)
