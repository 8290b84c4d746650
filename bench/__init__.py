"""Benchmarks: Firesteel compared to PyFlink and Spark's transformWithState, with the same work on the same machine.

`python -m bench` (or `./run bench`) measures everything and writes docs/benchmarks.md; see `bench/__main__.py`.
"""
