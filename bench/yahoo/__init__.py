"""Latency under load, after the Yahoo Streaming Benchmark: one PyFlink program, run by both systems."""
