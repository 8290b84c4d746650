"""The user's functions of a session: of databases, temporary ones, which hide these, and those of all databases.

Contract: upper and lower case of a function's name are the same. Errors are ProgramErrors without a place, as those of
`firesteel.table.catalog.manager`. Source: Flink's FunctionCatalog.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeVar

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.importing import import_module
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.relational.functions import FUNCTIONS
from firesteel.relational.functions.aggregates import AGGREGATES
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogFunction
from firesteel.table.catalog.memory_models import exists
from firesteel.table.catalog.paths import ObjectPath
from firesteel.table.module import LoadedModule, function_of_module
from firesteel.table.udf import UserDefinedFunctionWrapper


@dataclass(frozen=True, eq=False)
class ImportedFunction:
    """A function that a statement names: 'module.name' of what `udf`, `udtf` or `udaf` has made. A query imports it.

    The target may also be the text of a `ModuleFunction`.
    """

    target: str
    name: str = ""

    @cached_property
    def signature(self) -> UserFunction:
        """The function with its types. Raises ConfigurationError if there is none."""
        if self.target.startswith("{"):
            found: object = function_of_module(self.target)
            if isinstance(found, UserDefinedFunctionWrapper):
                return replace(found.signature, name=self.name, imported=self.target)
            raise ConfigurationError("requires a function that its module has", got=self.target)
        module, _, name = self.target.rpartition(".")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigurationError(
                "requires 'module.name' of a function that can be imported",
                got=f"'{self.target}': {error}",
                hint="the module must be on the path of the program and of its workers, e.g. by --py-files",
            ) from error
        if isinstance(found, UserDefinedFunctionWrapper):
            return replace(found.signature, name=self.name, imported=self.target)
        raise ConfigurationError(
            "requires 'module.name' of what udf(...), udtf(...) or udaf(...) has made",
            got=f"'{self.target}', a {type(found).__name__}",
        )


_CORE: Final = "core"
"""The module of the built-in functions."""

K = TypeVar("K")
KnownFunction = UserFunction | ImportedFunction
Catalogs = Callable[[str], Catalog]
"""Finds a catalog. Raises ProgramError if there is none."""


class FunctionCatalog:
    """Keeps functions by their names; `catalog` finds where those that are not temporary are kept."""

    def __init__(self, catalog: Catalogs) -> None:
        self._catalog = catalog
        self._temporary: dict[ObjectIdentifier, KnownFunction] = {}
        self._system: dict[str, KnownFunction] = {}
        self.modules: Callable[[], Sequence[LoadedModule]] = tuple
        """The modules in use, in the order in which functions are looked up."""

    def find(self, identifier: ObjectIdentifier) -> UserFunction | None:
        """Return the function of a full name, a temporary one first; None if there is none."""
        return _signature(self.known(identifier))

    def known(self, identifier: ObjectIdentifier) -> KnownFunction | None:
        """Return what `find` returns, but of one that a statement names only its target, without importing it."""
        return self._temporary.get(_lower(identifier)) or self._permanent(identifier)

    def is_temporary(self, identifier: ObjectIdentifier) -> bool:
        """Return whether there is a temporary function of a full name."""
        return _lower(identifier) in self._temporary

    def is_temporary_system(self, name: str) -> bool:
        """Return whether there is a temporary function of a name in all databases."""
        return name.lower() in self._system

    def find_system(self, name: str) -> UserFunction | None:
        """Return the function that has a name in all databases, or is in a module; None if there is none.

        A built-in function hides those in modules that come after `core`.
        """
        found = self._system.get(name.lower())
        return self._in_modules(name) if found is None else _signature(found)

    def _in_modules(self, name: str) -> UserFunction | None:
        for loaded in self.modules():
            if loaded.name == _CORE and is_built_in(name):
                return None
            found = loaded.module.get_function(name.lower())
            if isinstance(found, UserDefinedFunctionWrapper):
                return replace(found.signature, name=name, imported=loaded.target(name.lower()))
            if found is not None:
                raise ConfigurationError(
                    "requires what udf(...), udtf(...) or udaf(...) has made",
                    who=f"function {name} of the module {loaded.name}",
                    got=type(found).__name__,
                )
        return None

    def add(
        self,
        identifier: ObjectIdentifier,
        function: KnownFunction,
        *,
        temporary: bool = False,
        if_not_exists: bool = False,
    ) -> None:
        """Keep a function. Raises ProgramError if there is one of this name, unless `if_not_exists`."""
        key, function = _lower(identifier), _named(function, identifier.name)
        if temporary:
            _keep(self._temporary, key, function, if_not_exists)
        else:
            catalog, path = self._catalog(key.catalog), ObjectPath(key.database, key.name)
            catalog.get_database(key.database)
            if not catalog.function_exists(path):
                catalog.create_function(path, _stored(function), False)
            elif not if_not_exists:
                raise exists("function", str(key))

    def add_system(self, name: str, function: KnownFunction, *, if_not_exists: bool = False) -> None:
        """Keep a function for all databases, for this session. Raises ProgramError as `add`."""
        _keep(self._system, name.lower(), _named(function, name), if_not_exists)

    def change(self, identifier: ObjectIdentifier, function: KnownFunction) -> bool:
        """Replace a function that is not temporary, and return whether there was one."""
        if self._permanent(identifier) is None:
            return False
        path = ObjectPath(identifier.database, identifier.name.lower())
        named = _named(function, identifier.name)
        self._catalog(identifier.catalog).alter_function(path, _stored(named), False)
        return True

    def drop(self, identifier: ObjectIdentifier, *, temporary: bool = False) -> bool:
        """Remove a function, and return whether there was one.

        Raises ProgramError if a temporary one hides the one to be removed.
        """
        key = _lower(identifier)
        if temporary:
            return self._temporary.pop(key, None) is not None
        if key in self._temporary:
            raise ProgramError(
                "cannot drop a function while a temporary one of the same name hides it",
                got=identifier.name,
                hint="DROP TEMPORARY FUNCTION first",
            )
        if self._permanent(identifier) is None:
            return False
        self._catalog(key.catalog).drop_function(ObjectPath(key.database, key.name), False)
        return True

    def drop_system(self, name: str) -> bool:
        """Remove a function of all databases, and return whether there was one."""
        return self._system.pop(name.lower(), None) is not None

    def forget(self, goes: Callable[[ObjectIdentifier], bool]) -> None:
        """Remove temporary functions."""
        self._temporary = {name: one for name, one in self._temporary.items() if not goes(name)}

    def names(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of all functions that a query in a database knows."""
        temporary = (
            name.name for name in self._temporary if (name.catalog, name.database) == (catalog, database)
        )
        modules = (one for loaded in self.modules() for one in loaded.module.list_functions())
        return sorted({*self._system, *modules, *temporary, *self._catalog(catalog).list_functions(database)})

    def _permanent(self, identifier: ObjectIdentifier) -> KnownFunction | None:
        path = ObjectPath(identifier.database, identifier.name.lower())
        try:
            catalog = self._catalog(identifier.catalog)
        except ProgramError:  # no function can be where there is no catalog
            return None
        if not catalog.database_exists(path.database_name) or not catalog.function_exists(path):
            return None
        found = catalog.get_function(path)
        return found.function or ImportedFunction(found.class_name, identifier.name)


def is_built_in(name: str) -> bool:
    """Return whether there is a built-in function of a name."""
    return name.upper() in FUNCTIONS or name.upper() in AGGREGATES


def _lower(identifier: ObjectIdentifier) -> ObjectIdentifier:
    return replace(identifier, name=identifier.name.lower())


def _named(function: KnownFunction, name: str) -> KnownFunction:
    """Return a function that plans and errors call by the name that it is found by."""
    return replace(function, name=name)


def _stored(function: KnownFunction) -> CatalogFunction:
    """Return a function as a catalog has it; one that cannot be imported is kept by a catalog in memory alone."""
    target = function.target if isinstance(function, ImportedFunction) else function.name
    return CatalogFunction(target, function=function)


def _signature(function: KnownFunction | None) -> UserFunction | None:
    return function.signature if isinstance(function, ImportedFunction) else function


def _keep(known: dict[K, KnownFunction], key: K, function: KnownFunction, if_not_exists: bool) -> None:
    if key not in known:
        known[key] = function
    elif not if_not_exists:
        raise exists("function", str(key))
