"""Hive as Spark reaches it: its metastore, by the client in Spark's JVM, and its tables, by a session of Spark."""
