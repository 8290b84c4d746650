"""The throughput of jobs in records per second, compared to PyFlink and Spark's own keyed state in Python."""
