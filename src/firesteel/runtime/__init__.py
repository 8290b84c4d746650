"""Operators and tasks in plain Python: no Spark, and no I/O of their own."""
