"""The catalog of a metastore of Hive."""

from __future__ import annotations

from firesteel.table.catalog.hive.catalog import HiveCatalog

__all__ = ["HiveCatalog"]
