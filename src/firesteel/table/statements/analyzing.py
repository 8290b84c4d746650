"""ANALYZE TABLE, which counts what the planner then knows, and TRUNCATE TABLE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import LogicalTypeFamily, LogicalTypeRoot
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.common.places import Source
from firesteel.functions.columns.statistics import ColumnStatistics
from firesteel.relational.physical.connecting import truncate as truncate_rows
from firesteel.relational.tables import ComputedColumn, MetadataColumn, PhysicalColumn
from firesteel.sql.binding.statements import bind_query
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import AnalyzeTable, Query, Truncate
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.catalog.paths import CatalogPartitionSpec
from firesteel.table.catalog.statistics import CatalogColumnStatistics, CatalogTableStatistics
from firesteel.table.running import plan_options, run_query
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution
from firesteel.table.statements.partitions import located, spec_of
from firesteel.table.table_result import TableResult

_BOUNDED: Final = (LogicalTypeFamily.NUMERIC, LogicalTypeFamily.DATETIME)
_UNCOUNTED: Final = (
    *(LogicalTypeRoot.ARRAY, LogicalTypeRoot.MAP, LogicalTypeRoot.MULTISET, LogicalTypeRoot.ROW),
    *(LogicalTypeRoot.RAW, LogicalTypeRoot.BINARY, LogicalTypeRoot.VARBINARY),
)
"""Types of columns of which only the NULLs are counted."""


def analyze(statement: AnalyzeTable, execution: Execution) -> TableResult:
    """Count the rows of a table, or of its partitions, and what its columns have; the catalog keeps it."""
    if execution.session.streaming:
        raise execution.text.unsupported(statement.span, "ANALYZE TABLE in STREAMING mode, as in Flink")
    with execution.at(statement.table.span):
        catalog, path = located(statement.table, execution)
        found = _table(execution, statement)
        columns = _columns(found, statement, execution)
        if not found.table.partition_keys:
            if statement.partition:
                raise ProgramError("requires a table that is PARTITIONED BY for PARTITION", got=str(path))
            rows, known = _counted(found, columns, None, execution)
            catalog.alter_table_statistics(path, rows, False)
            if columns:
                catalog.alter_table_column_statistics(path, known, False)
            return answers.ok()
        named = {item.column.parts[0] for item in statement.partition}
        if named != {*found.table.partition_keys}:
            keys = ", ".join(found.table.partition_keys)
            raise ProgramError(f"requires all partition columns in PARTITION: {keys}", got=str(sorted(named)))
        wanted = spec_of(statement.partition)
        partitions = catalog.list_partitions(path, wanted)
        if not partitions and len(wanted.get_partition_spec()) == len(named):
            raise ProgramError("requires a partition that the catalog knows", got=f"{path} {wanted}")
        for spec in partitions:
            rows, known = _counted(found, columns, spec, execution)
            catalog.alter_partition_statistics(path, spec, rows, False)
            if columns:
                catalog.alter_partition_column_statistics(path, spec, known, False)
    return answers.ok()


def _table(execution: Execution, statement: AnalyzeTable | Truncate) -> CatalogTable:
    found = execution.manager.get(execution.identifier(statement.table))
    if not isinstance(found, CatalogTable):
        raise ProgramError("requires a table", got=f"the view {found.identifier.name}")
    return found


def _columns(found: CatalogTable, statement: AnalyzeTable, execution: Execution) -> list[PhysicalColumn]:
    if statement.columns is None:
        return []
    physical = [column for column in found.table.columns if isinstance(column, PhysicalColumn)]
    if statement.columns == "ALL":
        return physical
    known = {column.name: column for column in found.table.columns}
    columns = []
    for name in statement.columns:
        column = known.get(name.parts[0])
        with execution.at(name.span):
            if column is None:
                raise ProgramError(f"requires a column of {found.identifier}", got=name.parts[0])
            if isinstance(column, ComputedColumn | MetadataColumn):
                kind = "computed" if isinstance(column, ComputedColumn) else "metadata"
                raise ProgramError("requires columns that are stored", got=f"the {kind} column {column.name}")
            columns.append(column)
    return columns


def _counted(
    found: CatalogTable,
    columns: Sequence[PhysicalColumn],
    spec: CatalogPartitionSpec | None,
    execution: Execution,
) -> tuple[CatalogTableStatistics, CatalogColumnStatistics]:
    """Return what a query says of a table or of one of its partitions."""
    parts = ["COUNT(*)", *(part for column in columns for part in _questions(column))]
    named = ", ".join(f"{part} AS c{place}" for place, part in enumerate(parts))
    where = "" if spec is None else f" WHERE {_condition(spec)}"
    text = f"SELECT {named} FROM {found.identifier}{where}"
    query = parse_statement(text)
    assert isinstance(query, Query)
    result = run_query(bind_query(query.query, Source(text), execution.catalog), execution.session)
    (row,) = result.collect()
    rows, *values = row
    answered = iter(values)
    known = {column.name: _known(column, rows, answered) for column in columns}
    return CatalogTableStatistics(rows), CatalogColumnStatistics(known)


def _questions(column: PhysicalColumn) -> Iterator[str]:
    name = escaped_identifier(column.name)
    yield f"COUNT({name})"
    if column.type.root not in _UNCOUNTED:
        yield f"COUNT(DISTINCT {name})"
    if any(map(column.type.has_family, _BOUNDED)):
        yield from (f"MIN({name})", f"MAX({name})")


def _known(column: PhysicalColumn, rows: int, values: Iterator[Any]) -> ColumnStatistics:
    nulls = rows - next(values)
    distinct = None if column.type.root in _UNCOUNTED else next(values)
    low, high = (next(values), next(values)) if any(map(column.type.has_family, _BOUNDED)) else (None, None)
    return ColumnStatistics(distinct, low, high, nulls)


def _condition(spec: CatalogPartitionSpec) -> str:
    pairs = spec.get_partition_spec().items()
    return " AND ".join(
        f"CAST({escaped_identifier(key)} AS STRING) = {escaped_text(value)}" for key, value in pairs
    )


def truncate(statement: Truncate, execution: Execution) -> TableResult:
    """Remove all rows of a table."""
    with execution.at(statement.table.span):
        found = _table(execution, statement)
        if execution.session.streaming:
            raise UnsupportedError("is not supported in STREAMING mode, as in Flink", who="TRUNCATE TABLE")
        truncate_rows(found.table, plan_options(execution.session))
    return answers.ok()
