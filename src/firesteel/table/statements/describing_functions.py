"""DESCRIBE FUNCTION: where a function comes from, and with EXTENDED what it is and takes.

Source: Flink's DescribeFunctionOperation and StaticArgument.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import LogicalType
from firesteel.functions.columns.python_functions import (
    PythonAggregate,
    PythonFunction,
    PythonProcessTable,
    PythonTableAggregate,
    PythonTableFunction,
    UserFunction,
)
from firesteel.functions.process_tables import ArgumentTrait
from firesteel.sql.statements.session import Describe
from firesteel.table.catalog.functions import ImportedFunction, KnownFunction, is_built_in
from firesteel.table.session import CORE
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.table_result import TableResult

_KINDS: Final[dict[type, str]] = {
    PythonFunction: "SCALAR",
    PythonTableFunction: "TABLE",
    PythonAggregate: "AGGREGATE",
    PythonTableAggregate: "TABLE_AGGREGATE",
    PythonProcessTable: "PROCESS_TABLE",
}
_TRAITS: Final = (
    ArgumentTrait.ROW_SEMANTIC_TABLE,
    ArgumentTrait.SET_SEMANTIC_TABLE,
    ArgumentTrait.PASS_COLUMNS_THROUGH,
    ArgumentTrait.SUPPORT_UPDATES,
    ArgumentTrait.REQUIRE_ON_TIME,
    ArgumentTrait.OPTIONAL_PARTITION_BY,
    ArgumentTrait.REQUIRE_UPDATE_BEFORE,
    ArgumentTrait.REQUIRE_FULL_DELETE,
)
"""In the order in which Flink writes them."""


def describe_function(statement: Describe, execution: Execution) -> TableResult:
    """Answer DESCRIBE FUNCTION.

    Raises SqlValidationError for a name that no function has, SqlUnsupportedError for EXTENDED of a built-in function.
    """
    functions, name = execution.manager.functions, statement.name
    alone = name.parts[0] if len(name.parts) == 1 else None
    found: KnownFunction | None = None if alone is None else functions.find_system(alone)
    if found is not None:
        assert alone is not None
        return _answer(found, alone, statement, system=True, temporary=functions.is_temporary_system(alone))
    if alone is not None and is_built_in(alone) and CORE in execution.session.modules:
        if statement.extended:
            raise execution.text.unsupported(
                statement.span, "EXTENDED of a built-in function", hint="the page of functions has signatures"
            )
        return answers.texts(("info name", "info value"), _origin(None, system=True, temporary=False))
    identifier = execution.identifier(name)
    found = functions.known(identifier)
    if found is None:
        raise execution.text.wrong(name.span, "requires the name of a function", got=str(name))
    temporary = functions.is_temporary(identifier)
    return _answer(found, identifier.name, statement, system=False, temporary=temporary)


def _answer(
    found: KnownFunction, name: str, statement: Describe, *, system: bool, temporary: bool
) -> TableResult:
    rows = _origin(found, system=system, temporary=temporary)
    if statement.extended:
        function = found.signature if isinstance(found, ImportedFunction) else found
        deterministic = str(function.deterministic).lower()
        rows += [
            ("kind", _kind(function)),
            ("requirements", "[]"),
            ("is deterministic", deterministic),
            ("supports constant folding", "true"),
            ("signature", f"{name}({', '.join(_arguments(function))})"),
        ]
    return answers.texts(("info name", "info value"), rows)


def _origin(found: KnownFunction | None, *, system: bool, temporary: bool) -> list[tuple[str, str]]:
    rows = [("is system function", str(system).lower()), ("is temporary", str(temporary).lower())]
    if isinstance(found, ImportedFunction):
        rows += [("class name", found.target), ("function language", "PYTHON"), ("resource uris", "[]")]
    return rows


def _kind(function: UserFunction) -> str:
    awaited = isinstance(function, PythonFunction) and function.form == "async"
    return "ASYNC_SCALAR" if awaited else _KINDS[type(function)]


def _arguments(function: UserFunction) -> list[str]:
    if isinstance(function, PythonProcessTable):
        given = [f"{name} => {_shown(kind)}" for name, kind in function.arguments.items()]
        return [*given, "on_time => DESCRIPTOR", "uid => STRING"]
    if function.takes is None:
        return ["*"]
    return [f"arg{place} => {_shown(kind)}" for place, kind in enumerate(function.takes)]


def _shown(kind: LogicalType | frozenset[ArgumentTrait]) -> str:
    if not isinstance(kind, frozenset):
        return kind.as_summary_string()
    names = ["TABLE", *(trait.name.replace("_", " ") for trait in _TRAITS if trait in kind)]
    return f"{{{', '.join(names)}}}"
