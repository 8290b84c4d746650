"""ResolvedSchema: the columns, the time attribute and the key of a table or a result, for programs to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from firesteel.common.logical_types import LogicalType, RowType
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.common.logical_types.temporal import AnyTimestampType, TimestampKind
from firesteel.relational.tables import ComputedColumn as Computed
from firesteel.relational.tables import MetadataColumn as Metadata
from firesteel.relational.tables import TableColumn
from firesteel.table.catalog.objects import CatalogObject, CatalogTable, row_of
from firesteel.table.types import DataType

__all__ = ["Column", "ComputedColumn", "MetadataColumn", "PhysicalColumn", "ResolvedSchema"]


@dataclass(frozen=True)
class Column:
    """A column; `str` of it is how Flink shows it in a schema."""

    name: str
    type: LogicalType
    comment: str | None = None

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


@dataclass(frozen=True)
class ComputedColumn(Column):
    """A column that is computed when the table is read; `expression` is its text."""

    expression: str = ""

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
        if self.watermark is not None:
            column = self.get_column(self.watermark[0])
            of_type = "" if column is None else f": {column.type}"
            parts.append(
                f"WATERMARK FOR {escaped_identifier(self.watermark[0])}{of_type} AS {self.watermark[1]}"
            )
        if self.primary_key is not None:
            parts.append(key_text(self.key_name, self.primary_key))
        lines = ",\n  ".join(parts)
        return f"(\n  {lines}\n)"


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


def schema_of(found: CatalogObject) -> ResolvedSchema:
    """Return the schema of a table or a view."""
    if not isinstance(found, CatalogTable):
        return schema_of_row(row_of(found))
    table = found.table
    spec = table.watermark
    watermark = None
    if spec is not None:
        watermark = (spec.column, "" if found.watermark is None else found.watermark.shown)
    columns = tuple(_column(column, found) for column in table.columns)
    return ResolvedSchema(columns, watermark, table.primary_key, found.key_name)


def _type(column: TableColumn, found: CatalogTable) -> LogicalType:
    """Return the type of a column, marked as the time attribute if it is that."""
    spec = found.table.watermark
    if spec is not None and spec.column == column.name and isinstance(column.type, AnyTimestampType):
        return replace(column.type, kind=TimestampKind.ROWTIME)
    return column.type


def _column(column: TableColumn, found: CatalogTable) -> Column:
    data_type = _type(column, found)
    match column:
        case Computed(name, _, _, comment):
            return ComputedColumn(name, data_type, comment, found.computed[name].shown)
        case Metadata(name, _, key, virtual, comment):
            return MetadataColumn(name, data_type, comment, None if key == name else key, virtual)
        case _:
            return PhysicalColumn(column.name, data_type, column.comment)
