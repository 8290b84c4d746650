"""CALL and SHOW PROCEDURES."""

from __future__ import annotations

from typing import Any

from firesteel.common.logical_types import STRING, Field, LogicalType, RowType
from firesteel.common.places import Source
from firesteel.sql.binding.statements import bind_query
from firesteel.sql.nodes import NamedArgument, span
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import CallProcedure, Query
from firesteel.sql.statements.session import Show
from firesteel.sql.writing.parts import sql
from firesteel.table.catalog.manager import path_of
from firesteel.table.running import run_query
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.statements.showing import matching
from firesteel.table.table_result import TableResult
from firesteel.table.types import logical_type


def show_procedures(statement: Show, execution: Execution) -> TableResult:
    """Show the names of the procedures of a database."""
    with execution.at(statement.span):
        catalog, database = execution.database(statement.scope)
        names = sorted(execution.manager.catalog(catalog).list_procedures(database))
    return answers.listed("procedure name", matching(names, statement.pattern))


def call(statement: CallProcedure, execution: Execution) -> TableResult:
    """Call a procedure of a catalog with the values of its arguments, and return its rows."""
    found, place = statement.call, span(statement.call, execution.source)
    parts = tuple(name.name for name in found.args["names"])
    named = next((one for one in found.expressions if isinstance(one, NamedArgument)), None)
    if named is not None:
        raise execution.text.unsupported(span(named, execution.source), "a named argument of a procedure")
    with execution.at(place):
        identifier = execution.manager.qualified(parts)
        catalog = execution.manager.catalog(identifier.catalog)
        procedure = catalog.get_procedure(path_of(identifier))
        arguments = _values([sql(one) for one in found.expressions], execution)
        wanted = procedure.result_type()
        kind = STRING if wanted is None else logical_type(wanted, f"the procedure {identifier}")
        rows = list(procedure.call(execution.session.job_environment(), *arguments))
    return answers.table(_fields(kind), [_row(one, kind) for one in rows])


def _values(arguments: list[str], execution: Execution) -> list[Any]:
    """Return the values of constant expressions."""
    if not arguments:
        return []
    text = f"SELECT {', '.join(f'{one} AS c{place}' for place, one in enumerate(arguments))}"
    query = parse_statement(text)
    assert isinstance(query, Query)
    (row,) = run_query(bind_query(query.query, Source(text), execution.catalog), execution.session).collect()
    return list(row)


def _fields(kind: LogicalType) -> tuple[Field, ...]:
    return kind.fields if isinstance(kind, RowType) else (Field("result", kind),)


def _row(value: Any, kind: LogicalType) -> tuple[Any, ...]:
    return tuple(value) if isinstance(kind, RowType) else (value,)
