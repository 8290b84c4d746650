"""Schema: the columns of a table that a program declares (Flink: org.apache.flink.table.api.Schema)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.expressing.sql_text import sql_text
from firesteel.table.expression import Expression
from firesteel.table.resolved_schema import ResolvedSchema, key_text
from firesteel.table.types import DataType, logical_type

__all__ = ["Schema"]


@dataclass(frozen=True)
class Schema:
    """Columns, a watermark and a primary key, as the elements of a CREATE TABLE statement.

    >>> schema = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build()
    >>> print(schema)
    (
      `a` INT,
      `b` AS a + 1
    )
    """

    elements: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    physical: tuple[tuple[str, LogicalType], ...] = ()
    """The columns that are stored, with their types."""

    columns: tuple[str, ...] = ()
    """The names of all columns, in their order."""

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder without columns."""
        return Schema.Builder()

    def __str__(self) -> str:
        lines = ",\n  ".join((*self.elements, *self.keys))
        return f"(\n  {lines}\n)"

    class Builder:
        """Collects columns in their order."""

        def __init__(self) -> None:
            self._schema = Schema()

        def _with(self, element: str, *columns: str) -> Schema.Builder:
            schema = self._schema
            self._schema = replace(
                schema, elements=(*schema.elements, element), columns=(*schema.columns, *columns)
            )
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Schema.Builder:
            """Add a column that the connector stores."""
            kind = logical_type(data_type, call_site("column"))
            physical = (*self._schema.physical, (column_name, kind))
            self._schema = replace(self._schema, physical=physical)
            return self._with(
                f"{escaped_identifier(column_name)} {kind.as_serializable_string()}", column_name
            )

        def with_comment(self, comment: str | None) -> Schema.Builder:
            """Give the last column a comment."""
            *others, last = self._schema.elements
            if comment is not None:
                self._schema = replace(
                    self._schema, elements=(*others, f"{last} COMMENT {escaped_text(comment)}")
                )
            return self

        def column_by_expression(self, column_name: str, expr: str | Expression[Any]) -> Schema.Builder:
            """Add a column that is computed of others, by an expression: SQL as text, or one of the Table API."""
            text = _text(expr, "column_by_expression")
            return self._with(f"{escaped_identifier(column_name)} AS {text}", column_name)

        def column_by_metadata(
            self,
            column_name: str,
            data_type: str | DataType,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            """Add a column of what the connector knows about a record."""
            kind = logical_type(data_type, call_site("column_by_metadata")).as_serializable_string()
            source = f" FROM {escaped_text(metadata_key)}" if metadata_key else ""
            virtual = " VIRTUAL" if is_virtual else ""
            text = f"{escaped_identifier(column_name)} {kind} METADATA{source}{virtual}"
            return self._with(text, column_name)

        def watermark(self, column_name: str, watermark_expr: str | Expression[Any]) -> Schema.Builder:
            """Make a column the event time, with watermarks by an expression, as for `column_by_expression`."""
            expression = _text(watermark_expr, "watermark")
            return self._with(f"WATERMARK FOR {escaped_identifier(column_name)} AS {expression}")

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Declare a primary key, which is not enforced."""
            listed = ", ".join(map(escaped_identifier, column_names))
            return self._with_key(f"PRIMARY KEY ({listed}) NOT ENFORCED")

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Declare a primary key with a name."""
            return self._with_key(key_text(constraint_name, column_names))

        def _with_key(self, key: str) -> Schema.Builder:
            self._schema = replace(self._schema, keys=(*self._schema.keys, key))
            return self

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Add everything of another schema."""
            mine, other = self._schema, unresolved_schema
            self._schema = Schema(
                mine.elements + other.elements,
                mine.keys + other.keys,
                mine.physical + other.physical,
                mine.columns + other.columns,
            )
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Schema.Builder:
            """Add the columns of a table."""
            for column in resolved_schema.columns:
                self.column(column.name, column.get_data_type())
            return self

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            """Add a column for each field of a row."""
            row = logical_type(data_type, call_site("from_row_data_type"))
            if not isinstance(row, RowType):
                raise ProgramError("requires a row type", who=call_site("from_row_data_type"), got=str(row))
            for field in row.fields:
                self.column(field.name, DataType(field.type))
            return self

        def from_fields(
            self, field_names: Sequence[str], field_data_types: Sequence[str | DataType]
        ) -> Schema.Builder:
            """Add columns by their names and types."""
            for name, data_type in zip(field_names, field_data_types, strict=True):
                self.column(name, data_type)
            return self

        def build(self) -> Schema:
            """Return the schema."""
            return self._schema


def physical_row(schema: Schema) -> RowType:
    """Return the type of what is stored."""
    return RowType(tuple(Field(name, kind) for name, kind in schema.physical), nullable=False)


def _text(expression: object, method: str) -> str:
    if isinstance(expression, str):
        return expression
    if isinstance(expression, Expression):
        return sql_text(expression._tree, call_site(method))
    raise ProgramError(
        "requires an expression, or one of SQL as text", who=call_site(method), got=type(expression).__name__
    )
