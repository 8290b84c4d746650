"""Runs the job of small epochs once in a program with a Spark session; prints the times of call and first commit."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from bench.floor.job import PARALLELISM, build, expected
from bench.tally import TallySink
from firesteel.common import Configuration
from firesteel.datastream import StreamExecutionEnvironment


def main() -> None:
    """Start a session, then time a job of one epoch from `execute` to its results."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{PARALLELISM},4]").config("spark.ui.enabled", "false")
    spark = builder.getOrCreate()
    sink = TallySink()
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        configuration = Configuration()
        configuration.set_string("firesteel.state-dir", str(Path(scratch) / "state"))
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(PARALLELISM)
        build(env, 1, 1, sink)
        called = time.time()
        env.execute("in-session")
    spark.stop()
    if (sink.results, sink.total) != expected(1, 1):
        sys.exit(f"{sink.results} results that sum up to {sink.total}")
    print(f"bench: {called} {sink.commits[0]}")


if __name__ == "__main__":
    main()
