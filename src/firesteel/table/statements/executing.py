"""Which function executes which statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from firesteel.common.places import Source
from firesteel.sql.binding.places import Text
from firesteel.sql.statements import alter, create, queries, session
from firesteel.sql.statements.parts import ObjectKind, Statement
from firesteel.table.session import Session
from firesteel.table.statements import (
    analyzing,
    catalogs,
    creation_text,
    describing,
    explaining,
    functions,
    jobs,
    materialized,
    models,
    options,
    partitions,
    plans,
    procedures,
    showing,
    tables,
)
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult

Executor = Callable[[Any, Execution], TableResult]


def executed(statement: Statement, source: Source, current: Session) -> TableResult:
    """Execute a statement of a text and return its result.

    Raises SqlError, with its place in the text, for a statement that is wrong or not supported.
    """
    who = _called(statement)
    execution = Execution(current, Text(source, who))
    executor = _EXECUTORS.get(type(statement))
    if executor is None:
        raise execution.text.unsupported(statement.span, f"the statement {who}")
    return executor(statement, execution)


def _called(statement: Statement) -> str:
    """Return what errors call a statement.

    >>> from firesteel.sql.script import parse_statement
    >>> _called(parse_statement("DROP TABLE t")), _called(parse_statement("SELECT 1"))
    ('DROP TABLE', 'query')
    """
    kind = type(statement).__name__
    if kind == "Query":
        return "query"
    if isinstance(statement, session.ChangeJars):
        return f"{statement.how} JAR"
    words = "".join(f" {letter}" if letter.isupper() else letter for letter in kind).split()
    named = getattr(statement, "kind", None)
    return " ".join([*words, *([named.value] if isinstance(named, ObjectKind) else [])]).upper()


def _show(statement: session.Show, execution: Execution) -> TableResult:
    if statement.what == "COLUMNS":
        return describing.show_columns(statement, execution)
    if statement.what == "PROCEDURES":
        return procedures.show_procedures(statement, execution)
    if statement.what == "MODELS":
        return models.show(statement, execution)
    return showing.show(statement, execution)


def _describe(statement: session.Describe, execution: Execution) -> TableResult:
    described = models.describe if statement.kind is ObjectKind.MODEL else describing.describe
    return described(statement, execution)


def _drop(statement: session.Drop, execution: Execution) -> TableResult:
    executor = _DROPS.get(statement.kind)
    if executor is None:
        raise execution.text.unsupported(statement.span, f"DROP {statement.kind.value}")
    return executor(statement, execution)


def _alter(statement: alter.Alter, execution: Execution) -> TableResult:
    if isinstance(statement.action, alter.AddPartitions | alter.DropPartitions):
        return partitions.alter_partitions(statement, execution)
    executor = _ALTERS.get(statement.kind)
    if executor is None:
        raise execution.text.unsupported(statement.span, f"ALTER {statement.kind.value}")
    return executor(statement, execution)


_DROPS: Final[dict[ObjectKind, Executor]] = {
    ObjectKind.FUNCTION: functions.drop,
    ObjectKind.TABLE: tables.drop,
    ObjectKind.VIEW: tables.drop,
    ObjectKind.DATABASE: catalogs.drop_database,
    ObjectKind.CATALOG: catalogs.drop_catalog,
    ObjectKind.MATERIALIZED_TABLE: materialized.drop,
    ObjectKind.MODEL: models.drop,
}
_ALTERS: Final[dict[ObjectKind, Executor]] = {
    ObjectKind.TABLE: tables.alter,
    ObjectKind.VIEW: tables.alter,
    ObjectKind.FUNCTION: functions.alter,
    ObjectKind.DATABASE: catalogs.alter_database,
    ObjectKind.CATALOG: catalogs.alter_catalog,
    ObjectKind.MATERIALIZED_TABLE: materialized.alter,
    ObjectKind.MODEL: models.alter,
}
_EXECUTORS: Final[dict[type[Statement], Executor]] = {
    alter.Alter: _alter,
    create.CreateCatalog: catalogs.create_catalog,
    create.CreateDatabase: catalogs.create_database,
    create.CreateFunction: functions.create,
    create.CreateMaterializedTable: materialized.create,
    create.CreateModel: models.create,
    create.CreateTable: tables.create_table,
    create.CreateView: tables.create_view,
    queries.AnalyzeTable: analyzing.analyze,
    queries.CallProcedure: procedures.call,
    queries.CompilePlan: plans.compile_plan,
    queries.ExecutePlan: plans.execute_plan,
    queries.Explain: explaining.explain,
    queries.Insert: jobs.insert,
    queries.Query: jobs.query,
    queries.StatementSet: jobs.statement_set,
    queries.Truncate: analyzing.truncate,
    session.Describe: _describe,
    session.Drop: _drop,
    session.LoadModule: options.load_module,
    session.ResetOption: options.reset_option,
    session.SetOption: options.set_option,
    session.Show: _show,
    session.ShowCreate: creation_text.show_create,
    session.ShowPartitions: partitions.show_partitions,
    session.UnloadModule: options.unload_module,
    session.UseCatalog: catalogs.use_catalog,
    session.UseDatabase: catalogs.use_database,
    session.UseModules: options.use_modules,
}
