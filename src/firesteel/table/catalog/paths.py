"""How things in catalogs are called: within a catalog, in full, and partitions of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier as Identifier

__all__ = ["CatalogPartitionSpec", "ObjectIdentifier", "ObjectPath"]


@dataclass(frozen=True, order=True)
class ObjectPath:
    """The database and the name of a table, a view or a function of a catalog.

    >>> str(ObjectPath("shop", "orders")), ObjectPath.from_string("shop.orders") == ObjectPath("shop", "orders")
    ('shop.orders', True)
    """

    database_name: str
    object_name: str

    def get_database_name(self) -> str:
        """Return the database."""
        return self.database_name

    def get_object_name(self) -> str:
        """Return the name within the database."""
        return self.object_name

    def get_full_name(self) -> str:
        """Return both, with a dot between."""
        return f"{self.database_name}.{self.object_name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Return a number below, at or above 0: the order of the full names."""
        mine, others = self.get_full_name(), other.get_full_name()
        return (mine > others) - (mine < others)

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the path of a full name. Raises ProgramError unless it has two parts."""
        database, dot, name = full_name.partition(".")
        if not dot or "." in name:
            raise ProgramError("requires 'database.name'", who="ObjectPath.from_string", got=repr(full_name))
        return ObjectPath(database, name)

    def __str__(self) -> str:
        return self.get_full_name()


class ObjectIdentifier(Identifier):
    """The full name of something in a catalog, with PyFlink's methods.

    >>> ObjectIdentifier.of("c", "d", "orders").as_serializable_string()
    '`c`.`d`.`orders`'
    """

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """Return the full name of these parts."""
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """Return the catalog."""
        return self.catalog

    def get_database_name(self) -> str:
        """Return the database."""
        return self.database

    def get_object_name(self) -> str:
        """Return the name within the database."""
        return self.name

    def to_object_path(self) -> ObjectPath:
        """Return the name without the catalog."""
        return ObjectPath(self.database, self.name)

    def to_list(self) -> list[str]:
        """Return the three parts."""
        return [self.catalog, self.database, self.name]

    def as_serializable_string(self) -> str:
        """Return the name as SQL has it, with quotes."""
        return str(self)

    def as_summary_string(self) -> str:
        """Return the name without quotes, for messages."""
        return ".".join(self.to_list())


class CatalogPartitionSpec:
    """The values of partition columns, as texts; in a question, of some of them. Their order means nothing."""

    def __init__(self, partition_spec: Mapping[str, str]) -> None:
        self._values = dict(partition_spec)

    def get_partition_spec(self) -> dict[str, str]:
        """Return the values by their columns."""
        return dict(self._values)

    def holds_for(self, other: CatalogPartitionSpec) -> bool:
        """Return whether a partition has the values that this one asks for.

        >>> CatalogPartitionSpec({"a": "1"}).holds_for(CatalogPartitionSpec({"a": "1", "b": "2"}))
        True
        """
        return self._values.items() <= other._values.items()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CatalogPartitionSpec) and self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __str__(self) -> str:
        return f"CatalogPartitionSpec{{{', '.join(f'{key}={value}' for key, value in self._values.items())}}}"

    __repr__ = __str__
