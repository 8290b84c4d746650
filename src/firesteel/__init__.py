"""Firesteel: Apache Flink's programming model on Apache Spark, in Python."""

__version__ = "0.1.0"
