"""Spark as the executor of plans: the only package that knows pyspark."""
