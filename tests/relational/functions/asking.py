"""Expressions in SQL, bound and computed by the kernel over the table of `flink/questions.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa

from firesteel.common.errors import RecordError
from firesteel.common.logical_types import Field, LogicalType, ObjectIdentifier, RowType, parse_type
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.logical_types.text import cells
from firesteel.common.places import Source
from firesteel.relational.expressions import Expression
from firesteel.relational.logical.nodes import Project
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.query import Times
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.sql.binding.catalog import CatalogObject
from firesteel.sql.binding.statements import bind_query
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import Query
from tests.relational.functions.flink import questions

NOW = 1_700_000_000_000
"""The current time, in milliseconds."""

FLINK = Path(__file__).parent / "flink"
NAME = ObjectIdentifier("default_catalog", "default_database", "t")


class OneTable:
    """A catalog with the table `t`."""

    path = ("default_catalog", "default_database")

    def __init__(self, row: RowType) -> None:
        columns = tuple(PhysicalColumn(field.name, field.type) for field in row.fields)
        self._table = ResolvedTable(NAME, columns, options={"connector": "datagen"})

    def find(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        return self._table if identifier == NAME else None

    def function(self, identifier: ObjectIdentifier) -> None:
        return None

    def system_function(self, name: str) -> None:
        return None

    def function_names(self, catalog: str, database: str) -> Sequence[str]:
        return []

    def names(self, catalog: str, database: str) -> Sequence[str]:
        return ["t"]


def bound(text: str, row: RowType) -> Expression:
    """Return the expression that a text is over the columns of a row."""
    sql = f"SELECT {text} FROM t"
    statement = parse_statement(sql)
    assert isinstance(statement, Query)
    plan = bind_query(statement.query, Source(sql), OneTable(row))
    assert isinstance(plan, Project)
    return plan.expressions[0]


def computed(
    expressions: Sequence[Expression], row: RowType, rows: pa.RecordBatch, zone: str
) -> pa.RecordBatch:
    names = [f"c{place}" for place in range(len(expressions))]
    statement = Statement(program(row, expressions, names, zone=zone), "calc")
    try:
        return statement.run(ColumnBatch(rows), Times(now=NOW)).rows
    finally:
        statement.close()


@cache
def table(zone: str) -> tuple[RowType, pa.RecordBatch]:
    """Return the type and the rows of the table that Flink was asked about."""
    columns = questions.COLUMNS
    row = RowType.of({"k": parse_type("INT NOT NULL")}, nullable=False)
    rows = []
    for place in range(questions.ROWS):
        texts = [f"CAST({quoted(kind, values[place])} AS {plain(kind)})" for kind, values in columns.values()]
        one = pa.record_batch({"k": pa.array([place], pa.int32())})
        rows.append(computed([bound(text, row) for text in texts], row, one, zone))
    plain_row = RowType(
        tuple(Field(name, parse_type(kind)) for name, (kind, _) in columns.items()), nullable=False
    )
    schema = to_arrow_schema(plain_row)
    arrays = [
        pa.concat_arrays([part.column(place) for part in rows]).cast(field.type)
        for place, field in enumerate(schema)
    ]
    given = pa.RecordBatch.from_arrays(arrays, schema=schema)
    derived = [bound(text, plain_row) for text in questions.DERIVED.values()]
    more = computed(derived, plain_row, given, zone)
    fields = [Field(name, part.type) for name, part in zip(questions.DERIVED, derived, strict=True)]
    full = RowType((*plain_row.fields, *fields), nullable=False)
    return full, pa.RecordBatch.from_arrays([*arrays, *more.columns], schema=to_arrow_schema(full))


def plain(kind: str) -> str:
    return kind.removesuffix(" NOT NULL")


def quoted(kind: str, value: str | None) -> str:
    if value is None:
        return "NULL"
    return f"'{value.strip(chr(39))}'" if kind.startswith(("DECIMAL", "BIGINT")) else value


def answer(text: str, zone: str) -> tuple[LogicalType, list[str | None]]:
    """Return the type of an expression and its cells for the rows of the table; None for a row that it fails for."""
    row, rows = table(zone)
    expression = bound(text, row)
    try:
        found = computed([expression], row, rows, zone)
        return expression.type, list(cells(found.column(0), expression.type, zone))
    except RecordError:
        pass
    shown: list[str | None] = []
    for place in range(rows.num_rows):
        try:
            found = computed([expression], row, rows.slice(place, 1), zone)
            shown += cells(found.column(0), expression.type, zone)
        except RecordError:
            shown.append(None)
    return expression.type, shown
