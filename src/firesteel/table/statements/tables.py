"""CREATE, DROP and ALTER of tables and views."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.errors import ProgramError
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql.binding.catalog import PlannedView, View
from firesteel.sql.binding.statements import bind_change, bind_query, bind_view
from firesteel.sql.statements.alter import (
    Alter,
    ChangeElements,
    DropColumns,
    DropPart,
    RenameColumn,
    RenameTo,
    ResetOptions,
    SetComment,
    SetOptions,
    SetQuery,
)
from firesteel.sql.statements.create import CreateTable, CreateView
from firesteel.sql.statements.session import Drop
from firesteel.table.catalog.declared import declared_table, renamed
from firesteel.table.catalog.manager import kind_of
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.running import run_inserts
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.statements.jobs import sink_of
from firesteel.table.table_result import TableResult


def create_table(statement: CreateTable, execution: Execution) -> TableResult:
    """Add a table; with AS and a query, start the job that fills it."""
    plan = None
    if statement.query is not None:
        plan = bind_query(statement.query, execution.source, execution.catalog)
    found = catalog_table(statement, execution, plan)
    if statement.or_replace or statement.replaces:
        _make_room(statement, execution)
    with execution.at(statement.name.span):
        added = execution.manager.add(
            found, temporary=statement.temporary, if_not_exists=statement.if_not_exists
        )
    if plan is None or not added:
        return answers.ok()
    sink = sink_of(plan, found.identifier, execution.session, by_name=True)
    return run_inserts([sink], execution.session)


def _make_room(statement: CreateTable, execution: Execution) -> None:
    """Remove the table in whose place that of a query comes; REPLACE alone requires that there is one."""
    identifier, place = execution.identifier(statement.name), statement.name.span
    if statement.query is None:
        if execution.manager.permanent(identifier) is not None:
            hint = "DROP TABLE first; a table is replaced with AS and a query only"
            raise execution.text.wrong(
                place, "requires a table that does not exist", got=str(identifier), hint=hint
            )
    elif statement.temporary:
        what = "cannot replace a temporary table by that of a query"
        raise execution.text.wrong(place, what, hint="DROP TEMPORARY TABLE IF EXISTS first")
    else:
        with execution.at(place):
            execution.manager.drop(identifier, kind="table", if_exists=not statement.replaces)


def catalog_table(
    statement: CreateTable, execution: Execution, plan: LogicalNode | None = None
) -> CatalogTable:
    """Return the table that a statement declares; `plan` is the query after AS."""
    base = _base(statement, execution)
    row = None if plan is None else plan.row
    return declared_table(statement, execution.source, execution.catalog, base, row)


def _base(statement: CreateTable, execution: Execution) -> CatalogTable | None:
    """Return the table that LIKE names, None if there is none."""
    if statement.like is None:
        return None
    identifier = execution.identifier(statement.like.table)
    with execution.at(statement.like.table.span):
        found = execution.manager.get(identifier)
    return found if isinstance(found, CatalogTable) else None


def create_view(statement: CreateView, execution: Execution) -> TableResult:
    """Add a view, whose query must be one that means something now."""
    view = bind_view(statement, execution.source, execution.catalog)
    with execution.at(statement.name.span):
        execution.manager.add(
            view,
            temporary=statement.temporary,
            if_not_exists=statement.if_not_exists,
            replace=statement.or_replace,
        )
    return answers.ok()


def drop(statement: Drop, execution: Execution) -> TableResult:
    """Remove a table or a view."""
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        execution.manager.drop(
            identifier,
            kind=statement.kind.value.lower(),
            temporary=statement.temporary,
            if_exists=statement.if_exists,
        )
    return answers.ok()


def alter(statement: Alter, execution: Execution) -> TableResult:
    """Change a table or a view that is not temporary."""
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        found = execution.manager.permanent(identifier)
        hidden = identifier in execution.manager.temporary
        if (found is None or hidden) and statement.if_exists:
            return answers.ok()
        if hidden:
            raise ProgramError("cannot alter what is temporary", got=str(identifier))
        if found is None:
            raise execution.manager.unknown(identifier, statement.kind.value.lower())
    if kind_of(found) != statement.kind.value.lower():
        what = f"requires a {statement.kind.value.lower()}"
        raise execution.text.wrong(statement.name.span, what, got=f"the {kind_of(found)} {identifier.name}")
    with execution.at(statement.name.span):
        changed = _altered(found, statement, execution)
        if isinstance(statement.action, RenameTo):
            execution.manager.rename(identifier, changed)
        else:
            execution.manager.change(identifier, changed)
    return answers.ok()


def _altered(
    found: CatalogTable | View | PlannedView, statement: Alter, execution: Execution
) -> CatalogTable | View | PlannedView:
    match found, statement.action:
        case _, RenameTo(name):
            return renamed(found, replace(found.identifier, name=name.parts[-1]))
        case CatalogTable(table=table), SetOptions(options):
            return replace(found, table=replace(table, options={**table.options, **options_of(options)}))
        case CatalogTable(table=table), ResetOptions(keys):
            gone = {key.key: key for key in keys}
            if "connector" in gone:
                place = gone["connector"].span
                raise execution.text.wrong(place, "cannot reset the option 'connector'")
            kept = {key: value for key, value in table.options.items() if key not in gone}
            return replace(found, table=replace(table, options=kept))
        case CatalogTable(table=table), SetComment(comment):
            return replace(found, table=replace(table, comment=comment))
        case View(), SetQuery(query):
            again = CreateView(
                statement.span, statement.name, False, False, False, None, found.comment, query
            )
            return bind_view(again, execution.source, execution.catalog)
        case CatalogTable(), (ChangeElements() | RenameColumn() | DropColumns() | DropPart()):
            return bind_change(statement, found, execution.source, execution.catalog)
    raise execution.text.unsupported(statement.span, f"this kind of ALTER {statement.kind.value}")
