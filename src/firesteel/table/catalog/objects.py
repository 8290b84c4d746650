"""What a catalog holds: tables and views, as data."""

from __future__ import annotations

from firesteel.common.logical_types import RowType
from firesteel.sql.binding.catalog import PlannedView, View
from firesteel.sql.binding.table_elements import DeclaredTable

CatalogTable = DeclaredTable
CatalogView = View | PlannedView
CatalogObject = CatalogTable | View | PlannedView


def row_of(found: CatalogObject) -> RowType:
    """Return the type of the rows of a table or a view."""
    if isinstance(found, CatalogTable):
        return found.table.row
    return found.row if isinstance(found, View) else found.plan.row
