"""TablePipeline: rows that are to be written to a table."""

from __future__ import annotations

from firesteel.relational.logical.nodes import LogicalNode, TableSink
from firesteel.table.catalog.paths import ObjectIdentifier
from firesteel.table.compiled_plan import CompiledPlan
from firesteel.table.explain_detail import ExplainDetail
from firesteel.table.running import compiled_plan, explain_plans, in_step, run_inserts
from firesteel.table.session import Session
from firesteel.table.table_result import TableResult

__all__ = ["TablePipeline"]


class TablePipeline:
    """What `Table.insert_into` gives: it runs by itself, or together with others in a StatementSet."""

    def __init__(self, sink: LogicalNode, session: Session) -> None:
        self._sink = sink
        self._session = session

    def execute(self) -> TableResult:
        """Start the job that writes the rows; with 'table.dml-sync' it has ended when this returns."""
        return in_step(run_inserts([self._sink], self._session), self._session)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plan that `execute` would run, as text."""
        return explain_plans([self._sink], tuple(detail.name for detail in extra_details), self._session)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the plan that `execute` would run."""
        print(self.explain(*extra_details))  # noqa: T201 - that is what it does

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the name of the table that is written; None for one that is in no catalog."""
        assert isinstance(self._sink, TableSink)
        found = self._sink.table.identifier
        known = self._session.manager.find(found) is not None
        return ObjectIdentifier(found.catalog, found.database, found.name) if known else None

    def compile_plan(self) -> CompiledPlan:
        """Return the plan that `execute` would run, which can be kept in a file."""
        return CompiledPlan(compiled_plan([self._sink], self._session), self._session)
