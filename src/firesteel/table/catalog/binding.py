"""The catalogs of a session as the binder sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.functions.predicting import Model
from firesteel.relational.physical.connecting import CONNECTOR
from firesteel.relational.tables import ResolvedTable
from firesteel.sql.binding.catalog import CatalogObject
from firesteel.table.catalog.models import as_asked
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.due_partitions import is_date_formatter
from firesteel.table.materialized import MATERIALIZED

if TYPE_CHECKING:
    from firesteel.table.catalog.manager import CatalogManager


def with_rows(found: CatalogTable) -> ResolvedTable:
    """Return a table with the options by which its rows are found: those of a materialised table are where it is kept.

    A materialised table that has a connector is kept there; connectors do not know what schedules refresh.
    """
    table, maintenance = found.table, found.maintenance
    if maintenance is None:
        return table
    options = {key: value for key, value in table.options.items() if not is_date_formatter(key)}
    if options.get(CONNECTOR, MATERIALIZED) != MATERIALIZED:
        return replace(table, options=options)
    return replace(table, options={**options, CONNECTOR: MATERIALIZED, "path": maintenance.directory})


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
        if not isinstance(found, CatalogTable):
            return found
        table, statistics = with_rows(found), self._manager.statistics(found)
        return table if statistics is None else replace(table, statistics=statistics)

    def function(self, identifier: ObjectIdentifier) -> UserFunction | None:
        """Return the user's function of a full name, None if there is none."""
        return self._manager.functions.find(identifier)

    def system_function(self, name: str) -> UserFunction | None:
        """Return the user's function that has a name in all databases, None if there is none."""
        return self._manager.functions.find_system(name)

    def function_names(self, catalog: str, database: str) -> Sequence[str]:
        """Return the names of functions that a query in a database knows, none if there is no such database."""
        return self._manager.functions.names(catalog, database) if self._there(catalog, database) else []

    def model(self, identifier: ObjectIdentifier) -> Model | None:
        """Return the model of a full name, None if there is none."""
        found = self._manager.models.find(identifier)
        return None if found is None else as_asked(identifier, found)

    def model_names(self, catalog: str, database: str) -> Sequence[str]:
        """Return the names of models in a database, none if there is no such database."""
        if not self._there(catalog, database):
            return []
        models = self._manager.models
        return [*models.names(catalog, database), *models.temporary_names(catalog, database)]

    def names(self, catalog: str, database: str) -> Sequence[str]:
        """Return the names of tables and views in a database, none if there is no such database."""
        return self._manager.names(catalog, database) if self._there(catalog, database) else []

    def _there(self, catalog: str, database: str) -> bool:
        manager = self._manager
        return catalog in manager.catalog_names() and manager.catalog(catalog).database_exists(database)


class PermanentObjects(BoundCatalog):
    """What a query can speak of that outlives the session: nothing that is temporary.

    Raises ProgramError for a temporary table, view or function.
    """

    def find(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        """Return what a full name stands for, which is not temporary; None if there is nothing."""
        if identifier in self._manager.temporary:
            raise _temporary("tables or views", str(identifier))
        return super().find(identifier)

    def function(self, identifier: ObjectIdentifier) -> UserFunction | None:
        """Return the user's function of a full name, which is not temporary; None if there is none."""
        if self._manager.functions.is_temporary(identifier):
            raise _temporary("functions", str(identifier))
        return super().function(identifier)

    def model(self, identifier: ObjectIdentifier) -> Model | None:
        """Return the model of a full name, which is not temporary; None if there is none."""
        if self._manager.models.is_temporary(identifier):
            raise _temporary("models", str(identifier))
        return super().model(identifier)

    def system_function(self, name: str) -> UserFunction | None:
        """Return None, for such functions are all temporary."""
        if super().system_function(name) is not None:
            raise _temporary("functions", name)
        return None


def _temporary(what: str, name: str) -> ProgramError:
    return ProgramError(
        f"cannot speak of temporary {what}", who="the query of a materialized table", got=name
    )
