"""The sections of the page about throughput and memory."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Final

from bench.measure import FIRESTEEL, PROCESS, THREAD
from bench.part import Runs
from bench.tables import table

ABOUT: Final = """\
## How throughput is measured

All systems do the same work on the same generated data, on one machine, in turn. Each run has its own process, with two
subtasks; nothing else runs. A figure is the median of the runs. It does not include start-up: the clock starts when the
first record is generated inside the running job, and stops when the last result has arrived. The result of every run is
checked: the number of results and the sum of their numbers must be correct.

- **Firesteel**: `local[2]`, the public API only. Its state is durable after every epoch (about a second), and the time
  includes this; the clock stops at the last commit.
- **PyFlink** from PyPI: typed edges, object reuse, bundles of 100,000 records, a cache of a million states, separate
  worker processes in process mode, state on the heap, no checkpoints.
- **Spark's transformWithState**, with rows and with pandas: `local[2]`, RocksDB with changelog checkpoints and
  micro-batches of 200,000 records. Its input is generated inside the JVM, and all records of a key in a batch
  arrive together, so that state is read and written once per key and batch. The time of its first record is unknown, so
  its first batch is left out.

Slower systems get fewer records, so that all runs take about the same time."""


@dataclass(frozen=True)
class Row:
    """One job in the tables, and its aim in records per second."""

    name: str
    title: str
    aim: int


def rates(runs: Runs) -> dict[str, float]:
    """Return the median rate of each system that has run."""
    return {title: median(run["rate"] for run in figures) for title, figures in runs.items() if figures}


def advantage(measured: dict[str, float]) -> str:
    """Return the ratio of Firesteel's rate to that of PyFlink's better mode; empty if one of them has not run."""
    flink = [measured[system.title] for system in (PROCESS, THREAD) if system.title in measured]
    return f"{measured[FIRESTEEL.title] / max(flink):.1f}" if flink and FIRESTEEL.title in measured else ""


def render_throughput(row: Row, runs: Runs) -> list[str]:
    """Return the section of one job."""
    measured = rates(runs)
    rows = [
        [
            title,
            f"{rate:,.0f}",
            f"{row.aim:,}" if title == FIRESTEEL.title else "",
            f"{runs[title][0]['records']:,}",
        ]
        for title, rate in measured.items()
    ]
    lines = [
        f"## Throughput: {row.title}",
        "",
        *table(["System", "Records per second", "Aim", "Records"], rows),
    ]
    times = advantage(measured)
    return (
        [*lines, "", f"Firesteel is {times} times as fast as PyFlink in its better mode.", ""]
        if times
        else [*lines, ""]
    )


def render_memory(runs: Runs) -> list[str]:
    """Return the section about memory."""
    rows = [
        [title, f"{median(sizes) / 2**20:,.0f} MiB"]
        for title, figures in runs.items()
        if (sizes := [run["worker_bytes"] for run in figures if run["worker_bytes"] is not None])
    ]
    return [
        "## A worker's memory",
        "",
        "Peak resident memory of the largest Firesteel Python worker, keyed count with 10,000 keys:",
        "",
        *table(["Records", "Peak"], rows),
        "",
    ]
