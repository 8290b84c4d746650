"""What the catalog of a metastore of Hive does with databases, tables and views."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.spark.hive.metastore import Metastore
from firesteel.spark.hive.objects import HiveDatabase, HiveStorage, HiveTable
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogBaseTable, CatalogDatabase
from firesteel.table.catalog.hive.definitions import (
    definition_of,
    generic_table,
    hive_table,
    is_for_hive,
    is_hive,
)
from firesteel.table.catalog.memory_models import exists
from firesteel.table.catalog.paths import ObjectPath

_LOCATION: Final = "hive.database.location-uri"


class HiveTables(Catalog):
    """The databases, tables and views of a metastore."""

    _metastore: Metastore
    _who: str
    _conf_dir: str | None

    # --- databases ---

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        return self._metastore.databases()

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database. Raises ProgramError if there is none of this name."""
        found = self._database(database_name)
        properties = dict(found.parameters)
        if found.location is not None:
            properties[_LOCATION] = found.location
        return CatalogDatabase(properties, found.comment)

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database of this name."""
        return self._metastore.database(database_name) is not None

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database, in the directory of its property 'hive.database.location-uri' if it has that."""
        if not self.database_exists(name):
            self._metastore.create_database(name, _defined(database))
        elif not ignore_if_exists:
            raise exists("database", name)

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        """Remove a database, which is empty."""
        if self._find_database(name, ignore=ignore_if_exists) is None:
            return
        if self._metastore.tables(name) or self._metastore.functions(name):
            raise ProgramError("requires a database without tables and functions", who=self._who, got=name)
        self._metastore.drop_database(name)

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Put another definition in the place of a database's."""
        if self._find_database(name, ignore=ignore_if_not_exists) is not None:
            self._metastore.alter_database(name, _defined(new_database))

    def _database(self, name: str) -> HiveDatabase:
        found = self._metastore.database(name)
        if found is None:
            raise self._unknown_database(name)
        return found

    def _find_database(self, name: str, *, ignore: bool) -> HiveDatabase | None:
        """Return a database; one that does not exist is an error, or None if that is to be ignored."""
        return self._metastore.database(name) if ignore else self._database(name)

    # --- tables and views ---

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of the tables and views of a database."""
        self._require_database(database_name)
        return self._metastore.tables(database_name)

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of the views of a database."""
        self._require_database(database_name)
        return self._metastore.views(database_name)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or a view. Raises ProgramError if there is none of this name."""
        return definition_of(
            self._table(table_path), table_path, self._conf_dir, f"{self._who}, {table_path}"
        )

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or a view of this name."""
        return self._metastore.has_table(table_path.database_name, table_path.object_name)

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Add a table or a view."""
        self._require_database(table_path.database_name)
        if self.table_exists(table_path):
            if not ignore_if_exists:
                raise exists("table or view", str(table_path))
            return
        made, storage = self._made(table_path, table)
        self._metastore.create_table(table_path.database_name, table_path.object_name, made, storage)

    def alter_table(
        self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool
    ) -> None:
        """Put another definition in the place of that of a table or a view, which stays where and what it is."""
        before = self._find_table(table_path, ignore=ignore_if_not_exists)
        if before is None:
            return
        made, storage = self._made(table_path, new_table)
        kinds = [(table.texts is not None, is_hive(table.parameters)) for table in (before, made)]
        if kinds[0] != kinds[1] or storage != HiveStorage():
            raise UnsupportedError(
                "cannot change whether something is a table of Hive, another table or a view, and how it is stored",
                who=f"{self._who}, {table_path}",
                hint="drop it, and create it again",
            )
        kept = HiveTable(made.parameters, made.columns, made.partition_columns, before.kind, made.texts)
        self._metastore.alter_table(table_path.database_name, table_path.object_name, kept)

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Give a table or a view another name in its database."""
        if self._find_table(table_path, ignore=ignore_if_not_exists) is None:
            return
        target = ObjectPath(table_path.database_name, new_table_name.lower())
        if self.table_exists(target):
            raise exists("table or view", str(target))
        self._metastore.rename_table(table_path.database_name, table_path.object_name, target.object_name)

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or a view; a table of Hive that is not external goes with its files."""
        if self._find_table(table_path, ignore=ignore_if_not_exists) is not None:
            self._metastore.drop_table(table_path.database_name, table_path.object_name)

    def _table(self, path: ObjectPath) -> HiveTable:
        found = self._metastore.table(path.database_name, path.object_name)
        if found is None:
            raise self._unknown("table or view", path)
        return found

    def _find_table(self, path: ObjectPath, *, ignore: bool) -> HiveTable | None:
        """Return a table or a view; one that does not exist is an error, or None if that is to be ignored."""
        return self._metastore.table(path.database_name, path.object_name) if ignore else self._table(path)

    def _made(self, path: ObjectPath, table: CatalogBaseTable) -> tuple[HiveTable, HiveStorage]:
        if table.maintenance is not None:
            raise UnsupportedError(
                "cannot keep materialized tables",
                who=self._who,
                hint="a catalog of the type 'filesystem' can",
            )
        if is_for_hive(table):
            return hive_table(table, f"{self._who}, {path}")
        return generic_table(table), HiveStorage()


def _defined(database: CatalogDatabase) -> HiveDatabase:
    parameters = {key: value for key, value in database.properties.items() if key != _LOCATION}
    return HiveDatabase(parameters, database.comment, database.properties.get(_LOCATION))
