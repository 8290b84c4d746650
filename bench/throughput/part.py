"""The parts: each job, the aims, and the number of records for each system, so that a run takes about 7 s."""

from __future__ import annotations

from functools import partial
from typing import Final

from bench.measure import FIRESTEEL, PANDAS, PROCESS, ROWS, THREAD, measure
from bench.part import Case, Figures, Part
from bench.process import System
from bench.throughput.report import Row, render_memory, render_throughput
from bench.workload import Job


def _run(system: System, kind: str, keys: int, records: int, scale: float) -> dict[str, Figures]:
    return {system.title: measure(system, Job(kind, keys, int(records * scale)).rounded())}


def _part(row: Row, kind: str, keys: int, records: dict[System, int], how: str) -> Part:
    cases = tuple(
        Case(" ".join(filter(None, (system.module, system.mode))), partial(_run, system, kind, keys, count))
        for system, count in records.items()
    )
    return Part(row.name, row.title, cases, partial(render_throughput, row), how)


MAP: Final = Row("map", "map over tuples", 1_500_000)
COUNT_1K: Final = Row("count-1k", "keyed count, 1,000 keys", 800_000)
COUNT_1M: Final = Row("count-1m", "keyed count, 1,000,000 keys", 250_000)
WINDOW: Final = Row("window", "tumbling window count, 1,000 keys", 600_000)
SLIDING: Final = Row("sliding", "sliding window count, 6 panes, 1,000 keys", 150_000)
SESSION: Final = Row("session", "session window count, 1,000 keys", 150_000)
REDUCE: Final = Row("reduce", "reduce on a keyed stream, 1,000 keys", 800_000)
TIMERS: Final = Row("timers", "an event-time timer per record, 1,000 keys", 250_000)

ROWS_OF_ALL: Final = (MAP, COUNT_1K, COUNT_1M, WINDOW, SLIDING, SESSION, REDUCE, TIMERS)

_COUNT: Final = """\
`key_by`, then a `KeyedProcessFunction` that reads and writes a `ValueState` for every record. A key's count is emitted
when it is complete, so that the benchmark measures state and not output."""

_PARTS: Final = (
    _part(
        MAP,
        "map",
        1000,
        {FIRESTEEL: 14_000_000, PROCESS: 900_000, THREAD: 700_000},
        "Tuples are generated, mapped to other tuples, and sent to a sink.",
    ),
    _part(
        COUNT_1K,
        "count",
        1000,
        {FIRESTEEL: 5_500_000, PROCESS: 270_000, THREAD: 150_000, ROWS: 600_000, PANDAS: 600_000},
        _COUNT,
    ),
    _part(
        COUNT_1M,
        "count",
        1_000_000,
        {FIRESTEEL: 2_000_000, PROCESS: 10_000, THREAD: 150_000, ROWS: 80_000},
        f"{_COUNT} If there are fewer records than keys, every record has its own key, and the system holds "
        "correspondingly less state.",
    ),
    _part(
        WINDOW,
        "window",
        1000,
        {FIRESTEEL: 5_000_000, PROCESS: 100_000, THREAD: 100_000},
        "`key_by`, event-time windows of one second with 100 records per key, an `AggregateFunction` and a "
        "`WindowFunction`.",
    ),
    _part(
        SLIDING,
        "sliding",
        1000,
        {FIRESTEEL: 1_000_000, PROCESS: 20_000, THREAD: 40_000},
        "`key_by`, event-time windows of six seconds that start every second, so that a record belongs to six of them, "
        "with 20 records per key and second; an `AggregateFunction` and a `WindowFunction`.",
    ),
    _part(
        SESSION,
        "session",
        1000,
        {FIRESTEEL: 1_000_000, PROCESS: 20_000, THREAD: 40_000},
        "`key_by`, sessions that end after half a second without a record; each has 20 records within a second, and "
        "then its key is silent for another second. An `AggregateFunction` and a `WindowFunction`.",
    ),
    _part(
        REDUCE,
        "reduce",
        1000,
        {FIRESTEEL: 5_500_000, PROCESS: 250_000, THREAD: 120_000},
        "`key_by`, then `reduce` with a function that adds. It emits one result per record, as in Flink, and all "
        "results reach the sink.",
    ),
    _part(
        TIMERS,
        "timers",
        1000,
        {FIRESTEEL: 1_600_000, PROCESS: 60_000, THREAD: 40_000},
        "`key_by`, then a `KeyedProcessFunction` that registers an event-time timer for every record, ten seconds "
        "later, with no two at the same time, and emits a result when the timer fires.",
    ),
)

MEMORY_KEYS: Final = 10_000
MEMORY_RECORDS: Final = (1_000_000, 10_000_000)


def _memory(records: int, scale: float) -> dict[str, Figures]:
    job = Job("count", MEMORY_KEYS, int(records * scale)).rounded()
    return {f"{records:,}": measure(FIRESTEEL, job)}


_MEMORY: Final = Part(
    "memory",
    "A worker's memory",
    tuple(Case(str(records), partial(_memory, records)) for records in MEMORY_RECORDS),
    render_memory,
    "The peak resident memory of the largest Python worker, as the operating system reports it (VmHWM).",
    runs=1,
)

PARTS: Final = (*_PARTS, _MEMORY)
