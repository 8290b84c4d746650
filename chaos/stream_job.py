"""The job of streams, and what an uninterrupted run gives, computed without Firesteel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chaos.events import Event
from chaos.job import ChaosJob, Tables
from chaos.program import SPAN_MS


class StreamJob(ChaosJob):
    """Runs `chaos.program`."""

    tables: Final = (
        "CREATE TABLE results (kind text, key text, start bigint, count bigint, total bigint)",
        "CREATE TABLE totals (key text PRIMARY KEY, count bigint)",
    )

    def command(self, directory: Path, database: str) -> tuple[str, list[str]]:
        """Return `run`, and the program with its arguments."""
        places = [str(directory / name) for name in ("input", "output")]
        return "run", ["chaos/program.py", "--", *places, database]

    def state(self, directory: Path) -> Path:
        """Return the state directory itself."""
        return directory

    def results(self, events: list[Event]) -> Counter[str]:
        """Return the results of windows and timers."""
        return expected_results(events, SPAN_MS)

    def in_tables(self, events: list[Event]) -> Tables:
        """Return the results, and the number of events of each key."""
        rows = [line.split(",") for line in self.results(events).elements()]
        results = ((kind, key, *map(int, numbers)) for kind, key, *numbers in rows)
        totals = {**expected_totals(events), "closing": 1}
        return {"results": Counter(results), "totals": Counter(totals.items())}


def expected_results(events: list[Event], span_ms: int) -> Counter[str]:
    """Return the lines of results: kind, key, start, count and sum."""
    sums: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    for event in events:
        entry = sums[event.key, event.time - event.time % span_ms]
        entry[0] += 1
        entry[1] += event.value
    return Counter(_result_lines(sums))


def expected_totals(events: list[Event]) -> dict[str, int]:
    """Return the number of events of each key."""
    return dict(Counter(event.key for event in events))


def _result_lines(sums: dict[tuple[str, int], list[int]]) -> Iterator[str]:
    for (key, start), (count, total) in sums.items():
        for kind in ("timer", "window"):
            yield f"{kind},{key},{start},{count},{total}"
