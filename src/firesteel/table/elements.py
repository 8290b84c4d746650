"""Tables of what a program has in memory: Python values, pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.logical_types import (
    Field,
    LocalZonedTimestampType,
    LogicalType,
    ObjectIdentifier,
    RowType,
)
from firesteel.common.logical_types.arrow import from_arrow_schema, to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.common.zones import java_zone
from firesteel.connectors.tables.values import ValuesSource
from firesteel.functions.columns.connectors import TableSource
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.table.inferring import inferred_row
from firesteel.table.types import DataType

if TYPE_CHECKING:
    import pandas as pd

VALUE = "value"
"""The column of single values, as PyFlink calls it."""


Names = Sequence[str]


def of_elements(
    elements: Iterable[Any],
    schema: DataType | Names | None,
    identifier: ObjectIdentifier,
    zone: str,
    who: str,
) -> ResolvedTable:
    """Return a table of Python values.

    `schema` is the type of a row, the type of a single value, or the names of columns whose types are inferred. Raises
    ProgramError for elements that do not fit.
    """
    given = list(elements)
    try:
        row = _row_type(given, schema)
        single = isinstance(schema, DataType) and not isinstance(schema.logical_type, RowType)
        rows = [(element,) if single else element for element in given]
        column = to_column(rows, row, "row", java_zone(zone, who))
    except (ProgramError, TypeMismatchError) as error:
        said = f"{error.who} {error.requirement}" if error.who else error.requirement
        raise ProgramError(said, who=who, got=error.got, hint=error.hint) from error
    return _table(pa.RecordBatch.from_arrays(column.flatten(), schema=to_arrow_schema(row)), row, identifier)


def _row_type(elements: Sequence[Any], schema: DataType | Names | None) -> RowType:
    if isinstance(schema, DataType):
        kind = schema.logical_type
        return (kind if isinstance(kind, RowType) else RowType.of({VALUE: kind})).copy(nullable=False)
    if schema is not None and (isinstance(schema, str) or not all(isinstance(name, str) for name in schema)):
        raise ProgramError("requires a DataType or a list of names as the schema", got=repr(schema))
    return inferred_row(elements, schema or ())


def of_pandas(
    frame: pd.DataFrame,
    schema: DataType | Names | Sequence[DataType] | None,
    identifier: ObjectIdentifier,
    zone: str,
    who: str,
) -> ResolvedTable:
    """Return a table of a pandas DataFrame.

    `schema` is the type of a row, or names or types of the columns; without it both are those of the frame. Times
    without a zone are TIMESTAMP. Raises ProgramError for what is no frame and for columns that do not fit.
    """
    if not hasattr(frame, "iloc"):
        raise ProgramError("requires a pandas DataFrame", who=who, got=type(frame).__name__)
    try:
        given = pa.RecordBatch.from_pandas(frame, preserve_index=False)
        row = _declared(from_arrow_schema(given.schema), schema)
        wanted = to_arrow_schema(row)
        columns = [
            _as(column, field.type, kind, zone)
            for column, field, kind in zip(given.columns, wanted, row.children, strict=True)
        ]
        return _table(pa.RecordBatch.from_arrays(columns, schema=wanted), row, identifier)
    except (pa.ArrowException, ValueError) as error:
        raise ProgramError("requires columns that fit the schema", who=who, got=str(error)) from error
    except ProgramError as error:
        raise ProgramError(error.requirement, who=who, got=error.got, hint=error.hint) from error


def _declared(given: RowType, schema: DataType | Names | Sequence[DataType] | None) -> RowType:
    """Return the type of the rows: what the schema says, and the frame's where it says nothing."""
    if schema is None:
        return given.copy(nullable=False)
    if isinstance(schema, DataType):
        if not isinstance(schema.logical_type, RowType):
            raise ProgramError("requires the type of a row as the schema", got=str(schema))
        fields = schema.logical_type.fields
    elif isinstance(schema, Sequence) and len(schema) == len(given.fields):
        fields = tuple(map(_field, given.fields, schema))
    else:
        raise ProgramError(
            f"requires a name or a type for each of the {len(given.fields)} columns", got=repr(schema)
        )
    if len(fields) != len(given.fields):
        raise ProgramError(f"requires a schema of {len(given.fields)} columns", got=str(len(fields)))
    return RowType(fields, nullable=False)


def _field(given: Field, declared: str | DataType) -> Field:
    if isinstance(declared, DataType):
        return given._replace(type=declared.logical_type)
    return given._replace(name=declared)


def _as(column: pa.Array, wanted: pa.DataType, kind: LogicalType, zone: str) -> pa.Array:
    """Return a column as one of another type; a time without a zone that is to be a point in time is the session's."""
    if isinstance(kind, LocalZonedTimestampType) and column.type.tz is None:
        column = pc.assume_timezone(column, zone)
    return column.cast(wanted)


def _table(rows: pa.RecordBatch, row: RowType, identifier: ObjectIdentifier) -> ResolvedTable:
    columns = tuple(PhysicalColumn(field.name, field.type) for field in row.fields)
    return ResolvedTable(identifier, columns, source=TableSource(ValuesSource(rows)))
