"""What a table environment does with statements as texts, with compiled plans and with modules of functions."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types.logical_type import escaped_identifier
from firesteel.common.places import Source
from firesteel.datastream.streams.node_settings import call_site
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.statements import bind_insert, bind_statement_set
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.queries import ExecutePlan, Insert, StatementSet
from firesteel.table.compiled_plan import CompiledPlan
from firesteel.table.module import Module, ModuleEntry
from firesteel.table.plan_reference import (
    BytesContentPlanReference,
    FilePlanReference,
    JsonContentPlanReference,
    PlanReference,
)
from firesteel.table.running import compiled_plan, in_step
from firesteel.table.session import Session
from firesteel.table.statements.executing import executed
from firesteel.table.statements.execution import Execution
from firesteel.table.statements.options import load
from firesteel.table.statements.plans import PlanFile
from firesteel.table.table_result import TableResult

_WRITING: Final = (Insert, StatementSet, CreateTable, ExecutePlan)
"""The statements whose jobs write tables, and end."""


class PlansAndModules:
    """Compiled plans, and modules of functions."""

    _session: Session

    def execute_sql(self, stmt: str) -> TableResult:
        """Execute one statement. The jobs of queries and INSERTs run in the background: see TableResult.

        With the option 'table.dml-sync' = 'true' it waits for the job of INSERTs, and raises its error.

        Raises SqlError, which names line and column, for a statement that is wrong or not supported.
        """
        statement = parse_statement(stmt)
        result = executed(statement, Source(stmt), self._session)
        return in_step(result, self._session) if isinstance(statement, _WRITING) else result

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """Return the plan of an INSERT or of a statement set, which can be kept in a file.

        Raises SqlError for other statements, ProgramError for a plan that only its program can run.
        """
        statement = parse_statement(stmt)
        execution = Execution(self._session, Text(Source(stmt), "compiled plan"))
        if isinstance(statement, Insert):
            sinks = [bind_insert(statement, execution.source, execution.catalog)]
        elif isinstance(statement, StatementSet):
            sinks = [*bind_statement_set(statement, execution.source, execution.catalog)]
        else:
            raise execution.text.wrong(statement.span, "requires an INSERT or a statement set")
        return CompiledPlan(compiled_plan(sinks, self._session), self._session)

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        """Return a plan that has been kept. Raises ProgramError for a file that is missing or cannot be read."""
        match plan_reference:
            case FilePlanReference(path=path):
                file = PlanFile(path)
                return CompiledPlan(file.read(), self._session, file.who)
            case JsonContentPlanReference(content=text):
                return CompiledPlan(text, self._session)
            case BytesContentPlanReference(content=content):
                return CompiledPlan(content.decode(), self._session)
        raise ProgramError(
            "requires a PlanReference", who=call_site("load_plan"), got=type(plan_reference).__name__
        )

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        """Start the job of a plan that has been kept."""
        return self.load_plan(plan_reference).execute()

    def list_modules(self) -> list[str]:
        """Return the names of the modules in use."""
        return list(self._session.modules)

    def list_full_modules(self) -> list[ModuleEntry]:
        """Return all modules that are loaded."""
        used = self._session.modules
        unused = [name for name in self._session.loaded if name not in used]
        return [*(ModuleEntry(name, True) for name in used), *(ModuleEntry(name, False) for name in unused)]

    def load_module(self, module_name: str, module: Module) -> None:
        """Load a module of functions, and use it after the others."""
        if not isinstance(module, Module):
            raise ProgramError("requires a Module", who=call_site("load_module"), got=type(module).__name__)
        load(module_name, module, self._session)

    def use_modules(self, *module_names: str) -> None:
        """Choose the modules in which functions are looked up, and their order."""
        self.execute_sql(f"USE MODULES {', '.join(map(escaped_identifier, module_names))}")

    def unload_module(self, module_name: str) -> None:
        """Unload a module of functions."""
        self.execute_sql(f"UNLOAD MODULE {escaped_identifier(module_name)}")
