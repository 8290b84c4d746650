"""The part: the same pattern on both systems, in turn, and long matches."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from bench.cep import flink
from bench.cep.events import LANES, expected
from bench.cep.report import FLINK, HOW, KEYS, LONG, SYSTEMS, render, title
from bench.part import Case, Figures, Part, RunError
from bench.process import started

TIMEOUT_SECONDS: Final = 900
EVENTS: Final = (1_000_000, 4_000_000)
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
    few, many = (
        max(int(count * scale) // LANES * LANES, _LEAST * (place + 1)) for place, count in enumerate(EVENTS)
    )
    found = _runs(system, keys, (few, many))
    name = title(system, keys)
    for run in found:
        _check(name, run, (0, 0) if system.endswith("events") else expected(keys, run["events"]))
    first, second = found
    if second["seconds"] <= first["seconds"]:
        raise RunError(
            f"{name}: {many} events took {second['seconds']} s, and {few} took {first['seconds']} s"
        )
    return {
        name: {
            "events": many,
            "rate": round((many - few) / (second["seconds"] - first["seconds"])),
            "cpu_us": round((second["cpu"] - first["cpu"]) / (many - few) * 1e6, 3),
            "seconds": second["seconds"],
        }
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
    ),
    render=render,
    how=HOW,
)
