"""Statements about catalogs and databases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import STRING, Field
from firesteel.sql.statements.alter import Alter, ResetOptions, SetComment, SetOptions
from firesteel.sql.statements.create import CreateCatalog, CreateDatabase
from firesteel.sql.statements.parts import Name
from firesteel.sql.statements.session import Describe, Drop, UseCatalog, UseDatabase
from firesteel.table.catalog.memory import Catalog, Database
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.table_result import TableResult

_IN_MEMORY: Final = "generic_in_memory"
_FIRST: Final = "default-database"
_OPTIONS: Final = ("type", _FIRST, "property-version")


def create_catalog(statement: CreateCatalog, execution: Execution) -> TableResult:
    """Add a catalog in memory."""
    options = options_of(statement.options)
    with execution.at(statement.name.span):
        _check_options(options)
        catalog = Catalog(options.get(_FIRST, "default"), statement.comment, options)
        execution.manager.create_catalog(
            statement.name.parts[0], catalog, if_not_exists=statement.if_not_exists
        )
    return answers.ok()


def create_database(statement: CreateDatabase, execution: Execution) -> TableResult:
    """Add a database."""
    catalog, name = _parts(statement.name, execution)
    database = Database(comment=statement.comment, options=options_of(statement.options))
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
                changed = replace(database, options={**database.options, **options_of(options)})
            case _:
                raise execution.text.unsupported(statement.span, "this kind of ALTER DATABASE")
        execution.manager.catalog(catalog).databases[name] = changed
    return answers.ok()


def alter_catalog(statement: Alter, execution: Execution) -> TableResult:
    """Change the options or the comment of a catalog, which keeps its databases."""
    name = statement.name.parts[0]
    with execution.at(statement.name.span):
        catalog = execution.manager.catalog(name)
        match statement.action:
            case SetOptions(options):
                _set_options(catalog, {**catalog.options, **options_of(options)})
            case ResetOptions(keys):
                gone = {key.key for key in keys}
                _set_options(
                    catalog, {key: value for key, value in catalog.options.items() if key not in gone}
                )
            case SetComment(comment):
                catalog.comment = comment
            case _:
                raise execution.text.unsupported(statement.span, "this kind of ALTER CATALOG")
    return answers.ok()


def describe_catalog(statement: Describe, execution: Execution) -> TableResult:
    """Show what is known about a catalog."""
    name = statement.name.parts[0]
    with execution.at(statement.name.span):
        catalog = execution.manager.catalog(name)
    known = [("name", name), ("type", catalog.options.get("type", _IN_MEMORY)), ("comment", catalog.comment)]
    if statement.extended:
        options = sorted(catalog.options.items())
        known += [(f"option:{key}", value) for key, value in options if key != "type"]
    return answers.table((Field("info name", STRING), Field("info value", STRING)), known)


def describe_database(statement: Describe, execution: Execution) -> TableResult:
    """Show what is known about a database."""
    catalog, name = _parts(statement.name, execution)
    with execution.at(statement.name.span):
        database = execution.manager.database(catalog, name)
    known = [("catalog", catalog), ("database", name), ("comment", database.comment or "")]
    if statement.extended:
        known += [(key, value) for key, value in sorted(database.options.items())]
    return answers.table((Field("info name", STRING), Field("info value", STRING)), known)


def _check_options(options: Mapping[str, str]) -> None:
    kind = options.get("type")
    if kind != _IN_MEMORY:
        raise ProgramError(f"requires the option 'type' = '{_IN_MEMORY}'", got=repr(kind))
    unknown = sorted({*options} - {*_OPTIONS})
    if unknown:
        raise ProgramError(f"takes the options {', '.join(_OPTIONS)}", got=", ".join(unknown))


def _set_options(catalog: Catalog, options: dict[str, str]) -> None:
    _check_options(options)
    catalog.options = options
    catalog.default_database = options.get(_FIRST, "default")
    catalog.databases.setdefault(catalog.default_database, Database())


def _parts(name: Name, execution: Execution) -> tuple[str, str]:
    """Return the catalog and the database of a name, which need not exist."""
    if len(name.parts) > 2:
        raise execution.text.wrong(name.span, "requires the name of a database", got=".".join(name.parts))
    return name.parts[0] if len(name.parts) > 1 else execution.manager.current_catalog, name.parts[-1]
