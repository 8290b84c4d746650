"""What a catalog holds: tables and views, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from firesteel.common.logical_types import ObjectIdentifier, RowType
from firesteel.relational.tables import ResolvedTable
from firesteel.sql.binding.catalog import PlannedView, View


@dataclass(frozen=True)
class CatalogTable:
    """A table, and the texts of what it computes, which are shown and never read.

    `computed` has the expression of each computed column by the column's name, `watermark` that of the watermark.
    `key_name` is the name of the primary key.
    """

    table: ResolvedTable
    computed: Mapping[str, str] = field(default_factory=dict)
    watermark: str | None = None
    key_name: str | None = None

    @property
    def identifier(self) -> ObjectIdentifier:
        """Return the table's full name."""
        return self.table.identifier


CatalogView = View | PlannedView
CatalogObject = CatalogTable | View | PlannedView


def row_of(found: CatalogObject) -> RowType:
    """Return the type of the rows of a table or a view."""
    if isinstance(found, CatalogTable):
        return found.table.row
    return found.row if isinstance(found, View) else found.plan.row
