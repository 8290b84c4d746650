"""The section of the page on SQL."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from bench.environments import flink_jars, pyflink_python
from bench.measure import SAMPLE_SECONDS, PeakMemory
from bench.part import Case, Figures, Part, RunError, Runs
from bench.process import sampling, started
from bench.sql.epochs import EPOCHS, ROWS, WARM_UP
from bench.sql.queries import QUERIES, Query
from bench.tables import table

TIMEOUT_SECONDS: Final = 900

SIZES: Final = (1_000, 1_000_000, 10_000_000)
"""Groups in state, for small epochs."""

LEAST_EPOCHS: Final = 5
AIM_MS: Final = 100


@dataclass(frozen=True)
class Runtime:
    """A system that runs SQL."""

    title: str
    name: str
    python: Callable[[], Path]


FIRESTEEL: Final = Runtime("Firesteel", "firesteel", lambda: Path(sys.executable))
FLINK: Final = Runtime("Flink SQL", "flink", pyflink_python)


def measure(system: Runtime, query: Query, scale: float) -> dict[str, Figures]:
    """Run a query in its own process; `rate` is that of the rows which its second run has more than its first."""
    command = ["-m", "bench.sql.program", system.name, query.name, "--scale", scale]
    surroundings = {"FIRESTEEL_BENCH_FLINK_JARS": flink_jars()} if system is FLINK else {}
    who = f"{system.title}: {query.title}"
    with started(who, command, TIMEOUT_SECONDS, system.python(), surroundings) as process:
        peak = PeakMemory(process.pid)
        with sampling(peak.look, SAMPLE_SECONDS):
            output = process.output.read()
    measured = json.loads(output.splitlines()[-1])
    (few, many), (short, long) = measured["rows"], measured["seconds"]
    if long <= short:
        raise RunError(f"{who}: {many} rows took {long} s, and {few} rows {short} s")
    rate = round((many - few) / (long - short))
    figures: Figures = {"rows": many, "seconds": long, "first_seconds": short, "rate": rate}
    if system is FIRESTEEL:
        figures["worker_bytes"] = peak.bytes
    return {f"{query.title}, {system.title}": figures}


def small_epochs(keys: int, scale: float) -> dict[str, Figures]:
    """Measure epochs of 1,000 rows that change 1,000 of `keys` groups."""
    size = max(int(keys * scale), ROWS)
    count = max(round(EPOCHS * min(scale, 1)), LEAST_EPOCHS)
    options = ["--keys", size, "--epochs", count, "--warm-up", max(round(WARM_UP * min(scale, 1)), 1)]
    with started("SQL, small epochs", ["-m", "bench.sql.epochs", *options], TIMEOUT_SECONDS) as process:
        output = process.output.read()
    return {_small(size): json.loads(output.splitlines()[-1])}


def _small(keys: int) -> str:
    return f"small epochs, {keys:,} keys"


def ratios(runs: Runs) -> dict[str, float]:
    """Return how many times Flink's rate Firesteel's is, by query."""
    found = {}
    for query in QUERIES:
        ours, theirs = (
            [run["rate"] for run in runs.get(f"{query.title}, {system.title}", [])]
            for system in (FIRESTEEL, FLINK)
        )
        if ours and theirs:
            found[query.name] = median(ours) / median(theirs)
    return found


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each query."""
    times = ratios(runs)
    rows = []
    for query in QUERIES:
        cells = []
        for system in (FIRESTEEL, FLINK):
            figures = runs.get(f"{query.title}, {system.title}", [])
            cells.append(f"{median(run['rate'] for run in figures):,.0f}" if figures else "")
        ratio = f"{times[query.name]:.1f}" if query.name in times else ""
        rows.append([query.title, *cells, ratio, str(query.aim)])
    header = ["Query", "Firesteel, rows/s", "Flink SQL, rows/s", "times as fast", "aim"]
    return ["## SQL", "", *table(header, rows), "", *_epochs(runs)]


def _epochs(runs: Runs) -> list[str]:
    figures = [
        found for name, found in runs.items() if name.startswith(_small(0).partition(",")[0]) and found
    ]
    if not figures:
        return []
    names = ("keys", "median_ms", "p95_ms", "run_bytes", "manifest_bytes")
    rows = [[f"{median(run[name] for run in found):,.0f}" for name in names] for found in figures]
    header = [
        "Groups in state",
        "Epoch, median ms",
        "95th percentile",
        "Bytes of changes",
        "Bytes of the manifest",
    ]
    said = f"Epochs of {ROWS:,} rows that change {ROWS:,} groups, with one exchange (aim: {AIM_MS} ms):"
    return [said, "", *table(header, rows), ""]


HOW: Final = """\
The same statements on both systems, in STREAMING mode, with two subtasks, in turn. A process runs a query with few
rows and with many, after a run that does not count; the rate is that of the further rows, so that neither the start of
a job nor a cold JVM counts. Firesteel's state is durable after every epoch. Flink (from the `apache-flink` package) has
mini-batches, two-phase aggregation, object reuse and state on the heap, without checkpoints; the query that writes
files has a checkpoint every second, without which its files never appear. Rows are generated by `datagen` from a
sequence, and go to `blackhole`; the file query reads JSON lines and writes Parquet, exactly once, and the number of
rows in its files is checked.

**Small epochs**: `GROUP BY` again, on Firesteel alone. Each group gets a row in few large epochs; then the query is
stopped, and started again over its state with epochs of exactly 1,000 rows, in which each row changes another group.
The first 30 of them are left out. The time of an epoch is that from its planning to its publication.
"""

PART: Final = Part(
    name="sql",
    title="SQL, beside Flink's own runtime",
    cases=tuple(
        Case(f"{query.name} {system.name}", partial(measure, system, query))
        for query in QUERIES
        for system in (FIRESTEEL, FLINK)
    )
    + tuple(Case(_small(keys), partial(small_epochs, keys)) for keys in SIZES),
    render=render,
    how=HOW,
)
