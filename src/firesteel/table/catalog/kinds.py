"""The kinds of catalogs that CREATE CATALOG makes, by the option 'type'.

Others are of installed packages: entry points of the group `firesteel.table.catalogs`, each of which is called with
the name of a catalog and its options without 'type', and returns a `Catalog`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.common.suggestions import did_you_mean
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogDescriptor
from firesteel.table.catalog.files import FileCatalog
from firesteel.table.catalog.hive import HiveCatalog
from firesteel.table.catalog.jdbc import JdbcCatalog
from firesteel.table.catalog.memory import GenericInMemoryCatalog

ENTRY_POINTS: Final = "firesteel.table.catalogs"
IN_MEMORY: Final = "generic_in_memory"
_FIRST: Final = "default-database"
_VERSION: Final = "property-version"

Options = Mapping[str, str]


def _in_memory(name: str, options: Options) -> Catalog:
    _check(options, needed=(), others=(_FIRST,))
    return GenericInMemoryCatalog(name, options.get(_FIRST, "default"))


def _in_files(name: str, options: Options) -> Catalog:
    _check(options, needed=("path",), others=(_FIRST,))
    return FileCatalog(name, options["path"], options.get(_FIRST, "default"))


def _jdbc(name: str, options: Options) -> Catalog:
    _check(options, needed=(_FIRST, "username", "password", "base-url"), others=())
    return JdbcCatalog(name, options[_FIRST], options["username"], options["password"], options["base-url"])


def _hive(name: str, options: Options) -> Catalog:
    _check(options, needed=(), others=(_FIRST, "hive-conf-dir", "hive-version"))
    return HiveCatalog(name, options.get(_FIRST), options.get("hive-conf-dir"))


_KINDS: Final[dict[str, Callable[[str, Options], Catalog]]] = {
    IN_MEMORY: _in_memory,
    "filesystem": _in_files,
    "jdbc": _jdbc,
    "hive": _hive,
}


def catalog_of(descriptor: CatalogDescriptor) -> Catalog:
    """Return the catalog that a descriptor describes. Raises ConfigurationError for options that it cannot have.

    >>> catalog_of(CatalogDescriptor("c", {"type": "generic_in_memory"})).list_databases()
    ['default']
    """
    kind = descriptor.options.get("type")
    installed = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    kinds = [*_KINDS, *installed]
    if kind not in kinds:
        raise ConfigurationError(
            f"requires the option 'type', one of {', '.join(kinds)}",
            got=repr(kind),
            hint=did_you_mean(kind or "", kinds),
        )
    options = {key: value for key, value in descriptor.options.items() if key not in ("type", _VERSION)}
    made = _KINDS[kind] if kind in _KINDS else installed[kind].load()
    found: Catalog = made(descriptor.catalog_name, options)
    return found


def _check(options: Options, *, needed: tuple[str, ...], others: tuple[str, ...]) -> None:
    known = (*needed, *others)
    missing = [key for key in needed if key not in options]
    if missing:
        raise ConfigurationError(f"requires the options {', '.join(needed)}", got=f"no {', '.join(missing)}")
    unknown = sorted({*options} - {*known})
    if unknown:
        raise ConfigurationError(
            f"takes the options {', '.join(('type', *known, _VERSION))}", got=", ".join(unknown)
        )
