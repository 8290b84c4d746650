"""Joins of two inputs that change."""
