"""What is measured: the parts, and how many records each system gets so that a run takes about 10 seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.environments import pyflink_python, spark_python
from bench.workload import Job


@dataclass(frozen=True)
class System:
    """One column of the table: a module of bench.systems, its mode, and the interpreter it needs."""

    title: str
    module: str
    mode: str
    python: Callable[[], Path]


FIRESTEEL: Final = System("Firesteel", "firesteel", "", lambda: Path(sys.executable))
PROCESS: Final = System("PyFlink, process mode", "pyflink", "process", pyflink_python)
THREAD: Final = System("PyFlink, thread mode", "pyflink", "thread", pyflink_python)
ROWS: Final = System("Spark, transformWithState", "spark_state", "rows", spark_python)
PANDAS: Final = System("Spark, transformWithStateInPandas", "spark_state", "pandas", spark_python)

SYSTEMS: Final = (FIRESTEEL, PROCESS, THREAD, ROWS, PANDAS)


@dataclass(frozen=True)
class Part:
    """One row of the table; `records` of a system are those of one run."""

    name: str
    title: str
    kind: str
    keys: int
    records: dict[System, int]

    def job(self, system: System, scale: float) -> Job:
        """The work of one run."""
        return Job(self.kind, self.keys, int(self.records[system] * scale)).rounded()


PARTS: Final = (
    Part("map", "map over tuples", "map", 1000, {FIRESTEEL: 10_000_000, PROCESS: 1_000_000, THREAD: 800_000}),
    Part(
        "count-1k",
        "keyed count, 1,000 keys",
        "count",
        1000,
        {FIRESTEEL: 8_000_000, PROCESS: 300_000, THREAD: 300_000, ROWS: 600_000, PANDAS: 600_000},
    ),
    Part(
        "count-1m",
        "keyed count, 1,000,000 keys",
        "count",
        1_000_000,
        {FIRESTEEL: 3_000_000, PROCESS: 20_000, THREAD: 300_000, ROWS: 80_000, PANDAS: 30_000},
    ),
    Part(
        "window",
        "tumbling window count, 1,000 keys",
        "window",
        1000,
        {FIRESTEEL: 8_000_000, PROCESS: 200_000, THREAD: 200_000},
    ),
)

MEMORY_KEYS: Final = 10_000
MEMORY_RECORDS: Final = (1_000_000, 10_000_000)


def memory_job(records: int, scale: float) -> Job:
    """The keyed count whose workers' memory is looked at."""
    return Job("count", MEMORY_KEYS, int(records * scale)).rounded()
