"""The catalogs of a session as the binder sees them."""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.common.logical_types import ObjectIdentifier
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.sql.binding.catalog import CatalogObject
from firesteel.table.catalog.manager import CatalogManager
from firesteel.table.catalog.objects import CatalogTable


class BoundCatalog:
    """Answers what names stand for (see `firesteel.sql.binding.catalog.CatalogView`)."""

    def __init__(self, manager: CatalogManager) -> None:
        self._manager = manager

    @property
    def path(self) -> tuple[str, str]:
        """Return the catalog and the database in use."""
        return self._manager.path

    def find(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        """Return what a full name stands for, None if there is nothing."""
        found = self._manager.find(identifier)
        return found.table if isinstance(found, CatalogTable) else found

    def function(self, identifier: ObjectIdentifier) -> UserFunction | None:
        """Return the user's function of a full name, None if there is none."""
        return self._manager.functions.find(identifier)

    def system_function(self, name: str) -> UserFunction | None:
        """Return the user's function that has a name in all databases, None if there is none."""
        return self._manager.functions.find_system(name)

    def names(self, catalog: str, database: str) -> Sequence[str]:
        """Return the names of tables and views in a database, none if there is no such database."""
        databases = self._manager.catalogs[catalog].databases if catalog in self._manager.catalogs else {}
        return self._manager.names(catalog, database) if database in databases else []
