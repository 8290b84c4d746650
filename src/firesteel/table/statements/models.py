"""Statements about models."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types import STRING, BooleanType, Field
from firesteel.relational.tables import PhysicalColumn
from firesteel.sql.binding.table_elements import declared_column
from firesteel.sql.statements import parts
from firesteel.sql.statements.alter import Alter, RenameTo, ResetOptions, SetOptions
from firesteel.sql.statements.create import CreateModel
from firesteel.sql.statements.session import Describe, Drop, Show
from firesteel.table.catalog.definitions import CatalogModel
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.statements.showing import matching
from firesteel.table.table_result import TableResult

_FIELDS = (
    Field("name", STRING),
    Field("type", STRING),
    Field("null", BooleanType()),
    Field("is input", BooleanType()),
)


def create(statement: CreateModel, execution: Execution) -> TableResult:
    """Add a model."""
    if statement.query is not None:
        raise execution.text.unsupported(statement.query, "AS and a query", as_in_flink=True)
    if not statement.options:
        raise execution.text.wrong(statement.span, "requires options: WITH ('provider' = '...')", got="none")
    inputs, outputs = (_columns(given, execution) for given in (statement.inputs, statement.outputs))
    if not inputs or not outputs:
        got = "no INPUT" if not inputs else "no OUTPUT"
        raise execution.text.wrong(statement.span, "requires INPUT and OUTPUT with columns", got=got)
    model = CatalogModel(inputs, outputs, options_of(statement.options), statement.comment)
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        execution.manager.models.add(
            identifier,
            model,
            temporary=statement.temporary,
            if_not_exists=statement.if_not_exists,
            replaces=statement.or_replace,
        )
    return answers.ok()


def _columns(given: tuple[parts.Column, ...] | None, execution: Execution) -> tuple[PhysicalColumn, ...]:
    columns = []
    for written in given or ():
        column = declared_column(written, execution.text)
        if not isinstance(column, PhysicalColumn):
            raise execution.text.wrong(written.span, "requires columns with a name and a type alone")
        columns.append(column)
    return tuple(columns)


def drop(statement: Drop, execution: Execution) -> TableResult:
    """Remove a model."""
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        execution.manager.models.drop(
            identifier, temporary=statement.temporary, if_exists=statement.if_exists
        )
    return answers.ok()


def alter(statement: Alter, execution: Execution) -> TableResult:
    """Give a permanent model other options, or another name."""
    identifier, models = execution.identifier(statement.name), execution.manager.models
    with execution.at(statement.name.span):
        if models.find(identifier) is None and statement.if_exists:
            return answers.ok()
        found = models.get(identifier)
        match statement.action:
            case RenameTo(name):
                models.rename(identifier, name.parts[-1])
            case SetOptions(options):
                models.change(identifier, replace(found, options={**found.options, **options_of(options)}))
            case ResetOptions(keys):
                gone = {key.key for key in keys}
                kept = {key: value for key, value in found.options.items() if key not in gone}
                models.change(identifier, replace(found, options=kept))
    return answers.ok()


def show(statement: Show, execution: Execution) -> TableResult:
    """Show the models of a database, without temporary ones."""
    names = execution.manager.models.names(*execution.database(statement.scope))
    return answers.listed("model name", matching(names, statement.pattern))


def describe(statement: Describe, execution: Execution) -> TableResult:
    """Show the columns that a model takes and gives; comments only if there are any."""
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        model = execution.manager.models.get(identifier)
    columns = [*((one, True) for one in model.inputs), *((one, False) for one in model.outputs)]
    commented = any(one.comment is not None for one, _ in columns)
    fields = (*_FIELDS, Field("comment", STRING)) if commented else _FIELDS
    rows = [
        (one.name, one.type.copy(nullable=True).as_summary_string(), one.type.nullable, given, one.comment)
        for one, given in columns
    ]
    return answers.table(fields, [row[: len(fields)] for row in rows])
