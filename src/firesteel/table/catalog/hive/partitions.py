"""What the catalog of a metastore of Hive does with partitions, and with what is known of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.spark.hive.objects import HivePartition, HiveTable
from firesteel.table.catalog.definitions import CatalogPartition
from firesteel.table.catalog.hive.definitions import COMMENT, LOCATION, is_hive
from firesteel.table.catalog.hive.tables import HiveTables
from firesteel.table.catalog.memory_models import exists
from firesteel.table.catalog.paths import CatalogPartitionSpec, ObjectPath
from firesteel.table.catalog.statistics import CatalogColumnStatistics, CatalogTableStatistics

_COUNTS: Final = ("numRows", "numFiles", "totalSize", "rawDataSize")
"""The parameters that say what is known of rows, in the order of CatalogTableStatistics."""


class _Found(NamedTuple):
    """A partition, and its values in the order of the table's columns."""

    values: list[str]
    partition: HivePartition


class HivePartitions(HiveTables):
    """The partitions of tables, and the statistics of both."""

    # --- partitions ---

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table, of those with the values of `partition_spec`."""
        table = self._partitioned(table_path)
        asked = {} if partition_spec is None else partition_spec.get_partition_spec()
        unknown = {*asked} - {column.name for column in table.partition_columns}
        if unknown:
            raise self._unknown_keys(table, table_path, partition_spec)
        found = self._metastore.partitions(table_path.database_name, table_path.object_name, asked)
        return [CatalogPartitionSpec(values) for values in found]

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        """Return a partition; its directory is the property 'hive.location-uri'. Raises ProgramError without one."""
        found = self._existing(table_path, partition_spec).partition
        properties = {key: value for key, value in found.parameters.items() if key != COMMENT}
        if found.location is not None:
            properties[LOCATION] = found.location
        return CatalogPartition(properties, found.parameters.get(COMMENT))

    def partition_exists(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> bool:
        """Return whether there is a partition of these values."""
        return self._find(table_path, partition_spec, ignore=True) is not None

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition to a table of Hive; it has a value for each of the table's partition columns."""
        values = self._values(table_path, partition_spec)
        if self._metastore.partition(table_path.database_name, table_path.object_name, values) is None:
            self._metastore.create_partition(
                table_path.database_name, table_path.object_name, values, _partition(partition)
            )
        elif not ignore_if_exists:
            raise exists("partition", f"{table_path} {partition_spec}")

    def drop_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool
    ) -> None:
        """Remove a partition of a table, with its files if the table is not external."""
        found = self._find(table_path, partition_spec, ignore=ignore_if_not_exists)
        if found is not None:
            self._metastore.drop_partition(table_path.database_name, table_path.object_name, found.values)

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        """Put another definition in the place of a partition's."""
        found = self._find(table_path, partition_spec, ignore=ignore_if_not_exists)
        if found is not None:
            self._metastore.alter_partition(
                table_path.database_name, table_path.object_name, found.values, _partition(new_partition)
            )

    def _partitioned(self, path: ObjectPath) -> HiveTable:
        table = self._table(path)
        if not is_hive(table.parameters):
            raise UnsupportedError("has no partitions: it is no table of Hive", who=f"{self._who}, {path}")
        if not table.partition_columns:
            raise ProgramError("requires a table that is PARTITIONED BY", who=self._who, got=str(path))
        return table

    def _values(self, path: ObjectPath, spec: CatalogPartitionSpec) -> list[str]:
        """Return the values of a partition in the order of the table's columns."""
        table = self._partitioned(path)
        values = _ordered(table, spec)
        if values is None:
            raise self._unknown_keys(table, path, spec)
        return values

    def _existing(self, path: ObjectPath, spec: CatalogPartitionSpec) -> _Found:
        values = self._values(path, spec)
        partition = self._metastore.partition(path.database_name, path.object_name, values)
        if partition is None:
            raise ProgramError("requires a partition that exists", who=self._who, got=f"{path} {spec}")
        return _Found(values, partition)

    def _find(self, path: ObjectPath, spec: CatalogPartitionSpec, *, ignore: bool) -> _Found | None:
        """Return a partition; one that does not exist is an error, or None if that is to be ignored."""
        if not ignore:
            return self._existing(path, spec)
        table = self._find_table(path, ignore=True)
        values = None if table is None else _ordered(table, spec)
        if values is None:
            return None
        partition = self._metastore.partition(path.database_name, path.object_name, values)
        return None if partition is None else _Found(values, partition)

    def _unknown_keys(
        self, table: HiveTable, path: ObjectPath, spec: CatalogPartitionSpec | None
    ) -> ProgramError:
        names = ", ".join(column.name for column in table.partition_columns)
        return ProgramError(
            f"requires values of the columns {names}", who=f"a partition of {path}", got=str(spec)
        )

    # --- statistics ---

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return what is known of the rows of a table; of one with partitions that is nothing, as in Flink."""
        table = self._table(table_path)
        return CatalogTableStatistics() if table.partition_columns else _counted(table.parameters)

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return what is known of the columns of a table; of one with partitions that is nothing, as in Flink."""
        if self._table(table_path).partition_columns:
            return CatalogColumnStatistics()
        known = self._metastore.table_statistics(table_path.database_name, table_path.object_name)
        return CatalogColumnStatistics(known or None)

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return what is known of the rows of a partition."""
        return _counted(self._existing(table_path, partition_spec).partition.parameters)

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return what is known of the columns of a partition."""
        values = self._existing(table_path, partition_spec).values
        known = self._metastore.partition_statistics(table_path.database_name, table_path.object_name, values)
        return CatalogColumnStatistics(known or None)

    def alter_table_statistics(
        self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Keep what is known of the rows of a table."""
        table = self._find_table(table_path, ignore=ignore_if_not_exists)
        if table is not None:
            parameters = {**table.parameters, **_counts(table_statistics)}
            self._metastore.alter_table(
                table_path.database_name, table_path.object_name, replace(table, parameters=parameters)
            )

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Keep what is known of the columns of a table without partitions."""
        table = self._find_table(table_path, ignore=ignore_if_not_exists)
        if table is None:
            return
        if table.partition_columns:
            raise ProgramError(
                "requires a table without partitions", who=f"{self._who}, statistics", got=str(table_path)
            )
        self._metastore.keep_table_statistics(
            table_path.database_name, table_path.object_name, column_statistics.get_column_statistics_data()
        )

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Keep what is known of the rows of a partition."""
        found = self._find(table_path, partition_spec, ignore=ignore_if_not_exists)
        if found is not None:
            values, partition = found
            changed = replace(partition, parameters={**partition.parameters, **_counts(partition_statistics)})
            self._metastore.alter_partition(table_path.database_name, table_path.object_name, values, changed)

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Keep what is known of the columns of a partition."""
        found = self._find(table_path, partition_spec, ignore=ignore_if_not_exists)
        if found is not None:
            self._metastore.keep_partition_statistics(
                table_path.database_name,
                table_path.object_name,
                found.values,
                column_statistics.get_column_statistics_data(),
            )


def _ordered(table: HiveTable, spec: CatalogPartitionSpec) -> list[str] | None:
    """Return the values of a partition in the order of the table's columns; None if these are others, or none."""
    values, keys = spec.get_partition_spec(), [column.name for column in table.partition_columns]
    return [values[key] for key in keys] if keys and {*values} == {*keys} else None


def _partition(partition: CatalogPartition) -> HivePartition:
    parameters = {key: value for key, value in partition.properties.items() if key != LOCATION}
    if partition.comment is not None:
        parameters[COMMENT] = partition.comment
    return HivePartition(parameters, partition.properties.get(LOCATION))


def _counted(parameters: Mapping[str, str]) -> CatalogTableStatistics:
    """Return what parameters say of rows; what is not above 0 is not known, as in Flink."""
    found = (int(parameters.get(key, -1)) for key in _COUNTS)
    rows, files, size, in_memory = (count if count > 0 else None for count in found)
    return CatalogTableStatistics(rows, files, size, in_memory)


def _counts(statistics: CatalogTableStatistics) -> dict[str, str]:
    known = (
        statistics.get_row_count(),
        statistics.get_field_count(),
        statistics.get_total_size(),
        statistics.get_raw_data_size(),
    )
    return {key: str(count) for key, count in zip(_COUNTS, known, strict=True) if count >= 0}
