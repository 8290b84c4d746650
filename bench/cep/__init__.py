"""Patterns in streams beside Flink's CEP library in Java, long matches, and many patterns on one stream."""
