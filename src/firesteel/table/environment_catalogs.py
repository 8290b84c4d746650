"""What a table environment does with catalogs: those that it has, the current one, and what is in it."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.logical_types import ObjectIdentifier
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogDescriptor
from firesteel.table.catalog.manager import CatalogManager
from firesteel.table.session import Session
from firesteel.table.statements.showing import function_names


class Catalogs:
    """The catalogs of a session, and their databases, tables, views and functions."""

    _session: Session

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Make a catalog as its descriptor says, and keep how it is made in the session's catalog store."""
        self._manager.create_catalog(replace(catalog_descriptor, catalog_name=catalog_name))

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Add a catalog, for example one of your own, for this session."""
        self._manager.register_catalog(catalog_name, catalog)

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """Return a catalog, None if there is none of this name."""
        there = catalog_name in self._manager.catalog_names()
        return self._manager.catalog(catalog_name) if there else None

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog the current one."""
        self._manager.use_catalog(catalog_name)

    def use_database(self, database_name: str) -> None:
        """Make a database of the current catalog the current one."""
        self._manager.use_database(self._manager.current_catalog, database_name)

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._manager.current_catalog

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._manager.current_database

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return self._manager.catalog_names()

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        return sorted(self._manager.catalog(self._manager.current_catalog).list_databases())

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views of the current database."""
        return self._manager.names(*self._manager.path)

    def list_views(self) -> list[str]:
        """Return the names of the views of the current database."""
        return self._manager.views(*self._manager.path)

    def list_materialized_tables(self) -> list[str]:
        """Return the names of the materialised tables of the current database."""
        return self._manager.materialized_tables(*self._manager.path)

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables and views of the current database."""
        return sorted(name.name for name in self._manager.temporary if self._is_current(name))

    def list_temporary_views(self) -> list[str]:
        """Return the names of the temporary views of the current database."""
        views = set(self._manager.views(*self._manager.path))
        return [name for name in self.list_temporary_tables() if name in views]

    def list_functions(self) -> list[str]:
        """Return the names of the functions."""
        return function_names(self._session)

    @property
    def _manager(self) -> CatalogManager:
        return self._session.manager

    def _is_current(self, identifier: ObjectIdentifier) -> bool:
        return (identifier.catalog, identifier.database) == self._manager.path
