"""The section of the page about Kafka."""

from __future__ import annotations

from typing import Final

from bench.part import Runs, middle
from bench.sql_systems import FIRESTEEL, FLINK
from bench.tables import table

TITLES: Final = {
    "columns": "JSON to typed columns (SQL)",
    "records": "JSON to rows in Python",
    "exactly-once": "written exactly once",
    "at-least-once": "written at least once",
}
AIMS: Final = {"columns": 400_000, "records": 250_000, "exactly-once": 150_000}
_LATENCIES: Final = ("p50_ms", "p99_ms", "max_ms")


def rate(runs: Runs, case: str, system: str) -> float | None:
    """Return the messages per second of a case; None if it was not measured."""
    figures = runs.get(f"{case}, {system}", [])
    return middle(figures, "rate") if figures else None


def render(runs: Runs) -> list[str]:
    """Return the section: the rates, and the latencies."""
    header = ["Messages of 200 bytes", "Firesteel, messages/s", "PyFlink", "times as fast", "Aim"]
    rows = []
    for case, title in TITLES.items():
        ours, theirs = (rate(runs, case, system.title) for system in (FIRESTEEL, FLINK))
        shown = ["" if found is None else f"{found:,.0f}" for found in (ours, theirs)]
        ratio = f"{ours / theirs:.1f}" if ours and theirs else ""
        rows.append([title, *shown, ratio, f"{AIMS[case]:,}" if case in AIMS else ""])
    late = [
        [system.title, *(f"{middle(figures, name):,.0f}" for name in _LATENCIES)]
        for system in (FIRESTEEL, FLINK)
        if (figures := runs.get(f"latency, {system.title}", []))
    ]
    latencies = table(["From record to committed result, ms", "p50", "p99", "Longest"], late)
    return ["## Kafka", "", *table(header, rows), "", *latencies, ""]


HOW: Final = """\
A broker of Kafka (KRaft, one process, a heap of 384 MiB) runs on the same two cores as the system, so figures are
shares. Topics have two partitions, and both systems two subtasks; the programs are written with PyFlink's names and
are the same. Messages are JSON objects of 200 bytes with six fields. SQL reads them into columns for `blackhole`; the
DataStream program reads rows with `JsonRowDeserializationSchema` and gives each to a function in Python. The sinks
write texts that a function in Python makes of numbers; the messages in the topic are counted, and none may be missing
or, exactly once, there twice. A process reads or writes few messages and then five times as many, after a run that does
not count; the rate is that of the further messages.

Firesteel's state and offsets are durable after every epoch. PyFlink has object reuse, bundles of 100,000 records and no
checkpoints where it reads; where it writes, one every second.

Latency: another process appends 10,000 records a second and reads the results with `read_committed`. Between the topics
is a `KeyedProcessFunction` that counts the records of 1,000 keys, and the sink writes exactly once. Latency is from
just before the record is given to the producer to when its result is read. The first 20 seconds do not count. PyFlink
has checkpoints every second, with which its transactions end, bundles of 10 ms and a buffer timeout of 5 ms.
"""
