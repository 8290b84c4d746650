"""All catalogs of a session, the ones in use, and temporary objects, which hide permanent ones of the same name.

Contract: names are as written: upper and lower case differ. Errors are ProgramErrors without a place: whoever executes
a statement adds where in the text the name stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.suggestions import did_you_mean
from firesteel.sql.binding.catalog import PlannedView, View
from firesteel.table.catalog.functions import FunctionCatalog
from firesteel.table.catalog.memory import Catalog, Database
from firesteel.table.catalog.objects import CatalogObject

BUILT_IN_CATALOG: Final = "default_catalog"
BUILT_IN_DATABASE: Final = "default_database"

Kept = TypeVar("Kept", Catalog, Database)


class CatalogManager:
    """Finds and keeps the objects of catalogs.

    >>> manager = CatalogManager()
    >>> str(manager.qualified(("t",)))
    '`default_catalog`.`default_database`.`t`'
    """

    def __init__(self, catalog: str = BUILT_IN_CATALOG, database: str = BUILT_IN_DATABASE) -> None:
        self.catalogs: dict[str, Catalog] = {catalog: Catalog(database)}
        self.temporary: dict[ObjectIdentifier, CatalogObject] = {}
        self.current_catalog = catalog
        self.current_database = database
        self.functions = FunctionCatalog(self.database)

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

    def catalog(self, name: str) -> Catalog:
        """Return a catalog; raises ProgramError if there is none."""
        return _found(self.catalogs, name, "catalog")

    def database(self, catalog: str, name: str) -> Database:
        """Return a database; raises ProgramError if there is none."""
        return _found(self.catalog(catalog).databases, name, "database")

    def create_catalog(self, name: str, catalog: Catalog, *, if_not_exists: bool = False) -> None:
        """Add a catalog."""
        if name not in self.catalogs:
            self.catalogs[name] = catalog
        elif not if_not_exists:
            raise _exists("catalog", name)

    def drop_catalog(self, name: str, *, if_exists: bool = False) -> None:
        """Remove a catalog with all that is in it; the one in use cannot be removed."""
        if name == self.current_catalog:
            raise ProgramError("cannot drop the catalog that is in use", got=name, hint="USE CATALOG another")
        if name in self.catalogs or not if_exists:
            self.catalog(name)
            del self.catalogs[name]
            self._forget(lambda identifier: identifier.catalog == name)

    def use_catalog(self, name: str) -> None:
        """Make a catalog the current one, and its default database the current one."""
        self.current_database = self.catalog(name).default_database
        self.current_catalog = name

    def use_database(self, catalog: str, name: str) -> None:
        """Make a database the current one, and its catalog too."""
        self.database(catalog, name)
        self.current_catalog, self.current_database = catalog, name

    def create_database(
        self, catalog: str, name: str, database: Database, *, if_not_exists: bool = False
    ) -> None:
        """Add a database."""
        databases = self.catalog(catalog).databases
        if name not in databases:
            databases[name] = database
        elif not if_not_exists:
            raise _exists("database", f"{catalog}.{name}")

    def drop_database(
        self, catalog: str, name: str, *, if_exists: bool = False, cascade: bool = False
    ) -> None:
        """Remove a database; one with tables only with `cascade`, the one in use never."""
        databases = self.catalog(catalog).databases
        if name not in databases and if_exists:
            return
        database = self.database(catalog, name)
        if (catalog, name) == (self.current_catalog, self.current_database):
            raise ProgramError("cannot drop the database that is in use", got=name, hint="USE another")
        if (database.objects or database.functions) and not cascade:
            raise ProgramError(
                "requires a database without tables and functions",
                got=f"{catalog}.{name}",
                hint="add CASCADE",
            )
        del databases[name]
        self._forget(lambda identifier: (identifier.catalog, identifier.database) == (catalog, name))

    def _forget(self, goes: Callable[[ObjectIdentifier], bool]) -> None:
        self.temporary = {name: found for name, found in self.temporary.items() if not goes(name)}
        self.functions.forget(goes)

    # --- tables and views ---

    def find(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        """Return a table or view, a temporary one first; None if there is none."""
        return self.temporary.get(identifier) or self.permanent(identifier)

    def permanent(self, identifier: ObjectIdentifier) -> CatalogObject | None:
        """Return a table or view that is not temporary; None if there is none."""
        catalog = self.catalogs.get(identifier.catalog)
        database = None if catalog is None else catalog.databases.get(identifier.database)
        return None if database is None else database.objects.get(identifier.name)

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
            raise _exists("temporary table or view" if temporary else "table or view", _shown(identifier))
        return False

    def _put(self, found: CatalogObject, temporary: bool) -> None:
        identifier = found.identifier
        if temporary:
            self.temporary[identifier] = found
        else:
            self.database(identifier.catalog, identifier.database).objects[identifier.name] = found

    def _remove(self, identifier: ObjectIdentifier, temporary: bool) -> None:
        if temporary:
            del self.temporary[identifier]
        else:
            del self.database(identifier.catalog, identifier.database).objects[identifier.name]

    def drop(
        self,
        identifier: ObjectIdentifier,
        *,
        view: bool,
        temporary: bool = False,
        if_exists: bool = False,
    ) -> bool:
        """Remove a table or a view and return whether there was one.

        Raises ProgramError if there is none (unless `if_exists`), if it is of the other kind, or if a temporary one
        hides the one to be dropped.
        """
        what = _what(view)
        hiding = self.temporary.get(identifier)
        if not temporary and hiding is not None and _is_view(hiding) is view:
            raise ProgramError(
                f"cannot drop a {what} while a temporary one of the same name hides it",
                got=_shown(identifier),
                hint=f"DROP TEMPORARY {what.upper()} first",
            )
        found = hiding if temporary else self.permanent(identifier)
        if found is not None and _is_view(found) is view:
            self._remove(identifier, temporary)
            return True
        if if_exists:
            return False
        if found is not None:
            other = _what(not view)
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
            raise _exists("table or view", _shown(found.identifier))
        self._remove(identifier, temporary=False)
        self._put(found, temporary=False)

    def names(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of all tables and views of a database, temporary ones too."""
        return sorted({found.identifier.name for found in self._all(catalog, database)})

    def views(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the views of a database, temporary ones too."""
        found = self._all(catalog, database)
        return sorted({view.identifier.name for view in found if _is_view(view)})

    def _all(self, catalog: str, database: str) -> Iterable[CatalogObject]:
        yield from self.database(catalog, database).objects.values()
        for identifier, found in self.temporary.items():
            if (identifier.catalog, identifier.database) == (catalog, database):
                yield found


def _is_view(found: CatalogObject) -> bool:
    return isinstance(found, View | PlannedView)


def _what(view: bool) -> str:
    return "view" if view else "table"


def _shown(identifier: ObjectIdentifier) -> str:
    return f"{identifier.catalog}.{identifier.database}.{identifier.name}"


def _exists(what: str, name: str) -> ProgramError:
    return ProgramError(
        f"requires a name that no other {what} has", got=name, hint="IF NOT EXISTS leaves the old one"
    )


def _found(known: dict[str, Kept], name: str, what: str) -> Kept:
    if name in known:
        return known[name]
    raise ProgramError(f"requires a {what} that exists", got=name, hint=did_you_mean(name, known))
