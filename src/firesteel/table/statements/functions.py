"""Statements about functions, of which there are none but the built-in ones."""

from __future__ import annotations

from firesteel.sql.statements.session import Drop
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult


def drop(statement: Drop, execution: Execution) -> TableResult:
    """Answer DROP FUNCTION: no function can have been created yet."""
    if statement.if_exists:
        return answers.ok()
    raise execution.text.wrong(
        statement.name.span, "requires a function that exists", got=".".join(statement.name.parts)
    )
