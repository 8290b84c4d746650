"""StatementSet: several INSERTs that run as one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.table.compiled_plan import CompiledPlan
from firesteel.table.explain_detail import ExplainDetail
from firesteel.table.running import attach, compiled_plan
from firesteel.table.table import Table
from firesteel.table.table_descriptor import TableDescriptor
from firesteel.table.table_pipeline import TablePipeline
from firesteel.table.table_result import TableResult

if TYPE_CHECKING:
    from firesteel.table.table_environment import TableEnvironment

__all__ = ["StatementSet"]


class StatementSet:
    """Collects INSERTs; each call of `execute` starts one job of all, and begins anew."""

    def __init__(self, environment: TableEnvironment) -> None:
        self._environment = environment
        self._sinks: list[LogicalNode] = []

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT statement; raises SqlError for any other statement."""
        self._sinks.append(self._environment._bind_insert(stmt))
        return self

    def add_insert(
        self,
        target_path_or_descriptor: str | TableDescriptor,
        table: Table,
        overwrite: bool = False,
    ) -> StatementSet:
        """Add the rows of a table for another."""
        self._sinks.append(self._environment._sink(target_path_or_descriptor, table, overwrite))
        return self

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        """Add what `Table.insert_into` gives."""
        self._sinks.append(table_pipeline._sink)
        return self

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plan that `execute` would run, as text."""
        return self._environment._explain(self._taken("explain"), extra_details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the plan that `execute` would run."""
        print(self.explain(*extra_details))  # noqa: T201 - that is what it does

    def execute(self) -> TableResult:
        """Start one job of all INSERTs."""
        sinks, self._sinks = self._taken("execute"), []
        return self._environment._run(sinks)

    def compile_plan(self) -> CompiledPlan:
        """Return the plan that `execute` would run, which can be kept in a file."""
        session = self._environment._session
        return CompiledPlan(compiled_plan(self._taken("compile_plan"), session), session)

    def attach_as_datastream(self) -> None:
        """Make the INSERTs a part of the program with streams: its `execute` runs them, too; and begin anew.

        Raises ProgramError in an environment of tables alone.
        """
        session = self._environment._session
        if session.environment is None:
            raise ProgramError(
                "requires an environment with streams",
                who=call_site("attach_as_datastream"),
                hint="StreamTableEnvironment.create(...)",
            )
        sinks, self._sinks = self._taken("attach_as_datastream"), []
        attach(sinks, session)

    def _taken(self, method: str) -> list[LogicalNode]:
        if not self._sinks:
            raise ProgramError(
                "requires at least one INSERT", who=call_site(method), hint="see add_insert_sql(...)"
            )
        return self._sinks
