"""Latency under load, in the manner of the Yahoo Streaming Benchmark: one PyFlink program, run by both systems."""
