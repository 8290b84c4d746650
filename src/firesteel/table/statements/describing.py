"""DESCRIBE and SHOW COLUMNS: the columns of a table or a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firesteel.common.logical_types import STRING, BooleanType, Field
from firesteel.sql.statements.parts import Name, ObjectKind
from firesteel.sql.statements.session import Describe, Show
from firesteel.table.catalog.declared import schema_of
from firesteel.table.resolved_schema import Column, ResolvedSchema
from firesteel.table.statements import answers
from firesteel.table.statements.catalogs import describe_catalog, describe_database
from firesteel.table.statements.describing_functions import describe_function
from firesteel.table.statements.execution import Execution
from firesteel.table.statements.showing import matching
from firesteel.table.table_result import TableResult

_FIELDS = (
    Field("name", STRING),
    Field("type", STRING),
    Field("null", BooleanType()),
    Field("key", STRING),
    Field("extras", STRING),
    Field("watermark", STRING),
)


def describe(statement: Describe, execution: Execution) -> TableResult:
    """Answer a DESCRIBE statement."""
    match statement.kind:
        case ObjectKind.TABLE:
            return _columns(statement.name, execution, lambda _: True)
        case ObjectKind.CATALOG:
            return describe_catalog(statement, execution)
        case ObjectKind.DATABASE:
            return describe_database(statement, execution)
        case ObjectKind.FUNCTION:
            return describe_function(statement, execution)
        case kind:
            raise execution.text.unsupported(statement.span, f"DESCRIBE {kind.value}")


def show_columns(statement: Show, execution: Execution) -> TableResult:
    """Answer SHOW COLUMNS."""
    assert statement.scope is not None
    return _columns(statement.scope, execution, lambda name: bool(matching([name], statement.pattern)))


def _columns(name: Name, execution: Execution, asked: Callable[[str], bool]) -> TableResult:
    identifier = execution.identifier(name)
    with execution.at(name.span):
        found = execution.manager.get(identifier)
    return described(schema_of(found), asked)


def described(schema: ResolvedSchema, asked: Callable[[str], bool]) -> TableResult:
    """Return the columns of a schema whose names are asked for; comments only if there are any."""
    commented = any(column.comment is not None for column in schema.columns)
    fields = (*_FIELDS, Field("comment", STRING)) if commented else _FIELDS
    rows = [_line(column, schema) for column in schema.columns if asked(column.name)]
    return answers.table(fields, [row[: len(fields)] for row in rows])


def _line(column: Column, schema: ResolvedSchema) -> tuple[Any, ...]:
    key = schema.primary_key or ()
    return (
        column.name,
        column.type.copy(nullable=True).as_summary_string(),
        column.type.nullable,
        f"PRI({', '.join(key)})" if column.name in key else None,
        column.explain_extras(),
        schema.watermark[1] if schema.watermark and schema.watermark[0] == column.name else None,
        column.comment,
    )
