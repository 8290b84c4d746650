"""The parts of the benchmark: each query on the three systems, in turn, at a scale."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

from bench.part import Case, Figures, LateError, Part, RunError
from bench.sql_systems import FIRESTEEL, FLINK, SPARK, Runtime
from bench.tpch.answers import differences
from bench.tpch.data import QUERIES, folder
from bench.tpch.report import plot, render, title

TIMEOUT_SECONDS: Final = 300
SYSTEMS: Final = (FIRESTEEL, FLINK, SPARK)


def measure(size: int, query: int, scale: float) -> dict[str, Figures]:
    """Run a query on all systems, and compare their answers. Raises RunError if they differ."""
    tables = folder(size * scale)
    found = {system.title: _run(system, [tables, query]) for system in SYSTEMS}
    differing = differences([run.pop("rows") for run in found.values() if "rows" in run])
    if differing:
        raise RunError(f"q{query}: {', '.join(found)} have different answers: {differing[:3]}")
    return {title(size, query, name): run for name, run in found.items()}


def _run(system: Runtime, arguments: list[object]) -> dict[str, Any]:
    """Return the figures of a system; those of another one than Firesteel may be that it took too long."""
    try:
        return _finished(system, arguments)
    except LateError:
        if system is FIRESTEEL:
            raise
        return {"seconds": TIMEOUT_SECONDS, "stopped": True}


def _finished(system: Runtime, arguments: list[object]) -> dict[str, Any]:
    command = ["-m", "bench.tpch.program", system.name, *arguments]
    with system.started(f"q{arguments[-1]}", command, TIMEOUT_SECONDS, TZ="UTC") as process:
        output = process.output.read()
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


ABOUT: Final = """\
## How TPC-H is measured

The 22 queries of [TPC-H](https://www.tpc.org/tpch/) in BATCH mode on two cores, over the same files of Parquet: tables
and texts of queries are those of DuckDB's extension; of each table there are two files. Two texts are changed for all
systems: `value` has another name in q11, and q15 groups by a column in place of its alias. Each query runs in a process
of its own, once without being counted, then three times (fewer if it is slow; a run of a minute counts at once),
and the figure is the median. A system is stopped when it has taken five minutes, which count then. The answers of the
systems are compared; quotients may differ in their last digits.

Firesteel and Flink order joins by the sizes of the tables; Flink (from the `apache-flink` package) has 3 GiB for hash
tables and sorts, and object reuse; Spark SQL has a heap of 8 GiB, adaptive execution, and four partitions.
"""


def _part(size: int, name: str) -> Part:
    return Part(
        name=name,
        title=f"TPC-H at scale {size}, beside Flink and Spark SQL",
        cases=tuple(Case(f"q{query} scale {size}", partial(measure, size, query)) for query in QUERIES),
        render=partial(render, size=size),
        how=f"As text, the tables of this scale have {size} GB. Below is how they are read.",
        plot=partial(plot, size=size),
        runs=1,
    )


PARTS: Final = (_part(1, "tpch"), _part(10, "tpch-10"))
"""A part for each scale, so that the figures of one stay when the other is measured."""
