"""TPC-H in batch: its 22 queries, beside Flink and Spark SQL, over the same files of Parquet."""
