"""SHOW CREATE: the statement that makes an object again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.relational.tables import PhysicalColumn
from firesteel.sql.binding.catalog import View
from firesteel.sql.statements.parts import Name, ObjectKind
from firesteel.sql.statements.session import ShowCreate
from firesteel.sql.writing.parts import quoted_sql
from firesteel.table.catalog.declared import column_text, declared_schema, view_of
from firesteel.table.catalog.definitions import CatalogDescriptor
from firesteel.table.catalog.manager import kind_of
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.resolved_schema import PhysicalColumn as Physical
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult


def show_create(statement: ShowCreate, execution: Execution) -> TableResult:
    """Answer SHOW CREATE TABLE, VIEW or CATALOG."""
    if statement.kind is ObjectKind.CATALOG:
        name = statement.name.parts[0]
        with execution.at(statement.name.span):
            return _shown(_catalog(execution.manager.descriptor(name)))
    if statement.kind is ObjectKind.MODEL:
        return _shown(_model(execution.identifier(statement.name), statement.name, execution))
    if statement.kind not in (ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_TABLE):
        raise execution.text.unsupported(statement.span, f"SHOW CREATE {statement.kind.value}")
    identifier = execution.identifier(statement.name)
    with execution.at(statement.name.span):
        found = execution.manager.get(identifier)
    temporary = identifier in execution.manager.temporary
    other = kind_of(found)
    if other != statement.kind.value.lower():
        raise execution.text.wrong(
            statement.name.span,
            f"requires a {statement.kind.value.lower()}",
            got=f"the {other} {identifier.name}",
            hint=f"SHOW CREATE {other.upper()}",
        )
    if isinstance(found, CatalogTable):
        return _shown(table_text(found, temporary, or_alter=statement.or_alter))
    if isinstance(found, View):
        return _shown(view_text(found, temporary))
    raise execution.text.wrong(
        statement.name.span,
        "requires a view that a statement has made",
        got=f"{identifier.name}, which a program made of a Table",
    )


def _shown(text: str) -> TableResult:
    return answers.listed("result", [text])


def table_text(found: CatalogTable, temporary: bool, *, or_alter: bool = False) -> str:
    """Return the CREATE TABLE of a table, or the CREATE [OR ALTER] MATERIALIZED TABLE of a materialised one."""
    schema, table = declared_schema(found), found.table
    elements = [*schema.elements, *schema.keys]
    what = "TABLE" if found.maintenance is None else "MATERIALIZED TABLE"
    head = _head(f"OR ALTER {what}" if or_alter else what, found.identifier, temporary)
    lines = [f"{head} (", ",\n".join(f"  {part}" for part in elements)]
    lines.append(")")
    if table.comment is not None:
        lines.append(f"COMMENT {escaped_text(table.comment)}")
    if table.distribution is not None:
        lines.append(str(table.distribution))
    if table.partition_keys:
        lines.append(f"PARTITIONED BY ({_names(table.partition_keys)})")
    if table.options:
        lines.append(f"WITH (\n{_options(table.options)}\n)")
    if found.maintenance is not None:
        lines.append("START_MODE = FROM_BEGINNING")
        lines += [f"FRESHNESS = {found.maintenance.freshness}", f"REFRESH_MODE = {found.maintenance.mode}"]
        lines.append(f"AS {quoted_sql(view_of(found, found.identifier).query)}")
    return "\n".join(lines) + "\n"


def view_text(found: View, temporary: bool) -> str:
    """Return the CREATE VIEW of a view."""
    names = ",\n".join(f"  {escaped_identifier(field.name)}" for field in found.row.fields)
    comment = "" if found.comment is None else f"COMMENT {escaped_text(found.comment)}\n"
    return (
        f"{_head('VIEW', found.identifier, temporary)} (\n{names}\n)\n{comment}AS {quoted_sql(found.query)}\n"
    )


def _model(identifier: ObjectIdentifier, name: Name, execution: Execution) -> str:
    models = execution.manager.models
    with execution.at(name.span):
        model = models.get(identifier)
    comment = "" if model.comment is None else f"COMMENT {escaped_text(model.comment)}\n"
    return (
        f"{_head('MODEL', identifier, models.is_temporary(identifier))}\nINPUT ({_columns(model.inputs)})\n"
        f"OUTPUT ({_columns(model.outputs)})\n{comment}WITH (\n{_options(model.options)}\n)\n"
    )


def _columns(columns: Sequence[PhysicalColumn]) -> str:
    texts = (column_text(Physical(one.name, one.type, one.comment)) for one in columns)
    return ", ".join(texts)


def _catalog(catalog: CatalogDescriptor) -> str:
    comment = "" if catalog.comment is None else f"COMMENT {escaped_text(catalog.comment)}\n"
    name = escaped_identifier(catalog.catalog_name)
    return f"CREATE CATALOG {name}\n{comment}WITH (\n{_options(catalog.options)}\n)\n"


def _head(kind: str, identifier: ObjectIdentifier, temporary: bool) -> str:
    return f"CREATE {'TEMPORARY ' if temporary else ''}{kind} {identifier}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(escaped_identifier, names))


def _options(options: Mapping[str, str]) -> str:
    return ",\n".join(
        f"  {escaped_text(key)} = {escaped_text(value)}" for key, value in sorted(options.items())
    )
