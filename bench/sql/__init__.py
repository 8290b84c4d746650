"""The throughput of SQL queries, compared to Flink's own SQL runtime."""
