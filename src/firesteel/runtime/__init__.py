"""Operators and tasks in plain Python: without Spark, and without I/O."""
