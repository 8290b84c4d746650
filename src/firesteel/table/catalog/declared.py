"""Between what a catalog holds, which is unresolved, and the tables and views of a session."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import LogicalType, ObjectIdentifier, RowType
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.common.logical_types.temporal import AnyTimestampType, TimestampKind
from firesteel.common.places import Source
from firesteel.relational.tables import ComputedColumn as Computed
from firesteel.relational.tables import MetadataColumn as Metadata
from firesteel.relational.tables import TableColumn
from firesteel.sql.binding.catalog import CatalogView, View
from firesteel.sql.binding.statements import bind_table
from firesteel.sql.binding.table_elements import Written
from firesteel.sql.nodes import span
from firesteel.sql.script import parse_statement
from firesteel.sql.statements import parts
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.queries import Query
from firesteel.table.catalog.definitions import CatalogBaseTable
from firesteel.table.catalog.objects import CatalogObject, CatalogTable, row_of
from firesteel.table.resolved_schema import (
    Column,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    key_text,
    schema_of_row,
)
from firesteel.table.schema import Schema, physical_row
from firesteel.table.table_descriptor import TableDescriptor, create_statement


def definition_of(found: CatalogObject) -> CatalogBaseTable:
    """Return what a catalog keeps of a table or a view of a session."""
    if isinstance(found, CatalogTable):
        table = found.table
        return CatalogBaseTable(
            declared_schema(found),
            table.partition_keys,
            dict(table.options),
            table.comment,
            maintenance=found.maintenance,
            distribution=table.distribution,
            found=found,
        )
    schema = Schema.new_builder().from_resolved_schema(schema_of_row(row_of(found))).build()
    if not isinstance(found, View):
        return CatalogBaseTable(schema, original_query="", found=found)
    place = span(found.query, found.source)
    text = found.source.text[place.start : place.end]
    asterisks = {offset - place.start: names for offset, names in found.asterisks.items()}
    return CatalogBaseTable(
        schema,
        comment=found.comment,
        original_query=text,
        path=found.path,
        asterisks=asterisks,
        found=found,
    )


def object_of(
    definition: CatalogBaseTable, identifier: ObjectIdentifier, catalog: CatalogView
) -> CatalogObject:
    """Return the table or view of a session that a definition describes.

    Raises SqlError, with the text of the definition, for one that means nothing.
    """
    found = definition.found
    if found is not None:
        return found if found.identifier == identifier else renamed(found, identifier)
    if definition.is_view:
        return _view(definition, identifier)
    descriptor = TableDescriptor(
        definition.schema,
        dict(definition.options),
        definition.partition_keys,
        definition.comment,
        definition.distribution,
    )
    text = create_statement(descriptor, identifier)
    statement = parse_statement(text)
    assert isinstance(statement, CreateTable)
    return replace(declared_table(statement, Source(text), catalog), maintenance=definition.maintenance)


def view_of(found: CatalogTable, identifier: ObjectIdentifier) -> View:
    """Return the query of a materialised table, under a name of its own."""
    maintenance = found.maintenance
    assert maintenance is not None
    types = {field.name: field.type for field in row_of(found).fields}
    row = RowType.of({name: types[name] for name in maintenance.columns}, nullable=False)
    statement = parse_statement(maintenance.query)
    assert isinstance(statement, Query)
    source = Source(maintenance.query)
    return View(identifier, row, statement.query, source, maintenance.path, None, maintenance.asterisks)


def _view(definition: CatalogBaseTable, identifier: ObjectIdentifier) -> View:
    text = definition.original_query or ""
    statement = parse_statement(text)
    if not isinstance(statement, Query):
        raise ProgramError("requires a query", who=f"the view {identifier}", got=text)
    return View(
        identifier,
        physical_row(definition.schema),
        statement.query,
        Source(text),
        definition.path or (identifier.catalog, identifier.database),
        definition.comment,
        definition.asterisks,
    )


def renamed(found: CatalogObject, identifier: ObjectIdentifier) -> CatalogObject:
    """Return a table or a view under another name."""
    if isinstance(found, CatalogTable):
        return replace(found, table=replace(found.table, identifier=identifier))
    return replace(found, identifier=identifier)


def declared_table(
    statement: CreateTable,
    source: Source,
    catalog: CatalogView,
    base: CatalogTable | None = None,
    row: RowType | None = None,
) -> CatalogTable:
    """Return the table that a statement declares; `base` is the one after LIKE, `row` that of the query after AS."""
    table = bind_table(statement, source, catalog, row)
    written = {} if base is None else dict(base.computed)
    for column in statement.columns:
        if isinstance(column, parts.ComputedColumn):
            written[column.name.parts[0]] = Written(column.expression, source)
    watermark = None if base is None else base.watermark
    if statement.watermarks:
        watermark = Written(statement.watermarks[-1].expression, source)
    named = [key.name.parts[0] for key in statement.keys if key.name is not None]
    key_name = named[0] if named else None if base is None or statement.keys else base.key_name
    kept = {column.name for column in table.columns if isinstance(column, Computed)}
    return CatalogTable(
        table,
        {name: expression for name, expression in written.items() if name in kept},
        watermark if table.watermark is not None else None,
        key_name if table.primary_key is not None else None,
    )


def declared_schema(found: CatalogTable) -> Schema:
    """Return the columns, the watermark and the key of a table as they are declared."""
    schema = schema_of(found)
    elements = [column_text(column) for column in schema.columns]
    if schema.watermark is not None:
        elements.append(f"WATERMARK FOR {escaped_identifier(schema.watermark[0])} AS {schema.watermark[1]}")
    keys = () if schema.primary_key is None else (key_text(schema.key_name, schema.primary_key),)
    stored = ((column.name, column.type) for column in schema.columns if column.is_physical())
    names = tuple(column.name for column in schema.columns)
    return Schema(tuple(elements), keys, tuple(stored), names, shown=tuple(elements))


def schema_of(found: CatalogObject) -> ResolvedSchema:
    """Return the schema of a table or a view."""
    if not isinstance(found, CatalogTable):
        return schema_of_row(row_of(found))
    table = found.table
    spec = table.watermark
    watermark = None
    if spec is not None:
        watermark = (spec.column, "" if found.watermark is None else found.watermark.shown)
    columns = tuple(_column(column, found) for column in table.columns)
    return ResolvedSchema(columns, watermark, table.primary_key, found.key_name)


def _type(column: TableColumn, found: CatalogTable) -> LogicalType:
    """Return the type of a column, marked as the time attribute if it is that."""
    spec = found.table.watermark
    if spec is not None and spec.column == column.name and isinstance(column.type, AnyTimestampType):
        return replace(column.type, kind=TimestampKind.ROWTIME)
    return column.type


def _column(column: TableColumn, found: CatalogTable) -> Column:
    data_type = _type(column, found)
    match column:
        case Computed(name, _, _, comment):
            return ComputedColumn(name, data_type, comment, found.computed[name].shown)
        case Metadata(name, _, key, virtual, comment):
            return MetadataColumn(name, data_type, comment, None if key == name else key, virtual)
        case _:
            return PhysicalColumn(column.name, data_type, column.comment)


def column_text(column: Column) -> str:
    """Return a column as it is declared: a type with all of its parameters, none where it is computed."""
    extras = column.explain_extras()
    data_type = None if isinstance(column, ComputedColumn) else column.type.as_serializable_string()
    comment = None if column.comment is None else f"COMMENT {escaped_text(column.comment)}"
    return " ".join(filter(None, (escaped_identifier(column.name), data_type, extras, comment)))
