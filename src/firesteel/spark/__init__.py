"""Spark as the executor of plans: the only package that imports pyspark."""
