"""Statements about catalogs and databases."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types import STRING, Field
from firesteel.sql.statements.alter import Alter, ResetOptions, SetComment, SetOptions
from firesteel.sql.statements.create import CreateCatalog, CreateDatabase
from firesteel.sql.statements.parts import Name
from firesteel.sql.statements.session import Describe, Drop, UseCatalog, UseDatabase
from firesteel.table.catalog.definitions import CatalogDatabase, CatalogDescriptor
from firesteel.table.catalog.kinds import IN_MEMORY
from firesteel.table.catalog.memory import GenericInMemoryCatalog
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.table_result import TableResult


def create_catalog(statement: CreateCatalog, execution: Execution) -> TableResult:
    """Add a catalog."""
    name = statement.name.parts[0]
    descriptor = CatalogDescriptor(name, options_of(statement.options), statement.comment)
    with execution.at(statement.name.span):
        execution.manager.create_catalog(descriptor, if_not_exists=statement.if_not_exists)
    return answers.ok()


def create_database(statement: CreateDatabase, execution: Execution) -> TableResult:
    """Add a database."""
    catalog, name = _parts(statement.name, execution)
    database = CatalogDatabase(options_of(statement.options), statement.comment)
    with execution.at(statement.name.span):
        execution.manager.create_database(catalog, name, database, if_not_exists=statement.if_not_exists)
    return answers.ok()


def drop_catalog(statement: Drop, execution: Execution) -> TableResult:
    """Remove a catalog."""
    with execution.at(statement.name.span):
        execution.manager.drop_catalog(statement.name.parts[0], if_exists=statement.if_exists)
    return answers.ok()


def drop_database(statement: Drop, execution: Execution) -> TableResult:
    """Remove a database."""
    catalog, name = _parts(statement.name, execution)
    with execution.at(statement.name.span):
        execution.manager.drop_database(
            catalog, name, if_exists=statement.if_exists, cascade=bool(statement.cascade)
        )
    return answers.ok()


def use_catalog(statement: UseCatalog, execution: Execution) -> TableResult:
    """Make a catalog the current one."""
    with execution.at(statement.catalog.span):
        execution.manager.use_catalog(statement.catalog.parts[0])
    return answers.ok()


def use_database(statement: UseDatabase, execution: Execution) -> TableResult:
    """Make a database the current one."""
    catalog, name = _parts(statement.database, execution)
    with execution.at(statement.database.span):
        execution.manager.use_database(catalog, name)
    return answers.ok()


def alter_database(statement: Alter, execution: Execution) -> TableResult:
    """Change the options of a database."""
    catalog, name = _parts(statement.name, execution)
    with execution.at(statement.name.span):
        database = execution.manager.database(catalog, name)
        match statement.action:
            case SetOptions(options):
                changed = replace(database, properties={**database.properties, **options_of(options)})
            case _:
                raise execution.text.unsupported(statement.span, "this kind of ALTER DATABASE")
        execution.manager.catalog(catalog).alter_database(name, changed, False)
    return answers.ok()


def alter_catalog(statement: Alter, execution: Execution) -> TableResult:
    """Change the options or the comment of a catalog."""
    name = statement.name.parts[0]
    with execution.at(statement.name.span):
        known = execution.manager.descriptor(name)
        match statement.action:
            case SetOptions(options):
                execution.manager.alter_catalog(name, {**known.options, **options_of(options)}, known.comment)
            case ResetOptions(keys):
                gone = {key.key for key in keys}
                kept = {key: value for key, value in known.options.items() if key not in gone}
                execution.manager.alter_catalog(name, kept, known.comment)
            case SetComment(comment):
                execution.manager.alter_catalog(name, known.options, comment)
            case _:
                raise execution.text.unsupported(statement.span, "this kind of ALTER CATALOG")
    return answers.ok()


def describe_catalog(statement: Describe, execution: Execution) -> TableResult:
    """Show what is known about a catalog."""
    name = statement.name.parts[0]
    with execution.at(statement.name.span):
        catalog, descriptor = execution.manager.catalog(name), execution.manager.descriptor(name)
    kind = IN_MEMORY if isinstance(catalog, GenericInMemoryCatalog) else type(catalog).__name__
    known = [("name", name), ("type", descriptor.options.get("type", kind)), ("comment", descriptor.comment)]
    if statement.extended:
        options = sorted(descriptor.options.items())
        known += [(f"option:{key}", value) for key, value in options if key != "type"]
    return answers.table((Field("info name", STRING), Field("info value", STRING)), known)


def describe_database(statement: Describe, execution: Execution) -> TableResult:
    """Show what is known about a database."""
    catalog, name = _parts(statement.name, execution)
    with execution.at(statement.name.span):
        database = execution.manager.database(catalog, name)
    known = [("catalog", catalog), ("database", name), ("comment", database.comment or "")]
    if statement.extended:
        known += [(key, value) for key, value in sorted(database.properties.items())]
    return answers.table((Field("info name", STRING), Field("info value", STRING)), known)


def _parts(name: Name, execution: Execution) -> tuple[str, str]:
    """Return the catalog and the database of a name, which need not exist."""
    if len(name.parts) > 2:
        raise execution.text.wrong(name.span, "requires the name of a database", got=".".join(name.parts))
    return name.parts[0] if len(name.parts) > 1 else execution.manager.current_catalog, name.parts[-1]
