"""Catalog: what a program subclasses to bring databases, tables and functions of its own (Flink: Catalog).

Contract: methods raise ProgramError, or another FiresteelError, for what they are asked and cannot do; an error of
another kind is passed on as it is. Names are as written, those of functions in lower case. A catalog is used by one
thread at a time, and answers are not kept: each statement asks again.
"""

from __future__ import annotations

from typing import NoReturn

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.suggestions import did_you_mean
from firesteel.table.catalog.definitions import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    Procedure,
)
from firesteel.table.catalog.paths import CatalogPartitionSpec, ObjectPath
from firesteel.table.catalog.statistics import CatalogColumnStatistics, CatalogTableStatistics

__all__ = ["Catalog"]


class Catalog:
    """Databases with tables, views, functions and procedures.

    A subclass that only shows what there is has `list_databases`, `list_tables` and `get_table`; what it does not
    define is empty, or refused with UnsupportedError where a statement would change something.

    >>> from firesteel.table import EnvironmentSettings, Schema, TableEnvironment
    >>> class Numbers(Catalog):
    ...     def list_databases(self):
    ...         return ["default"]
    ...     def list_tables(self, database_name):
    ...         return ["three"]
    ...     def get_table(self, table_path):
    ...         schema = Schema.new_builder().column("n", "INT").build()
    ...         options = {"connector": "datagen", "number-of-rows": "3", "fields.n.kind": "sequence",
    ...                    "fields.n.start": "1", "fields.n.end": "3"}
    ...         return CatalogBaseTable.create_table(schema, [], options)
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> environment.register_catalog("numbers", Numbers())
    >>> environment.execute_sql("SHOW TABLES FROM numbers.`default`").print()
    +------------+
    | table name |
    +------------+
    |      three |
    +------------+
    1 row in set
    """

    def get_default_database(self) -> str:
        """Return the database that is used when the catalog is."""
        return "default"

    # --- databases ---

    def list_databases(self) -> list[str]:
        """Return the names of the databases."""
        self._refuse("list its databases")

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database. Raises ProgramError if there is none of this name."""
        self._require_database(database_name)
        return CatalogDatabase()

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is a database of this name."""
        return database_name in self.list_databases()

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database."""
        self._refuse("create databases")

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        """Remove a database, which is empty; `ignore_if_exists` (PyFlink's name) lets one pass that is not there."""
        self._refuse("drop databases")

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Put another definition in the place of a database's."""
        self._refuse("alter databases")

    # --- tables and views ---

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of the tables and views of a database."""
        self._refuse("list its tables")

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of the views of a database."""
        paths = (ObjectPath(database_name, name) for name in self.list_tables(database_name))
        return [path.object_name for path in paths if self.get_table(path).is_view]

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """Return the names of the materialized tables of a database: none."""
        return []

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or a view. Raises ProgramError if there is none of this name."""
        self._refuse("find tables")

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is a table or a view of this name."""
        database = table_path.database_name
        return self.database_exists(database) and table_path.object_name in self.list_tables(database)

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or a view."""
        self._refuse("drop tables")

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Give a table or a view another name in its database."""
        self._refuse("rename tables")

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Add a table or a view."""
        self._refuse("create tables")

    def alter_table(
        self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool
    ) -> None:
        """Put another definition in the place of that of a table or a view."""
        self._refuse("alter tables")

    # --- partitions ---

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table, of those with the values of `partition_spec`."""
        self._refuse("list partitions")

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        """Return a partition. Raises ProgramError if there is none of these values."""
        self._refuse("find partitions")

    def partition_exists(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> bool:
        """Return whether there is a partition of these values."""
        return partition_spec in self.list_partitions(table_path)

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition to a table."""
        self._refuse("create partitions")

    def drop_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool
    ) -> None:
        """Remove a partition of a table."""
        self._refuse("drop partitions")

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        """Put another definition in the place of a partition's."""
        self._refuse("alter partitions")

    # --- functions and procedures ---

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of the functions of a database."""
        return []

    def list_procedures(self, database_name: str) -> list[str]:
        """Return the names of the procedures of a database."""
        self._refuse("list procedures")

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return a function. Raises ProgramError if there is none of this name."""
        raise self._unknown("function", function_path)

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        """Return a procedure. Raises ProgramError if there is none of this name."""
        self._refuse("find procedures")

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is a function of this name."""
        return function_path.object_name in self.list_functions(function_path.database_name)

    def create_function(
        self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Add a function."""
        self._refuse("create functions")

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Put another function in the place of one."""
        self._refuse("alter functions")

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function."""
        self._refuse("drop functions")

    # --- models ---

    def list_models(self, database_name: str) -> list[str]:
        """Return the names of the models of a database."""
        return []

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        """Return a model. Raises ProgramError if there is none of this name."""
        raise self._unknown("model", model_path)

    def model_exists(self, model_path: ObjectPath) -> bool:
        """Return whether there is a model of this name."""
        return model_path.object_name in self.list_models(model_path.database_name)

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a model."""
        self._refuse("drop models")

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool) -> None:
        """Give a model another name."""
        self._refuse("rename models")

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        """Add a model."""
        self._refuse("create models")

    def alter_model(
        self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool
    ) -> None:
        """Put another model in the place of one."""
        self._refuse("alter models")

    # --- statistics ---

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return what is known of the rows of a table."""
        return CatalogTableStatistics()

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return what is known of the columns of a table."""
        return CatalogColumnStatistics()

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return what is known of the rows of a partition."""
        return CatalogTableStatistics()

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        """Return what is known of the rows of each of some partitions."""
        return [self.get_partition_statistics(table_path, spec) for spec in partition_specs]

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return what is known of the columns of a partition."""
        return CatalogColumnStatistics()

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        """Return what is known of the columns of each of some partitions."""
        return [self.get_partition_column_statistics(table_path, spec) for spec in partition_specs]

    def alter_table_statistics(
        self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Keep what is known of the rows of a table."""
        self._refuse("keep statistics")

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Keep what is known of the columns of a table."""
        self._refuse("keep statistics")

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Keep what is known of the rows of a partition."""
        self._refuse("keep statistics")

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Keep what is known of the columns of a partition."""
        self._refuse("keep statistics")

    # --- for subclasses ---

    def _require_database(self, name: str) -> None:
        if not self.database_exists(name):
            raise self._unknown_database(name)

    def _unknown_database(self, name: str) -> ProgramError:
        return ProgramError(
            "requires a database that exists", got=name, hint=did_you_mean(name, self.list_databases())
        )

    def _unknown(self, what: str, path: ObjectPath) -> ProgramError:
        return ProgramError(f"requires a {what} that exists", got=str(path))

    def _refuse(self, what: str) -> NoReturn:
        raise UnsupportedError(f"cannot {what}", who=f"the catalog {type(self).__name__}")
