"""COMPILE PLAN, EXECUTE PLAN, COMPILE AND EXECUTE PLAN."""

from __future__ import annotations

from typing import Final

from firesteel.checkpoint.objects import AlreadyExists, NotFound, Storage
from firesteel.common.errors import ProgramError, StateError
from firesteel.relational.option_values import truth
from firesteel.sql.binding.statements import bind_insert, bind_statement_set
from firesteel.sql.statements.queries import CompilePlan, ExecutePlan, Insert
from firesteel.table.running import compiled_plan, run_plan
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult

_RECOMPILE: Final = "table.plan.force-recompile"


def compile_plan(statement: CompilePlan, execution: Execution) -> TableResult:
    """Write the plan of INSERTs to a file, and start its job if the statement says so.

    A file that is there stays: it is an error, as in Flink, unless the statement says IF NOT EXISTS or starts what the
    file has, or 'table.plan.force-recompile' is true.
    """
    file = PlanFile(statement.path)
    replaces = truth(execution.session.config.to_map(), _RECOMPILE) and not statement.if_not_exists
    with execution.at(statement.span):
        if replaces or not file.exists():
            file.write(_compiled(statement, execution), replaces=replaces)
        elif not statement.execute and not statement.if_not_exists:
            raise ProgramError(
                "is there already",
                who=file.who,
                hint=f"remove it, or set the option '{_RECOMPILE}' to true",
            )
        return run_plan(file.read(), file.who, execution.session) if statement.execute else answers.ok()


def execute_plan(statement: ExecutePlan, execution: Execution) -> TableResult:
    """Start the job of a plan in a file."""
    file = PlanFile(statement.path)
    with execution.at(statement.span):
        return run_plan(file.read(), file.who, execution.session)


def _compiled(statement: CompilePlan, execution: Execution) -> str:
    inserts = statement.statement
    if isinstance(inserts, Insert):
        plans = [bind_insert(inserts, execution.source, execution.catalog)]
    else:
        plans = [*bind_statement_set(inserts, execution.source, execution.catalog)]
    return compiled_plan(plans, execution.session)


class PlanFile:
    """The file of a plan, a path or a URL; all errors are ProgramErrors that name it."""

    def __init__(self, path: str) -> None:
        directory, slash, self._name = path.removeprefix("file://").rpartition("/")
        self._directory = directory + slash or "."
        self.who = f"the plan file '{path}'"

    def exists(self) -> bool:
        """Return whether it is there."""
        try:
            return Storage.existing(self._directory).exists(self._name)
        except NotFound:
            return False

    def read(self) -> str:
        """Return its text."""
        try:
            return Storage.existing(self._directory).get(self._name).decode()
        except NotFound as error:
            raise ProgramError("is missing", who=self.who) from error
        except StateError as error:
            raise ProgramError(f"cannot be read: {error}", who=self.who) from error

    def write(self, text: str, *, replaces: bool) -> None:
        """Write it, whole or not at all."""
        storage = Storage.of(self._directory)
        try:
            (storage.put if replaces else storage.create)(self._name, text.encode())
        except AlreadyExists as error:
            raise ProgramError("is there already", who=self.who) from error
        except StateError as error:
            raise ProgramError(f"cannot be written: {error}", who=self.who) from error
