"""SHOW PARTITIONS, and ALTER TABLE of partitions: those that a catalog knows of a table."""

from __future__ import annotations

from firesteel.sql.statements.alter import AddPartitions, Alter, DropPartitions
from firesteel.sql.statements.parts import Name, Partition
from firesteel.sql.statements.session import ShowPartitions
from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import CatalogPartition
from firesteel.table.catalog.manager import path_of
from firesteel.table.catalog.paths import CatalogPartitionSpec, ObjectPath
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.table_result import TableResult


def show_partitions(statement: ShowPartitions, execution: Execution) -> TableResult:
    """Show the partitions of a table that a catalog knows, as the names of directories."""
    with execution.at(statement.table.span):
        catalog, path = located(statement.table, execution)
        keys = catalog.get_table(path).partition_keys
        found = catalog.list_partitions(path, spec_of(statement.partition))
    return answers.listed("partition name", sorted(directory_of(spec, keys) for spec in found))


def alter_partitions(statement: Alter, execution: Execution) -> TableResult:
    """Add partitions to a table, or remove some."""
    with execution.at(statement.name.span):
        catalog, path = located(statement.name, execution)
        match statement.action:
            case AddPartitions(if_not_exists, added):
                for one in added:
                    partition = CatalogPartition(options_of(one.options))
                    catalog.create_partition(path, spec_of(one.partition), partition, if_not_exists)
            case DropPartitions(if_exists, dropped):
                for one_dropped in dropped:
                    catalog.drop_partition(path, spec_of(one_dropped), if_exists)
    return answers.ok()


def located(name: Name, execution: Execution) -> tuple[Catalog, ObjectPath]:
    """Return the catalog that has a table, and its path there. Raises ProgramError unless it is there permanently."""
    identifier = execution.identifier(name)
    catalog, path = execution.manager.catalog(identifier.catalog), path_of(identifier)
    if not catalog.table_exists(path):
        raise execution.manager.unknown(identifier, "table of a catalog")
    return catalog, path


def spec_of(partition: Partition) -> CatalogPartitionSpec:
    """Return the values of a partition, as texts."""
    return CatalogPartitionSpec(
        {item.column.parts[0]: item.value.name for item in partition if item.value is not None}
    )


def directory_of(spec: CatalogPartitionSpec, keys: tuple[str, ...]) -> str:
    """Return the values of a partition as the names of directories.

    >>> directory_of(CatalogPartitionSpec({"b": "2", "a": "1"}), ("a", "b"))
    'a=1/b=2'
    """
    values = spec.get_partition_spec()
    return "/".join(f"{key}={values[key]}" for key in keys if key in values)
