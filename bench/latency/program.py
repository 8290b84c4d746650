"""A window query of Nexmark on events that arrive by the clock: `python -m bench.latency.program q5` prints JSON.

Another process lets files of events arrive, each when its last event has happened. The results are collected: a row is
there once its epoch is committed. Its latency counts from the event with which the watermark can pass the window's end:
the first one so late that both subtasks have read one. It happens at its place in the schedule, even if it arrives
later.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from threading import Event
from typing import Any, Final

from bench import sql_systems
from bench.environments import CACHE
from bench.latency.arrivals import arrive
from bench.nexmark.events import RATE, ROUND, START
from bench.nexmark.queries import BY_NAME
from bench.nexmark.schema import DELAY_SECONDS, events
from bench.nexmark.slices import slices
from bench.process import started
from bench.usage import cpu_seconds
from firesteel.control.listeners import EpochStats
from firesteel.datastream.ambient import Ambient, surrounded_by

PER_SECOND: Final = 50_000
SLICE: Final = 5_000
"""Events of the files that arrive together."""

SECONDS: Final = 150
WARM_UP: Final = 30
"""The seconds of them whose windows do not count."""

WITH_END: Final = {
    "q5": ("SELECT AuctionBids.auction", "SELECT AuctionBids.endtime, AuctionBids.auction"),
    "q7": ("SELECT B.auction", "SELECT B1.`dateTime`, B.auction"),
}
"""What is replaced in a query so that its rows begin with the end of their window."""

EVERY_MS: Final = {"q5": 2_000, "q7": 10_000}
"""The event time between the ends of windows."""

_INTERVAL: Final = "50 ms"
_EPOCH: Final = dt.datetime(1970, 1, 1)
_PATIENCE_S: Final = 600


class Progress:
    """A listener that notes how long epochs take, and says when there was one."""

    def __init__(self) -> None:
        self.epochs: list[tuple[float, float]] = []
        self.begun = Event()

    def on_epoch(self, stats: EpochStats) -> None:
        """Note an epoch that has read events: when it was published, and its milliseconds."""
        if stats.records_in:
            self.epochs.append((time.time(), stats.duration_ms))
            self.begun.set()


def select(query: str) -> str:
    """Return the query whose rows begin with the end of their window."""
    return BY_NAME[query].select.replace(*WITH_END[query], 1)


def complete(end: int) -> float:
    """Return after how many events the watermark can pass the end of a window (milliseconds since 1970).

    >>> complete(int(START) + 10_000) / RATE
    14.004
    """
    return (end - 1 + DELAY_SECONDS * 1000 - int(START)) * RATE / 1000 + ROUND


def last_end(query: str, count: int) -> int:
    """Return the end of the last window that so many events complete."""
    every = EVERY_MS[query]
    ends = range(int(START) // every * every + every, int(START) + count * 1000 // RATE, every)
    return max(end for end in ends if complete(end) <= count)


def seen(query: str, rows: Iterator[Sequence[Any]], count: int) -> list[tuple[int, float]]:
    """Return the window's end and the moment of each row, until those of the last complete window are there."""
    last, found = last_end(query, count), list[tuple[int, float]]()
    for row in rows:
        end = round((row[0] - _EPOCH) / dt.timedelta(milliseconds=1))
        found.append((end, time.time()))
        if end == last:
            break
    return found


def figures(found: list[tuple[int, float]], start: float, warm_up: float) -> dict[str, Any]:
    """Return the latencies of the rows of windows that are complete after the warm-up, for events from a moment on."""
    latencies = [
        (at - start - complete(end) / PER_SECOND) * 1000
        for end, at in found
        if complete(end) / PER_SECOND >= warm_up
    ]
    hundredths = quantiles(latencies, n=100)
    return {
        "windows": len({end for end, _ in found if complete(end) / PER_SECOND >= warm_up}),
        "rows": len(latencies),
        "p50_ms": round(hundredths[49], 1),
        "p99_ms": round(min(hundredths[98], max(latencies)), 1),
        "max_ms": round(max(latencies), 1),
        "latencies_ms": [round(latency, 1) for latency in latencies],
    }


def run(query: str, seconds: int, warm_up: float, scratch: Path) -> dict[str, Any]:
    """Run the query on events of so many seconds, and return its latencies."""
    count = seconds * PER_SECOND
    folders = slices("json", count, SLICE)
    arrived = scratch / "events"
    arrived.mkdir()
    env = sql_systems.environment(
        sql_systems.FIRESTEEL.name, scratch, settings={"table.local-time-zone": "UTC"}
    )
    for statement in events(str(arrived), "json", "firesteel", _INTERVAL):
        env.execute_sql(statement)
    progress = Progress()
    with surrounded_by(Ambient(listeners=(progress,))), env.execute_sql(select(query)).collect() as rows:
        arrive(arrived, folders[0])
        if not progress.begun.wait(_PATIENCE_S):
            raise SystemExit(f"no event was read in {_PATIENCE_S} s")
        start, used = time.time() - SLICE / PER_SECOND, cpu_seconds(os.getpid())
        arguments = [arrived, folders[0].parent, start, SLICE / PER_SECOND]
        with started("arrivals", ["-m", "bench.latency.arrivals", *arguments], _PATIENCE_S):
            found = seen(query, rows, count)
            took, used = time.time() - start, cpu_seconds(os.getpid()) - used
    epochs = [ms for at, ms in progress.epochs if at >= start + warm_up]
    return figures(found, start, warm_up) | {
        "epoch_ms": round(median(epochs), 1),
        "cores": round(used / took, 2),
    }


def main() -> None:
    """Run the query that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.latency.program", description=__doc__)
    parser.add_argument("query", choices=WITH_END)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--warm-up", type=float, default=WARM_UP, help="seconds of them that do not count")
    arguments = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix="bench-latency-", dir=CACHE
    ) as scratch:  # hard links to the cache
        print(
            json.dumps(run(arguments.query, arguments.seconds, arguments.warm_up, Path(scratch))), flush=True
        )


if __name__ == "__main__":
    main()
