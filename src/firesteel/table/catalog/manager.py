"""All catalogs of a session, the ones in use, and temporary objects, which hide permanent ones of the same name.

Contract: names are as written: upper and lower case differ. Errors are ProgramErrors without a place: whoever executes
a statement adds where in the text the name stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.suggestions import did_you_mean
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.sql.binding.catalog import PlannedView, View
from firesteel.table.catalog.binding import BoundCatalog
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.declared import definition_of, object_of
from firesteel.table.catalog.definitions import CatalogDatabase, CatalogDescriptor
from firesteel.table.catalog.functions import FunctionCatalog
from firesteel.table.catalog.kinds import catalog_of
from firesteel.table.catalog.memory import GenericInMemoryCatalog
from firesteel.table.catalog.memory_models import exists
from firesteel.table.catalog.models import ModelCatalog
from firesteel.table.catalog.objects import CatalogObject, CatalogTable
from firesteel.table.catalog.paths import ObjectPath
from firesteel.table.catalog.statistics import for_planner
from firesteel.table.catalog.stores import CatalogStore, MemoryCatalogStore

BUILT_IN_CATALOG: Final = "default_catalog"
BUILT_IN_DATABASE: Final = "default_database"


class CatalogManager:
    """Finds and keeps the objects of catalogs.

    `store` has the catalogs that can be made when they are asked for.

    >>> manager = CatalogManager()
    >>> str(manager.qualified(("t",)))
    '`default_catalog`.`default_database`.`t`'
    """

    def __init__(
        self,
        catalog: str = BUILT_IN_CATALOG,
        database: str = BUILT_IN_DATABASE,
        store: CatalogStore | None = None,
    ) -> None:
        self._catalogs: dict[str, Catalog] = {catalog: GenericInMemoryCatalog(catalog, database)}
        self._store = MemoryCatalogStore() if store is None else store
        self.temporary: dict[ObjectIdentifier, CatalogObject] = {}
        self.current_catalog = catalog
        self.current_database = database
        self.functions = FunctionCatalog(self.catalog)
        self.models = ModelCatalog(self.catalog)

    @property
    def path(self) -> tuple[str, str]:
        """Return the catalog and the database in use."""
        return self.current_catalog, self.current_database

    def qualified(self, parts: tuple[str, ...]) -> ObjectIdentifier:
        """Return the full name that one to three parts mean; raises ProgramError for more."""
        if not 1 <= len(parts) <= 3:
            raise ProgramError("requires at most a catalog, a database and a name", got=".".join(parts))
        return ObjectIdentifier(*(self.current_catalog, self.current_database)[: 3 - len(parts)], *parts)

    # --- catalogs and databases ---

    def catalog_names(self) -> list[str]:
        """Return the sorted names of all catalogs."""
        return sorted({*self._catalogs, *self._store.names()})

    def catalog(self, name: str) -> Catalog:
        """Return a catalog, which is made now if it is in the store; raises ProgramError if there is none."""
        found = self._find_catalog(name)
        if found is None:
            raise ProgramError(
                "requires a catalog that exists", got=name, hint=did_you_mean(name, self.catalog_names())
            )
        return found

    def _find_catalog(self, name: str) -> Catalog | None:
        if name not in self._catalogs:
            descriptor = self._store.get(name)
            if descriptor is None:
                return None
            self._catalogs[name] = catalog_of(descriptor)
        return self._catalogs[name]

    def descriptor(self, name: str) -> CatalogDescriptor:
        """Return how a catalog is made: without options if a program has registered it. Raises as `catalog`."""
        self.catalog(name)
        return self._store.get(name) or CatalogDescriptor(name, {})

    def database(self, catalog: str, name: str) -> CatalogDatabase:
        """Return a database; raises ProgramError if there is none."""
        found = self.catalog(catalog)
        if not found.database_exists(name):
            hint = did_you_mean(name, found.list_databases())
            raise ProgramError("requires a database that exists", got=name, hint=hint)
        return found.get_database(name)

    def create_catalog(self, descriptor: CatalogDescriptor, *, if_not_exists: bool = False) -> None:
        """Make a catalog, and keep how it is made. Raises ProgramError for one that is there, or cannot be made."""
        if self._is_new(descriptor.catalog_name, if_not_exists):
            self._catalogs[descriptor.catalog_name] = catalog_of(descriptor)
            self._store.put(descriptor)

    def register_catalog(self, name: str, catalog: Catalog) -> None:
        """Add a catalog that a program has made, for this session."""
        if self._is_new(name, False):
            self._catalogs[name] = catalog

    def _is_new(self, name: str, if_not_exists: bool) -> bool:
        there = name in self._catalogs or self._store.get(name) is not None
        if there and not if_not_exists:
            raise exists("catalog", name)
        return not there

    def alter_catalog(self, name: str, options: Mapping[str, str], comment: str | None) -> None:
        """Let a catalog have other options; one in memory keeps its databases, of others a new one is made."""
        found, descriptor = self.catalog(name), CatalogDescriptor(name, dict(options), comment)
        if options != self.descriptor(name).options:
            made = catalog_of(descriptor)
            if type(found) is GenericInMemoryCatalog and type(made) is GenericInMemoryCatalog:
                found.use_default(made.get_default_database())
            else:
                self._catalogs[name] = made
        self._store.put(descriptor)

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """Remove a catalog with all that is in it; the one in use cannot be removed."""
        if name == self.current_catalog:
            raise ProgramError("cannot drop the catalog that is in use", got=name, hint="USE CATALOG another")
        if name in self.catalog_names() or not if_exists:
            if name not in self._catalogs and self._store.get(name) is None:
                self.catalog(name)
            self._catalogs.pop(name, None)
            self._store.remove(name)
            self._forget(lambda identifier: identifier.catalog == name)

    def use_catalog(self, name: str) -> None:
        """Make a catalog the current one, and its default database the current one."""
        self.current_database = self.catalog(name).get_default_database()
        self.current_catalog = name

    def use_database(self, catalog: str, name: str) -> None:
        """Make a database the current one, and its catalog too."""
        self.database(catalog, name)
        self.current_catalog, self.current_database = catalog, name

    def create_database(
        self, catalog: str, name: str, database: CatalogDatabase, *, if_not_exists: bool = False
    ) -> None:
        """Add a database."""
        found = self.catalog(catalog)
        if not found.database_exists(name):
            found.create_database(name, database, False)
        elif not if_not_exists:
            raise exists("database", f"{catalog}.{name}")

    def drop_database(
        self, catalog: str, name: str, *, if_exists: bool = False, cascade: bool = False
    ) -> None:
        """Remove a database; one with tables only with `cascade`, the one in use never."""
        found = self.catalog(catalog)
        if if_exists and not found.database_exists(name):
            return
        self.database(catalog, name)
        if (catalog, name) == (self.current_catalog, self.current_database):
            raise ProgramError("cannot drop the database that is in use", got=name, hint="USE another")
        tables, functions, models = (
            found.list_tables(name),
            found.list_functions(name),
            found.list_models(name),
        )
        if (tables or functions or models) and not cascade:
            raise ProgramError(
                "requires a database without tables, functions and models",
                got=f"{catalog}.{name}",
                hint="add CASCADE",
            )
        for table in tables:
            found.drop_table(ObjectPath(name, table), True)
        for function in functions:
            found.drop_function(ObjectPath(name, function), True)
        for model in models:
            found.drop_model(ObjectPath(name, model), True)
        found.drop_database(name, False)
        self._forget(lambda identifier: (identifier.catalog, identifier.database) == (catalog, name))

    def _forget(self, goes: Callable[[ObjectIdentifier], bool]) -> None:
        self.temporary = {name: found for name, found in self.temporary.items() if not goes(name)}
        self.functions.forget(goes)
        self.models.forget(goes)

    # --- tables and views ---

    def find(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        """Return a table or view, a temporary one first; None if there is none."""
        return self.temporary.get(identifier) or self.permanent(identifier)

    def permanent(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        """Return a table or view that is not temporary; None if there is none.

        Raises SqlError for a definition in a catalog that means nothing.
        """
        catalog, path = self._find_catalog(identifier.catalog), path_of(identifier)
        if catalog is None or not catalog.table_exists(path):
            return None
        return object_of(catalog.get_table(path), identifier, BoundCatalog(self))

    def statistics(self, found: CatalogTable) -> TableStatistics | None:
        """Return what the catalog knows of the rows of a table, None if that is nothing."""
        if found.identifier in self.temporary:
            return None
        catalog, path = self._find_catalog(found.identifier.catalog), path_of(found.identifier)
        if catalog is None or not catalog.table_exists(path):
            return None
        rows = catalog.get_table_statistics(path)
        names = [column.name for column in found.table.read]
        return (
            None
            if rows.get_row_count() < 0
            else for_planner(rows, catalog.get_table_column_statistics(path), names)
        )

    def get(self, identifier: ObjectIdentifier) -> CatalogObject:
        """Return a table or view, a temporary one first. Raises ProgramError with a suggestion if there is none."""
        found = self.find(identifier)
        if found is None:
            raise self.unknown(identifier)
        return found

    def unknown(self, identifier: ObjectIdentifier, what: str = "table or view") -> ProgramError:
        """Return the error that something does not exist."""
        self.database(identifier.catalog, identifier.database)
        known = self.names(identifier.catalog, identifier.database)
        return ProgramError(
            f"requires a {what} that exists",
            got=_shown(identifier),
            hint=did_you_mean(identifier.name, known),
        )

    def add(
        self,
        found: CatalogObject,
        *,
        temporary: bool = False,
        if_not_exists: bool = False,
        replace: bool = False,
    ) -> bool:
        """Keep a table or a view under its name, and return whether it is there now."""
        identifier = found.identifier
        if not temporary:
            self.database(identifier.catalog, identifier.database)
        there = self.temporary.get(identifier) if temporary else self.permanent(identifier)
        if there is None or replace:
            self._put(found, temporary)
            return True
        if not if_not_exists:
            raise exists("temporary table or view" if temporary else "table or view", _shown(identifier))
        return False

    def _put(self, found: CatalogObject, temporary: bool) -> None:
        identifier = found.identifier
        if temporary:
            self.temporary[identifier] = found
            return
        catalog, path = self.catalog(identifier.catalog), path_of(identifier)
        if catalog.table_exists(path):
            catalog.alter_table(path, definition_of(found), False)
        else:
            catalog.create_table(path, definition_of(found), False)

    def _remove(self, identifier: ObjectIdentifier, temporary: bool) -> None:
        if temporary:
            del self.temporary[identifier]
        else:
            self.catalog(identifier.catalog).drop_table(path_of(identifier), False)

    def drop(
        self,
        identifier: ObjectIdentifier,
        *,
        kind: str,
        temporary: bool = False,
        if_exists: bool = False,
    ) -> bool:
        """Remove a table, a view or a materialized table (`kind`), and return whether there was one.

        Raises ProgramError if there is none (unless `if_exists`), if it is of the other kind, or if a temporary one
        hides the one to be dropped.
        """
        what = kind
        hiding = self.temporary.get(identifier)
        if not temporary and hiding is not None and kind_of(hiding) == kind:
            raise ProgramError(
                f"cannot drop a {what} while a temporary one of the same name hides it",
                got=_shown(identifier),
                hint=f"DROP TEMPORARY {what.upper()} first",
            )
        found = hiding if temporary else self.permanent(identifier)
        if found is not None and kind_of(found) == kind:
            self._remove(identifier, temporary)
            return True
        if if_exists:
            return False
        if found is not None:
            other = kind_of(found)
            raise ProgramError(
                f"requires a {what}", got=f"the {other} {_shown(identifier)}", hint=f"DROP {other.upper()}"
            )
        raise self.unknown(identifier, f"temporary {what}" if temporary else what)

    def change(self, identifier: ObjectIdentifier, found: CatalogObject) -> None:
        """Put a permanent table or view in the place of `identifier`."""
        assert found.identifier == identifier
        self._put(found, temporary=False)

    def rename(self, identifier: ObjectIdentifier, found: CatalogObject) -> None:
        """Put a permanent table or view, which has another name, in the place of `identifier`.

        Raises ProgramError if something has this name.
        """
        if self.permanent(found.identifier) is not None:
            raise exists("table or view", _shown(found.identifier))
        catalog = self.catalog(identifier.catalog)
        catalog.rename_table(path_of(identifier), found.identifier.name, False)

    def names(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of all tables and views of a database, temporary ones too."""
        self.database(catalog, database)
        permanent = self.catalog(catalog).list_tables(database)
        return sorted({*permanent, *self._temporary(catalog, database)})

    def views(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the views of a database, temporary ones too."""
        self.database(catalog, database)
        permanent = self.catalog(catalog).list_views(database)
        temporary = self._temporary(catalog, database)
        return sorted({*permanent, *(name for name, found in temporary.items() if _is_view(found))})

    def materialized_tables(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the materialised tables of a database."""
        self.database(catalog, database)
        found = self.catalog(catalog)
        paths = (ObjectPath(database, name) for name in found.list_tables(database))
        return sorted(path.object_name for path in paths if found.get_table(path).maintenance is not None)

    def _temporary(self, catalog: str, database: str) -> dict[str, CatalogObject]:
        return {
            identifier.name: found
            for identifier, found in self.temporary.items()
            if (identifier.catalog, identifier.database) == (catalog, database)
        }


def path_of(identifier: ObjectIdentifier) -> ObjectPath:
    """Return a full name without its catalog."""
    return ObjectPath(identifier.database, identifier.name)


def _is_view(found: CatalogObject) -> bool:
    return isinstance(found, View | PlannedView)


def kind_of(found: CatalogObject) -> str:
    """Return what something is: a view, a table or a materialized table."""
    if _is_view(found):
        return "view"
    return "table" if isinstance(found, CatalogTable) and found.maintenance is None else "materialized table"


def _shown(identifier: ObjectIdentifier) -> str:
    return f"{identifier.catalog}.{identifier.database}.{identifier.name}"
