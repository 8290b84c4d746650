"""ResolvedSchema: the columns, the time attribute and the key of a table or a result, for programs to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.common.logical_types.temporal import regular
from firesteel.table.types import DataType, logical_type

__all__ = [
    "Column",
    "ComputedColumn",
    "Constraint",
    "MetadataColumn",
    "PhysicalColumn",
    "ResolvedExpression",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]


@dataclass(frozen=True)
class ResolvedExpression:
    """An expression of a declaration: its text, and the type of its values if that is known."""

    text: str
    type: LogicalType | None = None

    def as_summary_string(self) -> str:
        """Return the text."""
        return self.text

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Column:
    """A column; `str` of it is how Flink shows it in a schema."""

    name: str
    type: LogicalType
    comment: str | None = None

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column that the connector stores."""
        return PhysicalColumn(name, logical_type(data_type, "Column.physical"))

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        """Return a column that is computed; the expression must have a type."""
        kind = resolved_expression.type
        if kind is None:
            raise ProgramError("requires an expression with a type", who="Column.computed", got=name)
        return ComputedColumn(name, kind, None, resolved_expression.text)

    @staticmethod
    def metadata(
        name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool
    ) -> MetadataColumn:
        """Return a column of what the connector knows about a record."""
        kind = logical_type(data_type, "Column.metadata")
        return MetadataColumn(name, kind, None, metadata_key, is_virtual)

    def with_comment(self, comment: str | None) -> Self:
        """Return the column with another comment, None: with none."""
        return replace(self, comment=comment)

    def copy(self, new_type: DataType) -> Self:
        """Return the column with another type."""
        return replace(self, type=logical_type(new_type, "Column.copy"))

    def rename(self, new_name: str) -> Self:
        """Return the column with another name."""
        return replace(self, name=new_name)

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def get_data_type(self) -> DataType:
        """Return the type."""
        return DataType(self.type)

    def get_comment(self) -> str | None:
        """Return the comment, None if there is none."""
        return self.comment

    def is_physical(self) -> bool:
        """Return whether the connector stores the column."""
        return True

    def is_persisted(self) -> bool:
        """Return whether INSERT writes the column."""
        return True

    def explain_extras(self) -> str | None:
        """Return how the column comes about, None for one that the connector stores."""
        return None

    def as_summary_string(self) -> str:
        """Return name, type, how the column comes about, and the comment."""
        extras = self.explain_extras()
        parts = [escaped_identifier(self.name), str(self.type), *([extras] if extras else [])]
        if self.comment is not None:
            parts.append(f"COMMENT {escaped_text(self.comment)}")
        return " ".join(parts)

    def __str__(self) -> str:
        return self.as_summary_string()


@dataclass(frozen=True)
class PhysicalColumn(Column):
    """A column that the connector stores."""

    def copy(self, new_data_type: DataType) -> Self:
        """Return the column with another type."""
        return super().copy(new_data_type)


@dataclass(frozen=True)
class ComputedColumn(Column):
    """A column that is computed when the table is read; `expression` is its text."""

    expression: str = ""

    def copy(self, new_data_type: DataType) -> Self:
        """Return the column with another type."""
        return super().copy(new_data_type)

    def get_expression(self) -> ResolvedExpression:
        """Return the expression."""
        return ResolvedExpression(self.expression, self.type)

    def is_physical(self) -> bool:
        """Return False."""
        return False

    def is_persisted(self) -> bool:
        """Return False."""
        return False

    def explain_extras(self) -> str | None:
        """Return the expression after AS."""
        return f"AS {self.expression}"


@dataclass(frozen=True)
class MetadataColumn(Column):
    """A column of what the connector knows about a record."""

    key: str | None = None
    virtual: bool = False

    def copy(self, new_data_type: DataType) -> Self:
        """Return the column with another type."""
        return super().copy(new_data_type)

    def is_virtual(self) -> bool:
        """Return whether the column is not written."""
        return self.virtual

    def get_metadata_key(self) -> str | None:
        """Return the connector's name for it, None if it is that of the column."""
        return self.key

    def is_physical(self) -> bool:
        """Return False."""
        return False

    def is_persisted(self) -> bool:
        """Return whether the connector takes the column."""
        return not self.virtual

    def explain_extras(self) -> str | None:
        """Return METADATA, the connector's name for it, and VIRTUAL."""
        source = f" FROM {escaped_text(self.key)}" if self.key else ""
        return f"METADATA{source}{' VIRTUAL' if self.virtual else ''}"


@dataclass(frozen=True)
class WatermarkSpec:
    """The time attribute of a table, and the expression of its watermark."""

    rowtime_attribute: str
    watermark_expression: ResolvedExpression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: ResolvedExpression) -> WatermarkSpec:
        """Return the watermark of a column."""
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        """Return the column."""
        return self.rowtime_attribute

    def get_watermark_expression(self) -> ResolvedExpression:
        """Return the expression."""
        return self.watermark_expression

    def as_summary_string(self) -> str:
        """Return the watermark as a schema shows it."""
        kind = self.watermark_expression.type
        of_type = "" if kind is None else f": {kind}"
        column = escaped_identifier(self.rowtime_attribute)
        return f"WATERMARK FOR {column}{of_type} AS {self.watermark_expression}"

    def __str__(self) -> str:
        return self.as_summary_string()


@dataclass(frozen=True)
class Constraint:
    """A constraint of a table; nothing enforces it."""

    name: str

    class ConstraintType(Enum):
        """The kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def is_enforced(self) -> bool:
        """Return False: tables belong to others."""
        return False

    def get_type(self) -> Constraint.ConstraintType:
        """Return the kind of the constraint."""
        return Constraint.ConstraintType.PRIMARY_KEY

    def as_summary_string(self) -> str:
        """Return the constraint as a schema shows it."""
        return self.name


@dataclass(frozen=True)
class UniqueConstraint(Constraint):
    """A primary key.

    >>> UniqueConstraint.primary_key("pk", ["a", "b"]).as_summary_string()
    'CONSTRAINT `pk` PRIMARY KEY (`a`, `b`) NOT ENFORCED'
    """

    columns: tuple[str, ...] = ()

    @staticmethod
    def primary_key(name: str, columns: Sequence[str]) -> UniqueConstraint:
        """Return the primary key of these columns."""
        return UniqueConstraint(name, tuple(columns))

    def get_columns(self) -> list[str]:
        """Return the columns."""
        return list(self.columns)

    def get_type_string(self) -> str:
        """Return PRIMARY KEY."""
        return "PRIMARY KEY"

    def as_summary_string(self) -> str:
        """Return the constraint as a schema shows it."""
        return key_text(self.name, self.columns)


@dataclass(frozen=True)
class ResolvedSchema:
    """Columns, watermark (its column and text) and primary key.

    >>> from firesteel.common.logical_types import IntType
    >>> print(ResolvedSchema((PhysicalColumn("a", IntType()),)))
    (
      `a` INT
    )
    """

    columns: tuple[Column, ...]
    watermark: tuple[str, str] | None = None
    primary_key: tuple[str, ...] | None = None
    key_name: str | None = None

    @staticmethod
    def of(columns: Sequence[Column]) -> ResolvedSchema:
        """Return the schema of these columns."""
        return ResolvedSchema(tuple(columns))

    @staticmethod
    def physical(column_names: Sequence[str], column_data_types: Sequence[DataType]) -> ResolvedSchema:
        """Return the schema of columns that the connector stores."""
        pairs = zip(column_names, column_data_types, strict=True)
        return ResolvedSchema(tuple(Column.physical(name, kind) for name, kind in pairs))

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return the watermark, as a list of one, or none."""
        if self.watermark is None:
            return []
        column = self.get_column(self.watermark[0])
        kind = None if column is None else regular(column.type)
        return [WatermarkSpec(self.watermark[0], ResolvedExpression(self.watermark[1], kind))]

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key, None if there is none."""
        if self.primary_key is None:
            return None
        return UniqueConstraint(self.key_name or "PK_" + "_".join(self.primary_key), self.primary_key)

    def to_source_row_data_type(self) -> DataType:
        """Return the type of rows with all columns."""
        return _row_of(self.columns)

    def to_physical_row_data_type(self) -> DataType:
        """Return the type of rows with the columns that the connector stores."""
        return _row_of(tuple(column for column in self.columns if column.is_physical()))

    def to_sink_row_data_type(self) -> DataType:
        """Return the type of rows with the columns that INSERT writes."""
        return _row_of(tuple(column for column in self.columns if column.is_persisted()))

    def get_column_count(self) -> int:
        """Return the number of columns."""
        return len(self.columns)

    def get_columns(self) -> list[Column]:
        """Return the columns."""
        return list(self.columns)

    def get_column_names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    def get_column_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [column.get_data_type() for column in self.columns]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        """Return a column by its place or its name, None if there is none."""
        if isinstance(column_index_or_name, int):
            inside = 0 <= column_index_or_name < len(self.columns)
            return self.columns[column_index_or_name] if inside else None
        return next((column for column in self.columns if column.name == column_index_or_name), None)

    def get_primary_key_indexes(self) -> list[int]:
        """Return the places of the columns of the primary key."""
        names = self.get_column_names()
        return [names.index(name) for name in self.primary_key or ()]

    def __str__(self) -> str:
        parts = [str(column) for column in self.columns]
        parts += map(str, self.get_watermark_specs())
        if self.primary_key is not None:
            parts.append(key_text(self.key_name, self.primary_key))
        lines = ",\n  ".join(parts)
        return f"(\n  {lines}\n)"


def _row_of(columns: Sequence[Column]) -> DataType:
    fields = tuple(Field(column.name, column.type) for column in columns)
    return DataType(RowType(fields, nullable=False))


def key_text(name: str | None, columns: Sequence[str]) -> str:
    """Return a primary key as Flink writes it; it has a name even if nobody gave one.

    >>> key_text(None, ["a", "b"])
    'CONSTRAINT `PK_a_b` PRIMARY KEY (`a`, `b`) NOT ENFORCED'
    """
    listed = ", ".join(map(escaped_identifier, columns))
    constraint = escaped_identifier(name or "PK_" + "_".join(columns))
    return f"CONSTRAINT {constraint} PRIMARY KEY ({listed}) NOT ENFORCED"


def schema_of_row(row: RowType) -> ResolvedSchema:
    """Return the schema of a result."""
    return ResolvedSchema(tuple(PhysicalColumn(field.name, field.type) for field in row.fields))
