"""What statements make of materialised tables: columns, query, freshness, and the place for rows and state.

Source: Flink's SqlCreateMaterializedTableConverter, SqlAlterMaterializedTableAsQueryConverter,
SqlAlterMaterializedTableSchemaConverter, SqlAlterMaterializedTableDropSchemaConverter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from sqlglot import exp

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, ObjectIdentifier
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.datastream.ambient import current_ambient
from firesteel.datastream.options import STATE_DIR_KEYS, first_present
from firesteel.relational.tables import ComputedColumn, MetadataColumn, PhysicalColumn, TableColumn
from firesteel.sql.binding.catalog import View
from firesteel.sql.binding.maintenance import Maintenance, freshness_and_mode
from firesteel.sql.binding.statements import bind_change, bind_view
from firesteel.sql.statements import parts
from firesteel.sql.statements.alter import Alter, ChangeElements, DropColumns
from firesteel.sql.statements.create import CreateMaterializedTable, CreateTable, CreateView
from firesteel.table.catalog.binding import PermanentObjects
from firesteel.table.catalog.declared import declared_table, definition_of
from firesteel.table.catalog.files import FileCatalog
from firesteel.table.catalog.manager import path_of
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.statements.execution import Execution

_GIVEN: Final = "requires that the query gives each column that is neither computed nor virtual"
_KINDS: Final = {PhysicalColumn: "physical", ComputedColumn: "computed", MetadataColumn: "metadata"}
_PATH: Final = "path"


def declared(
    statement: CreateMaterializedTable, execution: Execution, before: CatalogTable | None = None
) -> CatalogTable:
    """Return the table that a statement declares, in the place of the one `before` if there is one."""
    if statement.start is not None and statement.start.name.upper() != "FROM_BEGINNING":
        hint = "options of the sources say where they begin"
        raise execution.text.unsupported(statement.start, "this START_MODE", hint=hint)
    if statement.distribution is not None:
        raise execution.text.unsupported(
            statement.distribution.span, "DISTRIBUTED BY of a materialized table"
        )
    view = _view(statement, statement.query, execution)
    create = CreateTable(
        span=statement.span, name=statement.name, temporary=False, or_replace=False, if_not_exists=False,
        columns=statement.columns, watermarks=statement.watermarks, keys=statement.keys,
        comment=statement.comment, distribution=None,
        partitioned_by=statement.partitioned_by, options=statement.options, like=None, query=statement.query,
    )  # fmt: skip
    table = declared_table(create, execution.source, PermanentObjects(execution.manager), None, view.row)
    _check_physical(table, view, statement, execution)
    if before is not None:
        _check_kept(before, _fields(table), statement, execution)
        maintenance = before.maintenance
        assert maintenance is not None
        return replace(table, maintenance=replace(maintenance, **_query_of(view)))
    options = execution.session.config.to_map()
    freshness, mode = freshness_and_mode(statement.freshness, statement.refresh, options, execution.text)
    with execution.at(statement.name.span):
        directory = _directory(table, execution)
    made = Maintenance(
        **_query_of(view), freshness=freshness, mode=mode, directory=directory, asked=statement.refresh
    )
    return replace(table, maintenance=made)


def altered(before: CatalogTable, query: exp.Expr, statement: Alter, execution: Execution) -> CatalogTable:
    """Return a table with another query: its columns are those of before, and new ones after them."""
    view = _view(statement, query, execution)
    old = [column for column in before.table.columns if isinstance(column, PhysicalColumn)]
    _check_kept(before, view.row.fields, statement, execution)
    added = [PhysicalColumn(field.name, field.type) for field in view.row.fields[len(old) :]]
    last = before.table.columns.index(old[-1]) + 1
    columns = (*before.table.columns[:last], *added, *before.table.columns[last:])
    maintenance = before.maintenance
    assert maintenance is not None
    return replace(
        before,
        table=replace(before.table, columns=columns),
        maintenance=replace(maintenance, **_query_of(view)),
    )


def reshaped(before: CatalogTable, statement: Alter, execution: Execution) -> CatalogTable:
    """Return a table with other columns, another watermark or another primary key, and with the same query.

    Columns that are stored are those of the query: they are neither added nor dropped.
    """
    maintenance, action = before.maintenance, statement.action
    assert maintenance is not None
    if isinstance(action, ChangeElements):
        for element in action.elements:
            if isinstance(element, parts.Distribution):
                raise execution.text.unsupported(element.span, "DISTRIBUTION of a materialized table")
            if isinstance(element, parts.Placed):
                _check_given(element.column, maintenance, execution)
    elif isinstance(action, DropColumns):
        for name in action.columns:
            if name.parts[0] in maintenance.columns:
                raise execution.text.wrong(
                    name.span, "cannot drop a column that the query gives", got=name.parts[0]
                )
    changed = bind_change(statement, before, execution.source, PermanentObjects(execution.manager))
    old = {column.name: column for column in before.table.columns}
    for column in changed.table.columns:
        if column.name in old:
            _check_modified(old[column.name], column, statement, execution)
    return replace(changed, maintenance=maintenance)


def _check_given(column: parts.Column, maintenance: Maintenance, execution: Execution) -> None:
    """Require that the query gives a column unless it is computed or virtual."""
    stored = isinstance(column, parts.PhysicalColumn) or (
        isinstance(column, parts.MetadataColumn) and not column.virtual
    )
    if stored and column.name.parts[0] not in maintenance.columns:
        raise execution.text.wrong(
            column.name.span,
            _GIVEN,
            got=f"no column {column.name.parts[0]}",
            hint="ALTER MATERIALIZED TABLE ... AS query adds columns",
        )


def _check_modified(old: TableColumn, new: TableColumn, statement: Alter, execution: Execution) -> None:
    """Require that a column stays what it is, and that what it has can be cast to its type."""
    if type(old) is not type(new):
        raise execution.text.wrong(
            statement.span,
            f"cannot make a {_KINDS[type(new)]} column of a {_KINDS[type(old)]} one",
            got=old.name,
        )
    if not isinstance(new, ComputedColumn) and not supports_implicit_cast(old.type, new.type):
        raise execution.text.wrong(
            statement.span,
            f"requires a type of {old.name} that {old.type} can be cast to",
            got=str(new.type),
        )


def _view(statement: CreateMaterializedTable | Alter, query: exp.Expr, execution: Execution) -> View:
    """Return the query as a view, with what it reads; nothing of that may be temporary."""
    create = CreateView(statement.span, statement.name, False, False, False, None, None, query)
    return bind_view(create, execution.source, PermanentObjects(execution.manager))


def _query_of(view: View) -> dict[str, Any]:
    definition = definition_of(view)
    return {
        "query": definition.original_query,
        "columns": tuple(view.row.field_names),
        "path": definition.path,
        "asterisks": definition.asterisks,
    }


def _fields(table: CatalogTable) -> list[Field]:
    columns = (column for column in table.table.columns if isinstance(column, PhysicalColumn))
    return [Field(column.name, column.type) for column in columns]


def _check_physical(
    table: CatalogTable, view: View, statement: CreateMaterializedTable, execution: Execution
) -> None:
    """Require that the query gives every column that is stored."""
    given = set(view.row.field_names)
    missing = [column.name for column in table.table.written if column.name not in given]
    if missing:
        raise execution.text.wrong(
            statement.span,
            _GIVEN,
            got=f"no column {missing[0]}",
        )


def _check_kept(
    before: CatalogTable,
    after: Iterable[Field],
    statement: CreateMaterializedTable | Alter,
    execution: Execution,
) -> None:
    """Require that a table keeps its columns, and that others come after them and can be NULL."""
    old, new = _fields(before), [*after]
    for one, other in zip(old, [*new, *[None] * len(old)], strict=False):
        if other is None or (one.name, one.type) != (other.name, other.type.copy(one.type.nullable)):
            raise execution.text.wrong(
                statement.span,
                f"requires the columns of the table as they are, and new ones after them: {_shown(old)}",
                got=_shown(new),
            )
    for added in new[len(old) :]:
        if not added.type.nullable:
            raise execution.text.wrong(
                statement.span, "requires new columns that can be NULL", got=f"{added.name} {added.type}"
            )


def _shown(fields: Iterable[Field]) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in fields)


def _directory(table: CatalogTable, execution: Execution) -> str:
    """Return where the rows and the state of a table are kept.

    That is what the option 'path' of a table without a connector says; or it is beside the definition in a catalog of
    files; or below the state directory of the program.
    """
    identifier, options = table.identifier, table.table.options
    if "connector" not in options and _PATH in options:
        return options[_PATH]
    catalog = execution.manager.catalog(identifier.catalog)
    if isinstance(catalog, FileCatalog):
        return catalog.directory_of(path_of(identifier))
    ambient = current_ambient()
    configured = {**execution.session.config.to_map(), **ambient.configuration}
    below = ambient.state_dir or first_present(configured, STATE_DIR_KEYS)
    if below is None:
        raise ProgramError(
            "requires a place for its rows and its state",
            who=f"materialized table {identifier}",
            got="a catalog in memory, and no state directory",
            hint="--state-dir DIR, WITH ('path' = '...'), or a catalog of the type 'filesystem'",
        )
    return f"{below.rstrip('/')}/materialized/{_named(identifier)}"


def _named(identifier: ObjectIdentifier) -> str:
    return quote(f"{identifier.catalog}.{identifier.database}.{identifier.name}", safe=".")
