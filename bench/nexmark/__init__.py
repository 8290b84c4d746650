"""Nexmark: the queries of the field's benchmark on files, compared to Flink's own SQL runtime."""
