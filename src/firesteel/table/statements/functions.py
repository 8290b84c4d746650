"""Statements about functions of your own."""

from __future__ import annotations

from firesteel.common.places import Span
from firesteel.sql.statements.alter import Alter, SetFunction
from firesteel.sql.statements.create import CreateFunction
from firesteel.sql.statements.parts import Name
from firesteel.sql.statements.session import Drop
from firesteel.table.catalog.functions import ImportedFunction
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult


def create(statement: CreateFunction, execution: Execution) -> TableResult:
    """Add a function of Python, which queries import when they call it."""
    function = _imported(statement.target, statement.language, statement.span, execution)
    functions, name = execution.manager.functions, statement.name
    if statement.system:
        with execution.at(name.span):
            functions.add_system(name.parts[-1], function, if_not_exists=statement.if_not_exists)
        return answers.ok()
    identifier = execution.identifier(name)
    with execution.at(name.span):
        functions.add(
            identifier,
            function,
            temporary=statement.temporary,
            if_not_exists=statement.if_not_exists,
        )
    return answers.ok()


def alter(statement: Alter, execution: Execution) -> TableResult:
    """Let a function of a database be another one."""
    assert isinstance(statement.action, SetFunction)
    if statement.temporary:
        raise execution.text.unsupported(
            statement.span,
            "ALTER of a temporary function",
            hint="drop it, and create another one, as in Flink",
        )
    action = statement.action
    function = _imported(action.target, action.language, statement.span, execution)
    identifier = execution.identifier(statement.name)
    if not execution.manager.functions.change(identifier, function) and not statement.if_exists:
        raise _unknown(statement.name, execution)
    return answers.ok()


def drop(statement: Drop, execution: Execution) -> TableResult:
    """Remove a function."""
    functions, name = execution.manager.functions, statement.name
    if statement.system:
        found = functions.drop_system(name.parts[-1])
    else:
        identifier = execution.identifier(name)
        with execution.at(name.span):
            found = functions.drop(identifier, temporary=statement.temporary)
    if not found and not statement.if_exists:
        raise _unknown(name, execution)
    return answers.ok()


def _imported(target: str, language: str | None, place: Span, execution: Execution) -> ImportedFunction:
    if language != "PYTHON":
        raise execution.text.unsupported(
            place, f"a function in {language or 'JAVA'}", hint="AS 'module.name' LANGUAGE PYTHON"
        )
    return ImportedFunction(target)


def _unknown(name: Name, execution: Execution) -> Exception:
    return execution.text.wrong(name.span, "requires a function that exists", got=".".join(name.parts))
