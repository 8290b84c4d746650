"""A catalog that a session keeps in memory (Flink: GenericInMemoryCatalog)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firesteel.table.catalog.objects import CatalogObject


@dataclass
class Database:
    """Tables and views by their names; functions by theirs in lower case."""

    objects: dict[str, CatalogObject] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Catalog:
    """Databases by their names; `default_database` is used when the catalog is."""

    default_database: str = "default"
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    databases: dict[str, Database] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.databases.setdefault(self.default_database, Database())
