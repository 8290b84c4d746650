"""Catalogs: where tables, views and functions are found by name; your own are subclasses of `Catalog`."""

from __future__ import annotations

from firesteel.table.catalog.catalog import Catalog
from firesteel.table.catalog.definitions import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    Procedure,
)
from firesteel.table.catalog.files import FileCatalog
from firesteel.table.catalog.hive import HiveCatalog
from firesteel.table.catalog.jdbc import JdbcCatalog
from firesteel.table.catalog.memory import GenericInMemoryCatalog
from firesteel.table.catalog.paths import CatalogPartitionSpec, ObjectIdentifier, ObjectPath
from firesteel.table.catalog.statistics import CatalogColumnStatistics, CatalogTableStatistics
from firesteel.table.resolved_schema import (
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Column",
    "ComputedColumn",
    "Constraint",
    "FileCatalog",
    "GenericInMemoryCatalog",
    "HiveCatalog",
    "JdbcCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]
