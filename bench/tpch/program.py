"""Runs one query of TPC-H on one system, several times, and prints its figures and its answer as one line of JSON.

python -m bench.tpch.program SYSTEM FOLDER QUERY
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench import sql_systems
from bench.process import sampling
from bench.tpch.answers import as_json
from bench.tpch.data import TABLES, definitions, query
from bench.usage import PeakOfTree, cpu_seconds

Run = Callable[[str], list[Any]]
"""Runs a statement, and returns its rows."""

_SAMPLE_SECONDS: Final = 0.25
_RUNS: Final = 3
_ENOUGH_SECONDS: Final = 30.0
"""A query that has taken so long altogether is not run again."""

_LONG_SECONDS: Final = 60.0
"""A first run counts if it takes so long that the start of a system is little of it."""

_FLINK: Final = {
    "taskmanager.memory.managed.size": "3g",
    "taskmanager.memory.network.min": "512m",
    "taskmanager.memory.network.max": "512m",
    "execution.batch.adaptive.auto-parallelism.max-parallelism": sql_systems.PARALLELISM,
    "execution.batch.adaptive.auto-parallelism.default-source-parallelism": sql_systems.PARALLELISM,
}
"""In favour of Flink: memory for its hash tables and sorts."""

_BOTH: Final = {"table.local-time-zone": "UTC", "table.optimizer.join-reorder-enabled": "true"}

_SPARK: Final = {
    "spark.driver.memory": "8g",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""In favour of Spark: memory, and as few tasks as two cores need."""


def spark(folder: Path) -> Run:
    """Return what runs statements on Spark SQL over the tables of a folder."""
    builder = importlib.import_module("pyspark.sql").SparkSession.builder
    builder = builder.master(f"local[{sql_systems.PARALLELISM}]")
    for key, value in _SPARK.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    for table in TABLES:
        session.read.parquet(str(folder / table)).createOrReplaceTempView(table)
    return lambda sql: list(session.sql(sql).collect())


def flinks_sql(system: str, folder: Path, scratch: Path) -> Run:
    """Return what runs statements on Firesteel or on Flink over the tables of a folder."""
    env = sql_systems.environment(system, scratch, _FLINK, _BOTH, batch=True)
    for statement in definitions(folder):
        env.execute_sql(statement)

    def run(sql: str) -> list[Any]:
        with env.execute_sql(sql).collect() as rows:
            return list(rows)

    return run


def measured(run: Run, sql: str) -> dict[str, Any]:
    """Run a statement until there are enough figures; the first run counts only if it is a long one."""
    peak = PeakOfTree(os.getpid())
    with sampling(peak.look, _SAMPLE_SECONDS):
        used = cpu_seconds(os.getpid())
        took, rows = _timed(run, sql)
        if took < _LONG_SECONDS:
            used = cpu_seconds(os.getpid())
            took, _ = _timed(run, sql)
        seconds = [took]
        while len(seconds) < _RUNS and sum(seconds) < _ENOUGH_SECONDS:
            took, _ = _timed(run, sql)
            seconds.append(took)
    return {
        "seconds": round(median(seconds), 3),
        "cpu": round((cpu_seconds(os.getpid()) - used) / len(seconds), 2),
        "bytes": peak.bytes,
        "rows": as_json(rows),
    }


def _timed(run: Run, sql: str) -> tuple[float, list[Any]]:
    began = time.perf_counter()
    rows = run(sql)
    return time.perf_counter() - began, rows


def main() -> None:
    """Run the query that the command line names."""
    system, folder, number = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    scratch = Path(tempfile.mkdtemp(prefix="firesteel-bench-"))
    try:
        run = spark(folder) if system == "spark" else flinks_sql(system, folder, scratch)
        found = measured(run, query(folder, number))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
