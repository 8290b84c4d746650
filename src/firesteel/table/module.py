"""ModuleEntry: a set of functions that a session knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Final, NoReturn

import msgspec

from firesteel.common.decoders import json_decoder
from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.common.importing import import_module

ENTRY_POINTS: Final = "firesteel.table.modules"
"""The group of entry points of modules."""

_CLASS: Final = "class"

__all__ = ["HiveModule", "Module", "ModuleEntry"]


class Module:
    """A set of functions that all queries of a session know by their names; subclass it for one of your own.

    `core` has the built-in functions. Functions are looked up in the modules in use, one after the other.

    >>> from firesteel.table.udf import udf
    >>> class Greetings(Module):
    ...     def list_functions(self):
    ...         return ["hello"]
    ...     def get_function(self, name):
    ...         return udf(lambda who: f"hello {who}", result_type="STRING") if name == "hello" else None
    """

    def __init__(self, name: str = "core") -> None:
        self.name = name

    def list_functions(self) -> list[str]:
        """Return the names of the functions, in lower case."""
        return []

    def get_function(self, name: str) -> Any:
        """Return what `udf`, `udtf` or `udaf` has made for a name in lower case, None if there is none."""
        del name
        return None


def module_of(name: str, options: Mapping[str, str]) -> Module:
    """Return the module that LOAD MODULE names.

    That is the subclass of `Module` that the option 'class' says, as 'module:attribute', called with the other options;
    or an entry point of the group `firesteel.table.modules` of that name, called with all of them. Raises
    ConfigurationError if there is none.
    """
    given = dict(options)
    target = given.pop(_CLASS, None)
    installed = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if target is None and name not in installed:
        raise ConfigurationError(
            "requires a module that exists",
            got=name,
            hint=f"there are {', '.join(['core', *installed])}; WITH ('{_CLASS}' = 'module:attribute') loads your own",
        )
    try:
        if target is None:
            made = installed[name].load()
        else:
            where, _, attribute = target.partition(":")
            made = getattr(import_module(where), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            f"requires the option '{_CLASS}' with 'module:attribute' of a class that can be imported",
            got=f"{target!r}: {error}",
        ) from error
    module = made(given) if callable(made) else made
    if not isinstance(module, Module):
        raise ConfigurationError(f"requires a subclass of {Module.__name__}", got=repr(module))
    return module


class ModuleFunction(msgspec.Struct, frozen=True):
    """A function of a module, by what a statement has loaded that with: what a compiled plan keeps of it."""

    module: str
    options: dict[str, str]
    function: str


@dataclass(frozen=True)
class LoadedModule:
    """A module of a session; `options` are those of LOAD MODULE, None for one that only its program has."""

    name: str
    module: Module
    options: Mapping[str, str] | None = None

    def target(self, function: str) -> str:
        """Return what finds a function again, as JSON; the empty text if nothing does."""
        if self.options is None:
            return ""
        return msgspec.json.encode(ModuleFunction(self.name, dict(self.options), function)).decode()


def function_of_module(target: str) -> Any:
    """Return the function of what `LoadedModule.target` gave, None if its module has it no longer.

    Raises ConfigurationError if there is no such module.
    """
    wanted = json_decoder(ModuleFunction).decode(target)
    return module_of(wanted.module, wanted.options).get_function(wanted.function)


class HiveModule(Module):
    """The functions of Hive, which are not supported."""

    def __init__(self, hive_version: str | None = None) -> None:
        del hive_version
        _no_hive()


@dataclass(frozen=True)
class _Entry:
    name: str
    used: bool


class ModuleEntry:
    """A module, and whether its functions are in use."""

    def __init__(self, name: str, used: bool) -> None:
        self._entry = _Entry(name, used)

    def name(self) -> str:
        """Return the name of the module."""
        return self._entry.name

    def used(self) -> bool:
        """Return whether its functions are in use."""
        return self._entry.used

    def __repr__(self) -> str:
        return f"ModuleEntry{{name='{self._entry.name}', used={str(self._entry.used).lower()}}}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleEntry) and self._entry == other._entry

    def __hash__(self) -> int:
        return hash(self._entry)


def _no_hive() -> NoReturn:
    raise UnsupportedError(
        "is not supported", who="HiveModule", hint="subclass Module for functions of your own"
    )
