"""SHOW of everything but CREATE statements and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from firesteel.common.logical_types import STRING, BooleanType, Field
from firesteel.relational.functions import FUNCTIONS
from firesteel.relational.functions.aggregates import AGGREGATES
from firesteel.sql.statements.session import Pattern, Show
from firesteel.table.session import CORE, Session
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult


def matching(names: Iterable[str], pattern: Pattern | None) -> list[str]:
    """Return the names that a pattern asks for: % is any text, _ any character, a backslash takes both as they are.

    >>> matching(["orders", "users"], Pattern("%ers", ignores_case=False, negated=False))
    ['orders', 'users']
    >>> matching(["orders", "users"], Pattern("O%", ignores_case=True, negated=True))
    ['users']
    """
    if pattern is None:
        return list(names)
    asked = re.compile(_regex(pattern.text), re.DOTALL | (re.IGNORECASE if pattern.ignores_case else 0))
    return [name for name in names if (asked.fullmatch(name) is None) is pattern.negated]


def _regex(text: str) -> str:
    parts = re.findall(r"\\[%_\\]|.", text, re.DOTALL)
    return "".join({"%": ".*", "_": "."}.get(part, re.escape(part[-1])) for part in parts)


def show(statement: Show, execution: Execution) -> TableResult:
    """Answer a SHOW statement."""
    showing = _SHOWN.get(statement.what)
    if showing is None:
        raise execution.text.unsupported(statement.span, f"SHOW {statement.what}")
    return showing(statement, execution)


def _catalogs(statement: Show, execution: Execution) -> TableResult:
    names = execution.manager.catalog_names()
    return answers.listed("catalog name", matching(names, statement.pattern))


def _databases(statement: Show, execution: Execution) -> TableResult:
    scope = statement.scope
    name = execution.manager.current_catalog if scope is None else scope.parts[0]
    with execution.at(statement.span if scope is None else scope.span):
        names = sorted(execution.manager.catalog(name).list_databases())
    return answers.listed("database name", matching(names, statement.pattern))


def _tables(statement: Show, execution: Execution) -> TableResult:
    names = execution.manager.names(*execution.database(statement.scope))
    return answers.listed("table name", matching(names, statement.pattern))


def _views(statement: Show, execution: Execution) -> TableResult:
    names = execution.manager.views(*execution.database(statement.scope))
    return answers.listed("view name", matching(names, statement.pattern))


def _materialized_tables(statement: Show, execution: Execution) -> TableResult:
    names = execution.manager.materialized_tables(*execution.database(statement.scope))
    return answers.listed("materialized table", matching(names, statement.pattern))


def _functions(statement: Show, execution: Execution) -> TableResult:
    names = function_names(execution.session, execution.database(statement.scope))
    return answers.listed("function name", matching(names, statement.pattern))


def function_names(session: Session, path: tuple[str, str] | None = None) -> list[str]:
    """Return the names of the functions in the modules that are in use, and of the user's in a database.

    `path` is its catalog and its name (None: the current one).
    """
    own = session.manager.functions.names(*(path or session.manager.path))
    if CORE not in session.modules:
        return own
    # Names that are no identifiers are those of operators and of syntax.
    names = (name.lower() for name in (*FUNCTIONS.names(), *AGGREGATES))
    return sorted({*own, *(name for name in names if name.replace("_", "a").isalnum())})


def _user_functions(statement: Show, execution: Execution) -> TableResult:
    names = execution.manager.functions.names(*execution.database(statement.scope))
    return answers.listed("function name", matching(names, statement.pattern))


def _current_catalog(_: Show, execution: Execution) -> TableResult:
    return answers.listed("current catalog name", [execution.manager.current_catalog])


def _current_database(_: Show, execution: Execution) -> TableResult:
    return answers.listed("current database name", [execution.manager.current_database])


def _modules(_: Show, execution: Execution) -> TableResult:
    return answers.listed("module name", execution.session.modules)


def _full_modules(_: Show, execution: Execution) -> TableResult:
    session = execution.session
    unused = [name for name in session.loaded if name not in session.modules]
    fields = (Field("module name", STRING), Field("used", BooleanType()))
    return answers.table(
        fields, [*((name, True) for name in session.modules), *((name, False) for name in unused)]
    )


def _none(column: str) -> Callable[[Show, Execution], TableResult]:
    return lambda _statement, _execution: answers.listed(column, [])


_SHOWN: Final[dict[str, Callable[[Show, Execution], TableResult]]] = {
    "CATALOGS": _catalogs,
    "DATABASES": _databases,
    "TABLES": _tables,
    "VIEWS": _views,
    "FUNCTIONS": _functions,
    "USER FUNCTIONS": _user_functions,
    "MATERIALIZED TABLES": _materialized_tables,
    "JARS": _none("jars"),
    "CURRENT CATALOG": _current_catalog,
    "CURRENT DATABASE": _current_database,
    "MODULES": _modules,
    "FULL MODULES": _full_modules,
}
