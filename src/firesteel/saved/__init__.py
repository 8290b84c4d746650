"""Saved state as rows and tables: the operators, states and entries of savepoints and kept epochs."""
