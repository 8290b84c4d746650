"""The job of streams, and what an uninterrupted run gives, computed without Firesteel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chaos.events import Event
from chaos.job import ChaosJob, Tables
from chaos.program import HIGH, LOW, SPAN_MS


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
        """Return the results of windows, timers and the pattern."""
        return expected_results(events, SPAN_MS)

    def in_tables(self, events: list[Event]) -> Tables:
        """Return the results, and the number of events of each key."""
        rows = [line.split(",") for line in self.results(events).elements()]
        results = ((kind, key, *map(int, numbers)) for kind, key, *numbers in rows)
        totals = {**expected_totals(events), "closing": 1}
        return {"results": Counter(results), "totals": Counter(totals.items())}


def expected_results(events: list[Event], span_ms: int) -> Counter[str]:
    """Return the lines of results: kind, key, start, count and sum."""
    return Counter([*_sums(events, span_ms), *_falls(events, span_ms)])


def _sums(events: list[Event], span_ms: int) -> Iterator[str]:
    sums: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    for event in events:
        entry = sums[event.key, event.time - event.time % span_ms]
        entry[0] += 1
        entry[1] += event.value
    for (key, start), (count, total) in sums.items():
        for kind in ("timer", "window"):
            yield f"{kind},{key},{start},{count},{total}"


def _falls(events: list[Event], span_ms: int) -> Iterator[str]:
    """Yield the lines of the pattern, found by looking at all later events of each high one."""
    by_key = defaultdict(list)
    for event in sorted(events, key=lambda event: (event.time, event.id)):
        by_key[event.key].append(event)
    for given in by_key.values():
        for place, high in enumerate(given):
            if high.value < HIGH:
                continue
            low = next((event for event in given[place + 1 :] if event.value <= LOW), None)
            if low is None or low.time - high.time >= span_ms:
                yield f"high,{high.key},{high.time},1,{high.value}"
            else:
                yield f"fall,{high.key},{high.time},2,{high.value + low.value}"


def expected_totals(events: list[Event]) -> dict[str, int]:
    """Return the number of events of each key."""
    return dict(Counter(event.key for event in events))
