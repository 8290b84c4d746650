"""From plans to running jobs."""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.common.errors import UnsupportedError
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.table.session import Session
from firesteel.table.table_result import TableResult


def run_query(plan: LogicalNode, session: Session) -> TableResult:
    """Start the job of a query; its rows are the result."""
    del plan, session
    raise UnsupportedError("is not supported yet", who="a query")


def run_inserts(sinks: Sequence[LogicalNode], session: Session) -> TableResult:
    """Start one job of several INSERTs."""
    del sinks, session
    raise UnsupportedError("is not supported yet", who="INSERT")


def explain_plans(plans: Sequence[LogicalNode], details: Sequence[str], session: Session) -> str:
    """Return what would run, as text."""
    del plans, details, session
    raise UnsupportedError("is not supported yet", who="EXPLAIN")
