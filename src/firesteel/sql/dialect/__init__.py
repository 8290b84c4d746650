"""Flink's SQL as a dialect of sqlglot, with its own nodes, its own reserved words and its own generator."""
