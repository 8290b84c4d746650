"""Catalogs: where tables and views are found by name."""
