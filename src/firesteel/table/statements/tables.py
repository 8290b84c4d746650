"""CREATE, DROP and ALTER of tables and views."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types import LogicalType, ObjectIdentifier
from firesteel.common.logical_types.temporal import AnyTimestampType, TimestampKind
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.sql.binding.catalog import PlannedView, View
from firesteel.sql.binding.statements import bind_query, bind_table, bind_view
from firesteel.sql.statements.alter import Alter, RenameTo, ResetOptions, SetComment, SetOptions, SetQuery
from firesteel.sql.statements.create import CreateTable, CreateView
from firesteel.sql.statements.parts import ComputedColumn, Name, ObjectKind
from firesteel.sql.statements.session import Drop
from firesteel.sql.writing.parts import quoted_sql
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.running import run_inserts
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.statements.jobs import sink_of
from firesteel.table.table_result import TableResult


def create_table(statement: CreateTable, execution: Execution) -> TableResult:
    """Add a table; with AS and a query, start the job that fills it."""
    identifier = execution.identifier(statement.name)
    _refuse_replacing(statement, execution)
    plan = None
    if statement.query is not None:
        plan = bind_query(statement.query, execution.source, execution.catalog)
    found = catalog_table(statement, execution) if plan is None else _of_query(plan, statement, execution)
    there = execution.manager.find(identifier) is not None
    with execution.at(statement.name.span):
        execution.manager.add(found, temporary=statement.temporary, if_not_exists=statement.if_not_exists)
    if plan is None or there:
        return answers.ok()
    return run_inserts([sink_of(plan, identifier, execution.session)], execution.session)


def _of_query(plan: LogicalNode, statement: CreateTable, execution: Execution) -> CatalogTable:
    """Return the table whose columns are those of a query."""
    parts = (*statement.columns, *statement.watermarks, *statement.keys)
    if parts or statement.partitioned_by or statement.distribution:
        what = "CREATE TABLE ... AS with columns, keys or partitions of its own"
        raise execution.text.unsupported((parts[0] if parts else statement).span, what)
    columns = tuple(PhysicalColumn(field.name, regular(field.type)) for field in plan.row.fields)
    options = options_of(statement.options)
    identifier = execution.identifier(statement.name)
    return CatalogTable(ResolvedTable(identifier, columns, options=options, comment=statement.comment))


def _refuse_replacing(statement: CreateTable, execution: Execution) -> None:
    if statement.or_replace:
        what = "CREATE OR REPLACE TABLE"
        raise execution.text.unsupported(statement.name.span, what, hint="DROP TABLE IF EXISTS first")


def catalog_table(statement: CreateTable, execution: Execution) -> CatalogTable:
    """Return the table that a statement declares, with the texts of what it computes."""
    base = _base(statement, execution)
    table = bind_table(statement, execution.source, execution.catalog)
    texts = {} if base is None else dict(base.computed)
    for column in statement.columns:
        if isinstance(column, ComputedColumn):
            texts[column.name.parts[0]] = quoted_sql(column.expression)
    watermark = None if base is None else base.watermark
    if statement.watermarks:
        watermark = quoted_sql(statement.watermarks[-1].expression)
    named = [key.name.parts[0] for key in statement.keys if key.name is not None]
    key_name = named[0] if named else None if base is None or statement.keys else base.key_name
    kept = {column.name for column in table.columns}
    return CatalogTable(
        table,
        {name: text for name, text in texts.items() if name in kept},
        watermark if table.watermark is not None else None,
        key_name if table.primary_key is not None else None,
    )


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
            view=statement.kind is ObjectKind.VIEW,
            temporary=statement.temporary,
            if_exists=statement.if_exists,
        )
    return answers.ok()


def alter(statement: Alter, execution: Execution) -> TableResult:
    """Change a table or a view that is not temporary."""
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        found = execution.manager.permanent(identifier)
        if found is None:
            if statement.if_exists:
                return answers.ok()
            raise execution.manager.unknown(identifier, statement.kind.value.lower())
    if isinstance(found, CatalogTable) is not (statement.kind is ObjectKind.TABLE):
        other = "view" if statement.kind is ObjectKind.TABLE else "table"
        what = f"requires a {statement.kind.value.lower()}"
        raise execution.text.wrong(statement.name.span, what, got=f"the {other} {identifier.name}")
    with execution.at(statement.name.span):
        execution.manager.change(identifier, _altered(found, statement, execution))
    return answers.ok()


def _altered(
    found: CatalogTable | View | PlannedView, statement: Alter, execution: Execution
) -> CatalogTable | View | PlannedView:
    match found, statement.action:
        case CatalogTable(), RenameTo(name):
            return replace(found, table=replace(found.table, identifier=_renamed(found, name)))
        case ((View() | PlannedView()), RenameTo(name)):
            return replace(found, identifier=_renamed(found, name))
        case CatalogTable(table=table), SetOptions(options):
            return replace(found, table=replace(table, options={**table.options, **options_of(options)}))
        case CatalogTable(table=table), ResetOptions(keys):
            gone = {key.key for key in keys}
            kept = {key: value for key, value in table.options.items() if key not in gone}
            return replace(found, table=replace(table, options=kept))
        case CatalogTable(table=table), SetComment(comment):
            return replace(found, table=replace(table, comment=comment))
        case View(), SetQuery(query):
            row = bind_query(query, execution.source, execution.catalog).row
            return replace(
                found, query=query, row=row, source=execution.text.source, path=execution.manager.path
            )
    raise execution.text.unsupported(statement.span, f"this kind of ALTER {statement.kind.value}")


def _renamed(found: CatalogTable | View | PlannedView, name: Name) -> ObjectIdentifier:
    return replace(found.identifier, name=name.parts[-1])


def regular(data_type: LogicalType) -> LogicalType:
    """Return the type of a column without the kind of a time attribute, which no stored column has."""
    if isinstance(data_type, AnyTimestampType):
        return replace(data_type, kind=TimestampKind.REGULAR)
    return data_type
