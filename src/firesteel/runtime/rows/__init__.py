"""The operators of a plan."""
