"""Joins with rows of a table that are looked up."""
