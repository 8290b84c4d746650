"""The part: the same pattern on both systems, in turn, long matches, and many patterns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from bench.cep import flink
from bench.cep.events import LANES, MANY_KEYS, expected, expected_of_many
from bench.cep.report import FLINK, HOW, KEYS, LONG, PATTERNS, SYSTEMS, render, title, title_of_many
from bench.part import Case, Figures, Part, RunError
from bench.process import started

TIMEOUT_SECONDS: Final = 900
EVENTS: Final = (1_000_000, 4_000_000)
EVENTS_OF_MANY: Final = (200_000, 600_000)
LONG_KEYS: Final = 10
LENGTHS: Final = (25_000, 50_000, 100_000)
"""Events of a match; each is twice as many as the one before."""

_LEAST: Final = 1_000
_CASES: Final = {
    "python": "python",
    "text": "text",
    "events": "events",
    FLINK: "matches",
    "flink-events": "events",
}


def measure(system: str, keys: int, scale: float) -> dict[str, Figures]:
    """Run a case in its own process; figures are those of the events that the second run has more than the first."""
    name = title(system, keys)
    found = _runs(system, keys, _counts(EVENTS, scale))
    for run in found:
        _check(name, run, (0, 0) if system.endswith("events") else expected(keys, run["events"]))
    return {name: _further(name, *found)}


def measure_many(patterns: int, scale: float) -> dict[str, Figures]:
    """Run so many patterns on one stream, as `measure` does."""
    name = title_of_many(patterns)
    found = _runs(str(patterns), MANY_KEYS, _counts(EVENTS_OF_MANY, scale))
    for run in found:
        _check(name, run, expected_of_many(patterns, run["events"]))
    return {name: _further(name, *found)}


def _counts(given: Iterable[int], scale: float) -> list[int]:
    return [
        max(int(count * scale) // LANES * LANES, _LEAST * (place + 1)) for place, count in enumerate(given)
    ]


def _further(name: str, first: dict[str, Any], second: dict[str, Any]) -> Figures:
    """Return the figures of the events that the second run has more than the first."""
    events, seconds, cpu = (second[each] - first[each] for each in ("events", "seconds", "cpu"))
    if seconds <= 0:
        raise RunError(
            f"{name}: {second['events']} events took {second['seconds']} s, "
            f"and {first['events']} took {first['seconds']} s"
        )
    return {
        "events": second["events"],
        "rate": round(events / seconds),
        "cpu_us": round(cpu / events * 1e6, 3),
        "seconds": second["seconds"],
    }


def measure_long(scale: float) -> dict[str, Figures]:
    """Run matches of growing length in one process; a figure of each length for each of its events."""
    lengths = [max(int(length * scale), 100) for length in LENGTHS]
    found = _runs("long", LONG_KEYS, [LONG_KEYS * (length + 2) for length in lengths])
    for length, run in zip(lengths, found, strict=True):
        _check(LONG, run, (LONG_KEYS, LONG_KEYS * length))
    return {
        LONG: {
            "lengths": lengths,
            "seconds": [run["seconds"] for run in found],
            "cpu": [run["cpu"] for run in found],
            "bytes": [run["bytes"] for run in found],
        }
    }


def _runs(system: str, keys: int, counts: Iterable[int]) -> list[dict[str, Any]]:
    if system.startswith(FLINK):
        return flink.run(_CASES[system], keys, counts, TIMEOUT_SECONDS)
    command = ["-m", "bench.cep.program", system, "--keys", keys, "--counts", *counts]
    with started(title(system, keys), command, TIMEOUT_SECONDS) as process:
        output = process.output.read()
    found: list[dict[str, Any]] = json.loads(output.splitlines()[-1])
    return found


def _check(name: str, run: dict[str, Any], wanted: tuple[int, int]) -> None:
    if tuple(run["results"]) != wanted:
        raise RunError(
            f"{name}: {run['events']} events gave {run['results']} (matches, and their sum), not {wanted}"
        )


PART: Final = Part(
    name="cep",
    title="Patterns, beside Flink's CEP in Java",
    cases=(
        *(Case(f"{system} {keys}", partial(measure, system, keys)) for keys in KEYS for system in SYSTEMS),
        Case("long", measure_long),
        *(Case(f"many {patterns}", partial(measure_many, patterns)) for patterns in PATTERNS),
    ),
    render=render,
    how=HOW,
)
