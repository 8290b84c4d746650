"""A catalog that a session keeps in memory (Flink: GenericInMemoryCatalog)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace

from firesteel.common.errors import ProgramError
from firesteel.table.catalog.definitions import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
)
from firesteel.table.catalog.memory_models import ModelsInMemory, exists
from firesteel.table.catalog.paths import CatalogPartitionSpec, ObjectPath
from firesteel.table.catalog.statistics import CatalogColumnStatistics, CatalogTableStatistics

__all__ = ["GenericInMemoryCatalog"]


@dataclass(frozen=True)
class Known:
    """What is known of the rows and of the columns of a table or of a partition."""

    rows: CatalogTableStatistics = field(default_factory=CatalogTableStatistics)
    columns: CatalogColumnStatistics = field(default_factory=CatalogColumnStatistics)


@dataclass(frozen=True)
class Partition:
    """A partition with what is known of it."""

    definition: CatalogPartition
    known: Known = field(default_factory=Known)


@dataclass(frozen=True)
class Entry:
    """A table or a view with its partitions, and what is known of it."""

    definition: CatalogBaseTable
    partitions: Mapping[CatalogPartitionSpec, Partition] = field(default_factory=dict)
    known: Known = field(default_factory=Known)


@dataclass(frozen=True)
class Database:
    """A database with what is in it; functions have names in lower case."""

    definition: CatalogDatabase = field(default_factory=CatalogDatabase)
    tables: MutableMapping[str, Entry] = field(default_factory=dict)
    functions: MutableMapping[str, CatalogFunction] = field(default_factory=dict)
    models: MutableMapping[str, CatalogModel] = field(default_factory=dict)


class GenericInMemoryCatalog(ModelsInMemory):
    """Keeps everything for the session (Flink: GenericInMemoryCatalog), or wherever `databases` keeps it.

    What changes in a database is assigned anew: no object in these mappings is ever changed.
    """

    def __init__(
        self,
        name: str = "",
        default_database: str = "default",
        databases: MutableMapping[str, Database] | None = None,
    ) -> None:
        self._name = name
        self._databases = {} if databases is None else databases
        self.use_default(default_database)

    def use_default(self, database: str) -> None:
        """Make another database, which need not exist yet, the default one."""
        self._default = database
        if database not in self._databases:
            self._databases[database] = Database()

    def get_default_database(self) -> str:
        """Return the database that is used when the catalog is."""
        return self._default

    # --- databases ---

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        return sorted(self._databases)

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database. Raises ProgramError if there is none of this name."""
        return self._database(database_name).definition

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database of this name."""
        return database_name in self._databases

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database."""
        if name not in self._databases:
            self._databases[name] = Database(database)
        elif not ignore_if_exists:
            raise exists("database", f"{self._name}.{name}")

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        """Remove a database, which is empty."""
        if name not in self._databases and ignore_if_exists:
            return
        database = self._database(name)
        if database.tables or database.functions or database.models:
            raise ProgramError("requires a database without tables, functions and models", got=name)
        del self._databases[name]

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Put another definition in the place of a database's."""
        if name in self._databases or not ignore_if_not_exists:
            self._databases[name] = replace(self._database(name), definition=new_database)

    def _database(self, name: str) -> Database:
        self._require_database(name)
        return self._databases[name]

    # --- tables and views ---

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of the tables and views of a database."""
        return sorted(self._database(database_name).tables)

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of the views of a database."""
        tables = self._database(database_name).tables
        return sorted(name for name, entry in tables.items() if entry.definition.is_view)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or a view. Raises ProgramError if there is none of this name."""
        return self._entry(table_path).definition

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or a view of this name."""
        database = self._databases.get(table_path.database_name)
        return database is not None and table_path.object_name in database.tables

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or a view."""
        if self.table_exists(table_path) or not ignore_if_not_exists:
            self._entry(table_path)
            del self._database(table_path.database_name).tables[table_path.object_name]

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Give a table or a view another name in its database."""
        if not self.table_exists(table_path) and ignore_if_not_exists:
            return
        entry, target = self._entry(table_path), replace(table_path, object_name=new_table_name)
        if self.table_exists(target):
            raise exists("table or view", str(target))
        tables = self._database(table_path.database_name).tables
        del tables[table_path.object_name]
        tables[new_table_name] = entry

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Add a table or a view."""
        if not self.table_exists(table_path):
            self._put(table_path, Entry(table))
        elif not ignore_if_exists:
            raise exists("table or view", str(table_path))

    def alter_table(
        self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool
    ) -> None:
        """Put another definition in the place of that of a table or a view, which keeps its partitions."""
        if self.table_exists(table_path) or not ignore_if_not_exists:
            self._put(table_path, replace(self._entry(table_path), definition=new_table))

    def _entry(self, path: ObjectPath) -> Entry:
        found = self._database(path.database_name).tables.get(path.object_name)
        if found is None:
            raise self._unknown("table or view", path)
        return found

    def _put(self, path: ObjectPath, entry: Entry) -> None:
        self._database(path.database_name).tables[path.object_name] = entry

    # --- partitions ---

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table, of those with the values of `partition_spec`."""
        asked = partition_spec or CatalogPartitionSpec({})
        return [spec for spec in self._partitioned(table_path).partitions if asked.holds_for(spec)]

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        """Return a partition. Raises ProgramError if there is none of these values."""
        return self._partition(table_path, partition_spec).definition

    def partition_exists(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> bool:
        """Return whether there is a partition of these values."""
        return self.table_exists(table_path) and partition_spec in self._entry(table_path).partitions

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition to a table; it has a value for each of the table's partition columns."""
        entry = self._partitioned(table_path)
        if {*partition_spec.get_partition_spec()} != {*entry.definition.partition_keys}:
            raise ProgramError(
                f"requires a value for each of the columns {', '.join(entry.definition.partition_keys)}",
                who=f"a partition of {table_path}",
                got=str(partition_spec),
            )
        if partition_spec not in entry.partitions:
            self._put_partition(table_path, partition_spec, Partition(partition))
        elif not ignore_if_exists:
            raise exists("partition", f"{table_path} {partition_spec}")

    def drop_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool
    ) -> None:
        """Remove a partition of a table."""
        if self.partition_exists(table_path, partition_spec) or not ignore_if_not_exists:
            self._partition(table_path, partition_spec)
            entry = self._entry(table_path)
            kept = {spec: one for spec, one in entry.partitions.items() if spec != partition_spec}
            self._put(table_path, replace(entry, partitions=kept))

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        """Put another definition in the place of a partition's."""
        self._change_partition(
            table_path,
            partition_spec,
            lambda found: replace(found, definition=new_partition),
            ignore_if_not_exists,
        )

    def _partitioned(self, path: ObjectPath) -> Entry:
        entry = self._entry(path)
        if not entry.definition.partition_keys:
            raise ProgramError("requires a table that is PARTITIONED BY", got=str(path))
        return entry

    def _partition(self, path: ObjectPath, spec: CatalogPartitionSpec) -> Partition:
        found = self._partitioned(path).partitions.get(spec)
        if found is None:
            raise ProgramError("requires a partition that exists", got=f"{path} {spec}")
        return found

    def _put_partition(self, path: ObjectPath, spec: CatalogPartitionSpec, partition: Partition) -> None:
        entry = self._entry(path)
        self._put(path, replace(entry, partitions={**entry.partitions, spec: partition}))

    def _change_partition(
        self,
        path: ObjectPath,
        spec: CatalogPartitionSpec,
        change: Callable[[Partition], Partition],
        ignore: bool,
    ) -> None:
        if self.partition_exists(path, spec) or not ignore:
            self._put_partition(path, spec, change(self._partition(path, spec)))

    # --- functions ---

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of the functions of a database."""
        return sorted(self._database(database_name).functions)

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return a function. Raises ProgramError if there is none of this name."""
        name = function_path.object_name.lower()
        found = self._database(function_path.database_name).functions.get(name)
        if found is None:
            raise self._unknown("function", function_path)
        return found

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is a function of this name."""
        database = self._databases.get(function_path.database_name)
        return database is not None and function_path.object_name.lower() in database.functions

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Add a function."""
        if not self.function_exists(function_path):
            self._put_function(function_path, function)
        elif not ignore_if_exists:
            raise exists("function", str(function_path))

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Put another function in the place of one."""
        if self.function_exists(function_path) or not ignore_if_not_exists:
            self.get_function(function_path)
            self._put_function(function_path, new_function)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function."""
        if self.function_exists(function_path) or not ignore_if_not_exists:
            self.get_function(function_path)
            del self._database(function_path.database_name).functions[function_path.object_name.lower()]

    def _put_function(self, path: ObjectPath, function: CatalogFunction) -> None:
        self._database(path.database_name).functions[path.object_name.lower()] = function

    def _models(self, database: str) -> MutableMapping[str, CatalogModel]:
        return self._database(database).models

    # --- statistics ---

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return what is known of the rows of a table."""
        return self._entry(table_path).known.rows

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return what is known of the columns of a table."""
        return self._entry(table_path).known.columns

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return what is known of the rows of a partition."""
        return self._partition(table_path, partition_spec).known.rows

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return what is known of the columns of a partition."""
        return self._partition(table_path, partition_spec).known.columns

    def alter_table_statistics(
        self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Keep what is known of the rows of a table."""
        self._learn(table_path, lambda known: replace(known, rows=table_statistics), ignore_if_not_exists)

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Keep what is known of the columns of a table."""
        self._learn(table_path, lambda known: replace(known, columns=column_statistics), ignore_if_not_exists)

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Keep what is known of the rows of a partition."""
        self._change_partition(
            table_path,
            partition_spec,
            lambda one: replace(one, known=replace(one.known, rows=partition_statistics)),
            ignore_if_not_exists,
        )

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Keep what is known of the columns of a partition."""
        self._change_partition(
            table_path,
            partition_spec,
            lambda one: replace(one, known=replace(one.known, columns=column_statistics)),
            ignore_if_not_exists,
        )

    def _learn(self, path: ObjectPath, learn: Callable[[Known], Known], ignore: bool) -> None:
        if self.table_exists(path) or not ignore:
            entry = self._entry(path)
            self._put(path, replace(entry, known=learn(entry.known)))
