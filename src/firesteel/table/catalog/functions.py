"""The user's functions of a session: of databases, temporary ones, which hide these, and those of all databases.

Contract: upper and lower case of a function's name are the same. Errors are ProgramErrors without a place, as those of
`firesteel.table.catalog.manager`. Source: Flink's FunctionCatalog.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.functions.columns.python_functions import PythonFunction, PythonTableFunction, UserFunction
from firesteel.table.catalog.memory import Database
from firesteel.table.udf import UserDefinedFunctionWrapper


@dataclass(frozen=True, eq=False)
class ImportedFunction:
    """A function that a statement names: 'module.name' of what `udf` or `udtf` has made. A query imports it."""

    target: str
    name: str = ""

    @cached_property
    def signature(self) -> UserFunction:
        """The function with its types. Raises ConfigurationError if there is none."""
        module, _, name = self.target.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigurationError(
                "requires 'module.name' of a function that can be imported",
                got=f"'{self.target}': {error}",
                hint="the module must be on the path of the program and of its workers, e.g. by --py-files",
            ) from error
        if isinstance(found, UserDefinedFunctionWrapper):
            return replace(found.signature, name=self.name)
        raise ConfigurationError(
            "requires 'module.name' of what udf(...) or udtf(...) has made",
            got=f"'{self.target}', a {type(found).__name__}",
        )


K = TypeVar("K")
KnownFunction = PythonFunction | PythonTableFunction | ImportedFunction
Databases = Callable[[str, str], Database]
"""Finds a database. Raises ProgramError if there is none."""


class FunctionCatalog:
    """Keeps functions by their names; `database` finds where those that are not temporary are kept."""

    def __init__(self, database: Databases) -> None:
        self._database = database
        self._temporary: dict[ObjectIdentifier, KnownFunction] = {}
        self._system: dict[str, KnownFunction] = {}

    def find(self, identifier: ObjectIdentifier) -> UserFunction | None:
        """Return the function of a full name, a temporary one first; None if there is none."""
        found = self._temporary.get(_lower(identifier)) or self._permanent(identifier)
        return _signature(found)

    def find_system(self, name: str) -> UserFunction | None:
        """Return the function that has a name in all databases; None if there is none."""
        return _signature(self._system.get(name.lower()))

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
            _keep(self._database(key.catalog, key.database).functions, key.name, function, if_not_exists)

    def add_system(self, name: str, function: KnownFunction, *, if_not_exists: bool = False) -> None:
        """Keep a function for all databases, for this session. Raises ProgramError as `add`."""
        _keep(self._system, name.lower(), _named(function, name), if_not_exists)

    def change(self, identifier: ObjectIdentifier, function: KnownFunction) -> bool:
        """Replace a function that is not temporary, and return whether there was one."""
        if self._permanent(identifier) is None:
            return False
        functions = self._database(identifier.catalog, identifier.database).functions
        functions[identifier.name.lower()] = _named(function, identifier.name)
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
        del self._database(identifier.catalog, identifier.database).functions[key.name]
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
        return sorted({*self._system, *temporary, *self._database(catalog, database).functions})

    def _permanent(self, identifier: ObjectIdentifier) -> KnownFunction | None:
        try:
            functions = self._database(identifier.catalog, identifier.database).functions
        except ProgramError:  # no function can be where there is no database
            return None
        return functions.get(identifier.name.lower())


def _lower(identifier: ObjectIdentifier) -> ObjectIdentifier:
    return replace(identifier, name=identifier.name.lower())


def _named(function: KnownFunction, name: str) -> KnownFunction:
    """Return a function that plans and errors call by the name that it is found by."""
    return replace(function, name=name)


def _signature(function: KnownFunction | None) -> UserFunction | None:
    return function.signature if isinstance(function, ImportedFunction) else function


def _keep(known: dict[K, KnownFunction], key: K, function: KnownFunction, if_not_exists: bool) -> None:
    if key not in known:
        known[key] = function
    elif not if_not_exists:
        raise ProgramError(
            "requires a name that no other function has",
            got=str(key),
            hint="IF NOT EXISTS leaves the old one",
        )
