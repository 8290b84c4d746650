"""A catalog of what a metastore of Hive has (Flink: HiveCatalog)."""

from __future__ import annotations

from typing import Final

from firesteel.spark.hive.metastore import Metastore
from firesteel.table.catalog.definitions import CatalogFunction
from firesteel.table.catalog.hive.partitions import HivePartitions
from firesteel.table.catalog.memory_models import exists
from firesteel.table.catalog.paths import ObjectPath

__all__ = ["HiveCatalog"]

_LANGUAGES: Final = {"flink:python:": "PYTHON", "flink:scala:": "SCALA"}
"""How the language of a function begins its class; nothing: Java."""


class HiveCatalog(HivePartitions):
    """The databases, tables, views, partitions, functions and statistics of a metastore of Hive.

    `hive_conf_dir` is the directory of hive-site.xml, None: the metastore is that of Spark's configuration. Tables with
    'connector' = 'hive' are Hive's own: others see them, too. The definition of any other table, and of a view, is kept
    in parameters that Flink's HiveCatalog reads. Names are in lower case. Raises ConfigurationError if no metastore is
    configured, ProgramError if the default database does not exist, ConnectorError if the metastore fails.
    """

    def __init__(
        self, catalog_name: str, default_database: str | None = None, hive_conf_dir: str | None = None
    ) -> None:
        self._who = f"HiveCatalog {catalog_name!r}"
        self._conf_dir = hive_conf_dir
        self._default = default_database or "default"
        self._metastore = Metastore(hive_conf_dir, self._who)
        self._require_database(self._default)

    def get_default_database(self) -> str:
        """Return the database that is used when the catalog is."""
        return self._default

    # --- functions ---

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of the functions of a database."""
        self._require_database(database_name)
        return self._metastore.functions(database_name)

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return a function. Raises ProgramError if there is none of this name."""
        found = self._class(function_path)
        for begin, language in _LANGUAGES.items():
            if found.startswith(begin):
                return CatalogFunction(found.removeprefix(begin), language)
        return CatalogFunction(found, "JAVA")

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is a function of this name."""
        return self._find_class(function_path, ignore=True) is not None

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Add a function."""
        self._require_database(function_path.database_name)
        if not self.function_exists(function_path):
            self._metastore.create_function(
                function_path.database_name, function_path.object_name.lower(), _class_of(function)
            )
        elif not ignore_if_exists:
            raise exists("function", str(function_path))

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Put another function in the place of one."""
        if self._find_class(function_path, ignore=ignore_if_not_exists) is not None:
            self._metastore.alter_function(
                function_path.database_name, function_path.object_name.lower(), _class_of(new_function)
            )

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function."""
        if self._find_class(function_path, ignore=ignore_if_not_exists) is not None:
            self._metastore.drop_function(function_path.database_name, function_path.object_name.lower())

    def _class(self, path: ObjectPath) -> str:
        found = self._metastore.function(path.database_name, path.object_name.lower())
        if found is None:
            raise self._unknown("function", path)
        return found

    def _find_class(self, path: ObjectPath, *, ignore: bool) -> str | None:
        """Return the class of a function; one that does not exist is an error, or None if that is to be ignored."""
        name = path.object_name.lower()
        return self._metastore.function(path.database_name, name) if ignore else self._class(path)


def _class_of(function: CatalogFunction) -> str:
    begins = {language: begin for begin, language in _LANGUAGES.items()}
    return begins.get(function.function_language, "") + function.class_name
