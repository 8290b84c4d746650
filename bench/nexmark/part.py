"""The part of the benchmark: each query on both systems, in turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench.environments import flink_jars
from bench.nexmark.events import ROUND
from bench.nexmark.files import FORMATS, folder
from bench.nexmark.queries import QUERIES, Query
from bench.nexmark.report import plot, render, title
from bench.nexmark.side import write_derby
from bench.part import Case, Figures, Part, RunError
from bench.sql_systems import FIRESTEEL, FLINK, Runtime

TIMEOUT_SECONDS: Final = 1200
EVENTS: Final = (500_000, 2_500_000)
LEAST: Final = 1000


def measure(system: Runtime, query: Query, scale: float) -> dict[str, Figures]:
    """Run a query in its own process, over files of each format; `rate` is in events per second.

    Rate and processor time are those of the events which the second run has more than the first.
    """
    few, many = (
        max(int(count * scale) // ROUND * ROUND, LEAST * (place + 1)) for place, count in enumerate(EVENTS)
    )
    found = program(system, query, [f"{kind}={folder(kind, few)},{folder(kind, many)}" for kind in FORMATS])
    return {
        title(query.name, kind, system.title): _figures(f"{system.title}: {query.name}", many - few, figures)
        for kind, figures in found.items()
    }


def program(system: Runtime, query: Query, arguments: list[str]) -> Mapping[str, Any]:
    """Run `bench.nexmark.program`, and return what it prints."""
    if system is FLINK:
        jars = flink_jars()
        for given in arguments:
            for one in given.partition("=")[2].split(","):
                if one:
                    write_derby(Path(f"{one}-side.jar"), jars)
    command = ["-m", "bench.nexmark.program", system.name, query.name, *arguments]
    with system.started(query.name, command, TIMEOUT_SECONDS, TZ="UTC") as process:
        output = process.output.read()
    found: Mapping[str, Any] = json.loads(output.splitlines()[-1])
    return found


def answers(query: Query, scale: float) -> dict[str, Figures]:
    """Compare the answers of both systems over the same files. Raises RunError if they differ."""
    count = max(int(EVENTS[0] * scale) // ROUND * ROUND, LEAST)
    folders = [f"{kind}={folder(kind, count)}" for kind in FORMATS]
    ours, theirs = (program(system, query, [*folders, "--answer"]) for system in (FIRESTEEL, FLINK))
    if len({json.dumps(found) for each in (ours, theirs) for found in each.values()}) > 1:
        raise RunError(f"{query.name}: {dict(ours)}, but Flink has {dict(theirs)}")
    return {f"{query.name}, answers": {"events": count, "rows": int(next(iter(ours.values()))[0])}}


def _figures(who: str, events: int, figures: Mapping[str, Any]) -> Figures:
    (short, long), (few_cpu, many_cpu) = figures["seconds"], figures["cpu"]
    if long <= short:
        raise RunError(f"{who}: more events took {long} s, few {short} s")
    return {
        "rate": round(events / (long - short)),
        "cpu_us": round((many_cpu - few_cpu) / events * 1e6, 3),
        "bytes": figures["bytes"],
        "seconds": long,
        "first_seconds": short,
    }


HOW: Final = """\
The queries of [Nexmark](https://github.com/nexmark/nexmark) in STREAMING mode, with two subtasks, over the same files:
events in the standard proportions (one person, three auctions, 46 bids), 10,000 for each second of event time, from a
seeded generator, in two files that each have every other round of 50 events. Queries read the wide row of all three
kinds by views; results go to `blackhole`, those of q10 to files. A process runs a query with few events and with many,
after a run that does not count; the rate is that of the further events, so neither the start of a job nor a cold JVM
counts. Memory is the most that all processes of a system had together in the run with many events.

Firesteel's state is durable after every epoch; epochs aim at 2 s. Flink (from the `apache-flink` package) has
mini-batches (2 s, 50,000 rows), two-phase and split aggregates, object reuse, and state on the heap without
checkpoints; q10, which writes files, has a checkpoint every second, without which its files never appear.

The answers are compared with Flink's over the same files: the number of rows, and a sum of each column. q14 counts a
letter by `CHAR_LENGTH` and `REPLACE` on both systems, in place of a function of the user. q13 looks rows up in a
database within the processes, by the connector `jdbc` with a partial cache of 10,000 rows: SQLite on Firesteel, Derby
on Flink, whose connector does not know SQLite. Flink's SQL does not plan q6; tests compare Firesteel's answer with that
of its BATCH mode and with DuckDB's. q12 has windows of processing time, so its answers depend on when it runs. Which of
two rows with equal times (q18) or prices (q9, q19) comes first
depends on the order in which files are read; columns that depend on it are not compared.
"""

PART: Final = Part(
    name="nexmark",
    title="Nexmark, beside Flink's own runtime",
    cases=tuple(
        Case(f"{query.name} {system.name}", partial(measure, system, query))
        for query in QUERIES
        for system in (FIRESTEEL, FLINK)
        if system is FIRESTEEL or not query.refused
    )
    + tuple(
        Case(f"{query.name} answers", partial(answers, query))
        for query in QUERIES
        if not (query.refused or query.unchecked)
    ),
    render=render,
    how=HOW,
    plot=plot,
    runs=1,
)
