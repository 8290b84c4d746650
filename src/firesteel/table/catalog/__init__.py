"""Catalogs: where tables and views are found by name."""

from __future__ import annotations

from firesteel.table.later import missing_catalog_class

__getattr__ = missing_catalog_class
