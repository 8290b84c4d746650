"""Saved state as Spark DataFrames, and DataFrames as saved state."""
