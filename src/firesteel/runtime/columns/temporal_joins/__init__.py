"""Joins with tables as they were at a time."""
