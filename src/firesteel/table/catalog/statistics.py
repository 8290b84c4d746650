"""What a catalog knows of the rows of a table: ANALYZE TABLE writes it, the planner reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics

__all__ = ["CatalogColumnStatistics", "CatalogTableStatistics"]


@dataclass(frozen=True)
class CatalogTableStatistics:
    """How many rows a table or a partition has, in so many files of so many bytes; -1 or None: not known."""

    row_count: int | None = None
    field_count: int | None = None
    total_size: int | None = None
    raw_data_size: int | None = None
    properties: Mapping[str, str] | None = None

    def get_row_count(self) -> int:
        """Return the number of rows, -1 if it is not known."""
        return -1 if self.row_count is None else self.row_count

    def get_field_count(self) -> int:
        """Return the number of files, -1 if it is not known (the name is PyFlink's)."""
        return -1 if self.field_count is None else self.field_count

    def get_total_size(self) -> int:
        """Return the number of bytes that are stored, -1 if it is not known."""
        return -1 if self.total_size is None else self.total_size

    def get_raw_data_size(self) -> int:
        """Return the number of bytes in memory, -1 if it is not known."""
        return -1 if self.raw_data_size is None else self.raw_data_size

    def get_properties(self) -> dict[str, str]:
        """Return further things that are known."""
        return dict(self.properties or {})

    def copy(self) -> CatalogTableStatistics:
        """Return the same statistics."""
        return replace(self)


@dataclass(frozen=True)
class CatalogColumnStatistics:
    """What is known of the values of columns, by the names of the columns."""

    column_statistics_data: Mapping[str, ColumnStatistics] | None = None
    properties: Mapping[str, str] | None = field(default=None)

    def get_column_statistics_data(self) -> dict[str, ColumnStatistics]:
        """Return what is known, by column."""
        return dict(self.column_statistics_data or {})

    def get_properties(self) -> dict[str, str]:
        """Return further things that are known."""
        return dict(self.properties or {})

    def copy(self) -> CatalogColumnStatistics:
        """Return the same statistics."""
        return replace(self)


def for_planner(
    table: CatalogTableStatistics, columns: CatalogColumnStatistics, names: list[str]
) -> TableStatistics | None:
    """Return what the planner is told of a table with these columns; None if the number of its rows is not known."""
    if table.get_row_count() < 0:
        return None
    known = columns.get_column_statistics_data()
    size = table.get_total_size()
    return TableStatistics(
        table.get_row_count(),
        None if size < 0 else size,
        tuple(known.get(name, ColumnStatistics()) for name in names) if known else (),
    )
