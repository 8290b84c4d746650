"""The section of the page about growing state."""

from __future__ import annotations

from statistics import median
from typing import Final

from bench.nexmark.queries import BY_NAME
from bench.part import Figures, Runs
from bench.tables import table

LIMIT: Final = 1.5
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


def growth(figures: list[Figures]) -> float:
    """Return how many times the processor time an event costs after the state has grown."""
    return float(median(run["after_cpu_us"] / run["before_cpu_us"] for run in figures))


def most(runs: Runs) -> tuple[str, float] | None:
    """Return the query whose events become the most expensive, and how many times; None if nothing was measured."""
    found = {name: growth(figures) for name, figures in runs.items() if figures}
    return max(found.items(), key=lambda item: item[1]) if found else None


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each query."""
    header = [
        *("Query", "CPU µs an event", "ten times the events later", "times"),
        *("State, MiB", "later", "Peak memory, GiB", "later"),
    ]
    rows = [_row(name, figures) for name, figures in runs.items() if figures]
    said = f"Nexmark's queries on Firesteel: what an event costs (aim: later at most {LIMIT} times as much):"
    return ["## Growing state", "", said, "", *table(header, rows), ""]


def _row(name: str, figures: list[Figures]) -> list[str]:
    def shown(what: str, unit: float, digits: int) -> list[str]:
        values = (median(run[f"{when}_{what}"] for run in figures) for when in ("before", "after"))
        return [f"{value / unit:,.{digits}f}" for value in values]

    before, after = shown("cpu_us", 1, 2)
    times = f"{growth(figures):.2f}"
    sizes = [*shown("state_bytes", _MIB, 0), *shown("bytes", _GIB, 1)]
    return [f"{name}: {BY_NAME[name].title}", before, after, times, *sizes]


HOW: Final = """\
Queries of Nexmark whose state grows with their input, and q5, whose windows end, in STREAMING mode on Firesteel with
two subtasks, over the events of the comparison with Flink, from Parquet and in their order. An epoch reads 250,000
events: the next files arrive when those before have been read. A job over 500,000 events is run first and does not
count. A second one, in the same process, reads 5,500,000. Measured are the 500,000 events after the first 500,000, and
the 500,000 after the first 5,000,000: the processor time of all processes (Python, the JVM and the workers), as the
operating system counts it, per event. State is durable after every epoch; its size is that in the state directory at
the beginning of each of both. No compaction of state falls into these 22 epochs. Memory is the most that all processes
had together until the end of each; pages of the working copy on disk that are mapped into them count.
"""
