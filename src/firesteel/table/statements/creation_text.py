"""SHOW CREATE: the statement that makes an object again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.sql.binding.catalog import View
from firesteel.sql.statements.parts import ObjectKind
from firesteel.sql.statements.session import ShowCreate
from firesteel.sql.writing.parts import quoted_sql
from firesteel.table.catalog.memory import Catalog
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.resolved_schema import Column, ComputedColumn, key_text, schema_of
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult


def show_create(statement: ShowCreate, execution: Execution) -> TableResult:
    """Answer SHOW CREATE TABLE, VIEW or CATALOG."""
    if statement.kind is ObjectKind.CATALOG:
        name = statement.name.parts[0]
        with execution.at(statement.name.span):
            return _shown(_catalog(name, execution.manager.catalog(name)))
    if statement.kind not in (ObjectKind.TABLE, ObjectKind.VIEW):
        raise execution.text.unsupported(statement.span, f"SHOW CREATE {statement.kind.value}")
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        found = execution.manager.get(identifier)
    temporary = identifier in execution.manager.temporary
    is_table = isinstance(found, CatalogTable)
    if is_table is not (statement.kind is ObjectKind.TABLE):
        other = "VIEW" if statement.kind is ObjectKind.TABLE else "TABLE"
        raise execution.text.wrong(
            statement.name.span,
            f"requires a {statement.kind.value.lower()}",
            got=f"the {other.lower()} {identifier.name}",
            hint=f"SHOW CREATE {other}",
        )
    if isinstance(found, CatalogTable):
        return _shown(table_text(found, temporary))
    if isinstance(found, View):
        return _shown(view_text(found, temporary))
    raise execution.text.wrong(
        statement.name.span,
        "requires a view that a statement has made",
        got=f"{identifier.name}, which a program made of a Table",
    )


def _shown(text: str) -> TableResult:
    return answers.listed("result", [text])


def table_text(found: CatalogTable, temporary: bool) -> str:
    """Return the CREATE TABLE of a table."""
    schema, table = schema_of(found), found.table
    elements = [_column(column) for column in schema.columns]
    if schema.watermark is not None:
        elements.append(f"WATERMARK FOR {escaped_identifier(schema.watermark[0])} AS {schema.watermark[1]}")
    if schema.primary_key is not None:
        elements.append(key_text(schema.key_name, schema.primary_key))
    lines = [f"{_head('TABLE', found.identifier, temporary)} (", ",\n".join(f"  {part}" for part in elements)]
    lines.append(")")
    if table.comment is not None:
        lines.append(f"COMMENT {escaped_text(table.comment)}")
    if table.partition_keys:
        lines.append(f"PARTITIONED BY ({_names(table.partition_keys)})")
    if table.options:
        lines.append(f"WITH (\n{_options(table.options)}\n)")
    return "\n".join(lines) + "\n"


def view_text(found: View, temporary: bool) -> str:
    """Return the CREATE VIEW of a view."""
    names = ",\n".join(f"  {escaped_identifier(field.name)}" for field in found.row.fields)
    comment = "" if found.comment is None else f"COMMENT {escaped_text(found.comment)}\n"
    return (
        f"{_head('VIEW', found.identifier, temporary)} (\n{names}\n)\n{comment}AS {quoted_sql(found.query)}\n"
    )


def _catalog(name: str, catalog: Catalog) -> str:
    comment = "" if catalog.comment is None else f"COMMENT {escaped_text(catalog.comment)}\n"
    return f"CREATE CATALOG {escaped_identifier(name)}\n{comment}WITH (\n{_options(catalog.options)}\n)\n"


def _head(kind: str, identifier: ObjectIdentifier, temporary: bool) -> str:
    return f"CREATE {'TEMPORARY ' if temporary else ''}{kind} {identifier}"


def _column(column: Column) -> str:
    """Return a column as it is declared: a type with all of its parameters, none where it is computed."""
    extras = column.explain_extras()
    data_type = None if isinstance(column, ComputedColumn) else column.type.as_serializable_string()
    comment = None if column.comment is None else f"COMMENT {escaped_text(column.comment)}"
    return " ".join(filter(None, (escaped_identifier(column.name), data_type, extras, comment)))


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(escaped_identifier, names))


def _options(options: Mapping[str, str]) -> str:
    return ",\n".join(
        f"  {escaped_text(key)} = {escaped_text(value)}" for key, value in sorted(options.items())
    )
