"""The section of the page about patterns."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from bench.part import Figures, Runs, middle
from bench.tables import table

KEYS: Final = (1_000, 100_000)
PATTERNS: Final = (1, 10, 100, 1_000)
AIMS: Final = {1_000: 200_000, 100_000: 100_000}
FLINK: Final = "flink"
SYSTEMS: Final = {
    "python": "Firesteel, conditions in Python",
    "text": "Firesteel, a text, compiled",
    FLINK: "Flink CEP, in Java",
    "events": "Firesteel, the events alone",
    "flink-events": "Flink, the events alone",
}
LONG: Final = "long matches"
LIMIT: Final = 2.1
_OURS: Final = ("python", "text")
_MIB: Final = 1 << 20


def title(system: str, keys: int) -> str:
    """Return the title of the runs of a system."""
    return f"{system}, {keys:,} keys"


def title_of_many(patterns: int) -> str:
    """Return the title of the runs of so many patterns."""
    return f"{patterns:,} of many patterns"


def rate(runs: Runs, system: str, keys: int) -> float | None:
    """Return a system's events per second; None if it was not measured."""
    figures = runs.get(title(system, keys), [])
    return middle(figures, "rate") if figures else None


def doubling(figures: list[Figures]) -> float:
    """Return how many times the processor time of the events before the last doubling of the length costs.

    What a job costs besides its events is in all runs, so the differences between them are compared.

    >>> doubling([{"cpu": [3.0, 5.0, 9.0]}])
    2.0
    """
    first, second = (after - before for before, after in pairwise(_middles(figures, "cpu")))
    return second / first


def _middles(figures: list[Figures], name: str) -> list[float]:
    return [sorted(values)[len(values) // 2] for values in zip(*(run[name] for run in figures), strict=True)]


def render(runs: Runs) -> list[str]:
    """Return the section: rates for each number of keys, and long matches."""
    header = ["A, then B within 10 seconds", "Keys", "Events/s", "CPU µs an event", "times Flink", "Aim"]
    rows = []
    for keys in KEYS:
        theirs = rate(runs, FLINK, keys)
        for system, name in SYSTEMS.items():
            figures = runs.get(title(system, keys), [])
            if not figures:
                continue
            ours = system in _OURS
            measured = middle(figures, "rate")
            times = f"{measured / theirs:.1f}" if ours and theirs else ""
            aim = f"{AIMS[keys]:,}" if ours else ""
            rows.append(
                [name, f"{keys:,}", f"{measured:,.0f}", f"{middle(figures, 'cpu_us'):.2f}", times, aim]
            )
    return ["## Patterns", "", *table(header, rows), "", *_long(runs.get(LONG, [])), *_many(runs)]


def _many(runs: Runs) -> list[str]:
    found = {each: runs[title_of_many(each)] for each in PATTERNS if title_of_many(each) in runs}
    if not found:
        return []
    alone = middle(found[1], "cpu_us") if 1 in found else None
    rows = []
    for patterns, figures in found.items():
        cpu = middle(figures, "cpu_us")
        times = f"{cpu / alone:.1f}" if alone else ""
        rows.append([f"{patterns:,}", f"{middle(figures, 'rate'):,.0f}", f"{cpu:.2f}", times])
    return [
        "Many patterns on one stream:",
        "",
        *table(["Patterns", "Events/s", "CPU µs an event", "times one pattern"], rows),
        "",
    ]


def _long(figures: list[Figures]) -> list[str]:
    if not figures:
        return []
    columns = (figures[0]["lengths"], *(_middles(figures, name) for name in ("seconds", "cpu", "bytes")))
    rows = [
        [f"{length:,}", f"{seconds:.1f}", f"{cpu:.1f}", f"{size / _MIB:,.0f}"]
        for length, seconds, cpu, size in zip(*columns, strict=True)
    ]
    said = f"The last doubling costs {doubling(figures):.2f} times the processor time (limit: {LIMIT}):"
    return [
        said,
        "",
        *table(["Events of a match", "Seconds", "CPU seconds", "Largest worker, MiB"], rows),
        "",
    ]


HOW: Final = """\
An event is a key, a kind and a number. One in ten is an A, one in ten a B; kinds are drawn once, keys take turns. Event
time passes by 100 events a millisecond, so at 1,000 keys a key has 100 events a second and at 100,000 keys one. The
pattern is A followed by B within 10 seconds. Both systems have two subtasks, generate the same events in memory by the
same formula, each subtask every other one, and emit watermarks of event time as it rises. The rows *the events alone*
have all that but the pattern: generated, stamped, brought to their keys, and dropped. The matches are counted, and the
number of events between the two of each added up; both are checked against a computation without either system.

Flink is the jars of the `apache-flink` package, with the CEP library and a [Java
program](../bench/cep/FlinkMatches.java): object reuse, state on the heap, no checkpoints. Firesteel's state is durable
after every epoch. A process runs a case with few events and with many, after a run that does not count; the rate is
that of the further events, so neither the start of a job nor a cold JVM counts. Processor time is that of all
processes.

**Long matches**: one match for each of ten keys: an A, then x and x again, taken by `one_or_more().greedy()`, then B.
Processor time is compared by differences, as each run also has the cost of a job. A worker's memory is the peak
resident memory of the largest Python worker of that run and those before it.

**Many patterns**: `CEP.patterns` with texts, at 1,000 keys. There are 2,000 kinds of events; pattern i is an event of
kind 2i followed by one of kind 2i + 1 within a second of the same key. So many jobs would cost so many times one
pattern.
"""
