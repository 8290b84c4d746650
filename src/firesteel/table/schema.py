"""Schema: the columns of a table that a program declares (Flink: org.apache.flink.table.api.Schema)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.common.logical_types.temporal import regular
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.expressing.sql_text import sql_text
from firesteel.table.expression import Expression
from firesteel.table.resolved_schema import ResolvedSchema, key_text
from firesteel.table.types import DataType, logical_type

__all__ = ["Schema"]


@dataclass(frozen=True)
class Schema:
    """Columns, a watermark and a primary key, as the elements of a CREATE TABLE statement.

    It prints as Flink's, which has brackets around what is SQL until a catalog resolves it.

    >>> from firesteel.table.types import DataTypes
    >>> schema = Schema.new_builder().column("a", DataTypes.STRING()).column_by_expression("b", "a || '!'").build()
    >>> print(schema)
    (
      `a` STRING,
      `b` AS [a || '!']
    )
    """

    elements: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    physical: tuple[tuple[str, LogicalType], ...] = ()
    """The columns that are stored, with their types."""

    columns: tuple[str, ...] = ()
    """The names of all columns, in their order."""

    shown: tuple[str, ...] = field(default=(), compare=False)
    """The elements as they are printed."""

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder without columns."""
        return Schema.Builder()

    def __str__(self) -> str:
        return self._listed(self.shown)

    @property
    def sql(self) -> str:
        """The elements as they stand in CREATE TABLE."""
        return self._listed(self.elements)

    def _listed(self, elements: Sequence[str]) -> str:
        lines = ",\n  ".join((*elements, *self.keys))
        return f"(\n  {lines}\n)"

    class Builder:
        """Collects columns in their order."""

        def __init__(self) -> None:
            self._schema = Schema()

        def _with(self, element: str, shown: str, *columns: str) -> Schema.Builder:
            schema = self._schema
            self._schema = replace(
                schema,
                elements=(*schema.elements, element),
                columns=(*schema.columns, *columns),
                shown=(*schema.shown, shown),
            )
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Schema.Builder:
            """Add a column that the connector stores."""
            kind = logical_type(data_type, call_site("column"))
            physical = (*self._schema.physical, (column_name, kind))
            self._schema = replace(self._schema, physical=physical)
            name = escaped_identifier(column_name)
            shown = f"{name} {_shown_type(data_type, kind)}"
            return self._with(f"{name} {kind.as_serializable_string()}", shown, column_name)

        def with_comment(self, comment: str | None) -> Schema.Builder:
            """Give the last column a comment."""
            if comment is not None:
                *others, last = self._schema.elements
                *shown, last_shown = self._schema.shown
                ending = f" COMMENT {escaped_text(comment)}"
                self._schema = replace(
                    self._schema,
                    elements=(*others, f"{last}{ending}"),
                    shown=(*shown, f"{last_shown}{ending}"),
                )
            return self

        def column_by_expression(self, column_name: str, expr: str | Expression[Any]) -> Schema.Builder:
            """Add a column that is computed of others, by an expression: SQL as text, or one of the Table API."""
            text, name = _text(expr, "column_by_expression"), escaped_identifier(column_name)
            return self._with(f"{name} AS {text}", f"{name} AS {_shown_text(expr)}", column_name)

        def column_by_metadata(
            self,
            column_name: str,
            data_type: str | DataType,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            """Add a column of what the connector knows about a record."""
            kind = logical_type(data_type, call_site("column_by_metadata"))
            name = escaped_identifier(column_name)
            source = f" FROM {escaped_text(metadata_key)}" if metadata_key else ""
            rest = f"METADATA{source}{' VIRTUAL' if is_virtual else ''}"
            shown = f"{name} {_shown_type(data_type, kind)} {rest}"
            return self._with(f"{name} {kind.as_serializable_string()} {rest}", shown, column_name)

        def watermark(self, column_name: str, watermark_expr: str | Expression[Any]) -> Schema.Builder:
            """Make a column the event time, with watermarks by an expression, as for `column_by_expression`."""
            words = f"WATERMARK FOR {escaped_identifier(column_name)} AS"
            return self._with(
                f"{words} {_text(watermark_expr, 'watermark')}", f"{words} {_shown_text(watermark_expr)}"
            )

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Declare a primary key, which is not enforced."""
            return self._with_key(key_text(None, column_names))

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
                mine.shown + other.shown,
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
            for one in row.fields:
                self.column(one.name, DataType(one.type))
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


def schema_of_rows(row: RowType) -> Schema:
    """Return the schema of a table that stores such rows."""
    builder = Schema.new_builder()
    for one in row.fields:
        builder.column(one.name, DataType(regular(one.type)))
    return builder.build()


def physical_row(schema: Schema) -> RowType:
    """Return the type of what is stored."""
    return RowType(tuple(Field(name, kind) for name, kind in schema.physical), nullable=False)


def _shown_type(given: str | DataType, kind: LogicalType) -> str:
    return f"[{given}]" if isinstance(given, str) else str(kind)


def _shown_text(given: str | Expression[Any]) -> str:
    return f"[{given}]" if isinstance(given, str) else str(given._tree)


def _text(expression: object, method: str) -> str:
    if isinstance(expression, str):
        return expression
    if isinstance(expression, Expression):
        return sql_text(expression._tree, call_site(method))
    raise ProgramError(
        "requires an expression, or one of SQL as text", who=call_site(method), got=type(expression).__name__
    )
