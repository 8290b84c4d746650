"""Catalogs, databases, tables and views, and what hides what."""

from __future__ import annotations

import pytest

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import IntType, ObjectIdentifier
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.table.catalog.definitions import CatalogDatabase, CatalogDescriptor
from firesteel.table.catalog.manager import CatalogManager
from firesteel.table.catalog.objects import CatalogTable


def table(manager: CatalogManager, name: str, column: str = "a") -> CatalogTable:
    identifier = manager.qualified(tuple(name.split(".")))
    return CatalogTable(ResolvedTable(identifier, (PhysicalColumn(column, IntType()),)))


def columns(manager: CatalogManager, name: str) -> list[str]:
    found = manager.get(manager.qualified((name,)))
    assert isinstance(found, CatalogTable)
    return [column.name for column in found.table.columns]


def test_a_temporary_table_hides_a_permanent_one_until_it_is_dropped():
    manager = CatalogManager()
    manager.add(table(manager, "t", "permanent"))
    manager.add(table(manager, "t", "temporary"), temporary=True)
    assert columns(manager, "t") == ["temporary"]
    assert manager.names(*manager.path) == ["t"]
    with pytest.raises(ProgramError, match="temporary one of the same name"):
        manager.drop(manager.qualified(("t",)), kind="table")
    assert manager.drop(manager.qualified(("t",)), kind="table", temporary=True)
    assert columns(manager, "t") == ["permanent"]


def test_a_name_is_taken_once_unless_it_is_replaced_or_left():
    manager = CatalogManager()
    manager.add(table(manager, "t", "first"))
    with pytest.raises(ProgramError, match="requires a name that no other"):
        manager.add(table(manager, "t", "second"))
    manager.add(table(manager, "t", "second"), if_not_exists=True)
    assert columns(manager, "t") == ["first"]
    manager.add(table(manager, "t", "second"), replace=True)
    assert columns(manager, "t") == ["second"]


def test_names_are_found_in_the_database_that_is_in_use():
    manager = CatalogManager()
    manager.create_database("default_catalog", "other", CatalogDatabase())
    manager.add(table(manager, "other.t"))
    assert manager.find(manager.qualified(("t",))) is None
    manager.use_database("default_catalog", "other")
    assert manager.find(manager.qualified(("t",))) is not None
    assert manager.qualified(("default_database", "t")) == ObjectIdentifier(
        "default_catalog", "default_database", "t"
    )


def test_what_is_dropped_takes_its_temporary_tables_along():
    manager = CatalogManager()
    manager.create_catalog(CatalogDescriptor("c", {"type": "generic_in_memory", "default-database": "d"}))
    manager.add(table(manager, "c.d.t"), temporary=True)
    manager.drop_catalog("c")
    assert not manager.temporary
    with pytest.raises(ProgramError, match="in use"):
        manager.drop_catalog("default_catalog")


def test_a_database_with_tables_is_dropped_with_cascade_only():
    manager = CatalogManager()
    manager.create_database("default_catalog", "d", CatalogDatabase())
    manager.add(table(manager, "d.t"))
    with pytest.raises(ProgramError, match="without tables"):
        manager.drop_database("default_catalog", "d")
    manager.drop_database("default_catalog", "d", cascade=True)
    with pytest.raises(ProgramError, match="requires a database that exists"):
        manager.database("default_catalog", "d")
    manager.drop_database("default_catalog", "d", if_exists=True)


def test_an_unknown_name_has_a_suggestion():
    manager = CatalogManager()
    manager.add(table(manager, "orders"))
    with pytest.raises(ProgramError) as error:
        manager.get(manager.qualified(("order",)))
    assert error.value.hint == "did you mean orders?"
