"""The kernel: programs as prepared statements of DuckDB over Arrow batches. Only this package imports DuckDB."""
