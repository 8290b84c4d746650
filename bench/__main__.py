"""Measure Firesteel beside PyFlink and Spark's transformWithState, and write docs/benchmarks.md.

    python -m bench                         everything, three runs each (about fifty minutes)
    python -m bench count-1k window         some parts; the others keep the figures they have
    python -m bench --scale 0.02 --runs 1   a quick look at whether everything works; writes nothing

Nothing else should run on the machine. The systems take turns: each part's first runs, then its second ones, and so on.
PyFlink gets a virtual environment of its own under .cache/ ($FIRESTEEL_BENCH_PYFLINK names another interpreter).
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any, Final

from bench.durability.parts import PARTS as DURABILITY
from bench.durability.parts import Case
from bench.environments import ROOT
from bench.machine import describe
from bench.measure import Figures, RunError, measure
from bench.parts import FIRESTEEL, MEMORY_RECORDS, PARTS, Part, System, memory_job
from bench.report import render
from firesteel.common.errors import FiresteelError

RESULTS: Final = ROOT / "bench" / "results" / "latest.json"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
MEMORY: Final = "memory"


def main() -> int:
    """Measure what the command line asks for; the exit code is 1 if a run failed."""
    arguments = _arguments()
    chosen = [part for part in PARTS if part.name in arguments.parts]
    bench = Bench(arguments.runs, arguments.scale, arguments.systems)
    measured = {part.name: _entry(bench, bench.part(part)) for part in chosen}
    memory = bench.memory() if MEMORY in arguments.parts else None
    durability = {name: bench.durability(name) for name in DURABILITY if name in arguments.parts}
    results = _merged(measured, memory, durability)
    page = render(results)
    print(f"\n{page.partition('## How')[0]}".rstrip())
    if arguments.scale == 1 and not bench.failures:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page, encoding="utf-8")
        print(f"\nwritten: {PAGE.relative_to(ROOT)}, {RESULTS.relative_to(ROOT)}")
    for failure in bench.failures:
        print(f"\nfailed: {failure}", file=sys.stderr)
    return 1 if bench.failures else 0


def _arguments() -> argparse.Namespace:
    names = [*(part.name for part in PARTS), MEMORY, *DURABILITY]
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(names)} (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each system and part")
    parser.add_argument("--scale", type=float, default=1, help="multiplies the number of records, or of keys")
    parser.add_argument(
        "--systems", nargs="*", default=[], help="only systems whose module has one of these names"
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(names))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(names)}")
    arguments.parts = arguments.parts or names
    return arguments


class Bench:
    """Runs parts, run by run, and remembers what failed."""

    def __init__(self, runs: int, scale: float, systems: list[str]) -> None:
        self.runs = runs
        self.scale = scale
        self._systems = systems
        self.failures: list[str] = []

    def part(self, part: Part) -> dict[str, list[dict[str, Any]]]:
        """The figures of each system's runs, by its title; the systems take turns."""
        systems = [system for system in part.records if not self._systems or system.module in self._systems]
        figures: dict[str, list[dict[str, Any]]] = {system.title: [] for system in systems}
        for number in range(self.runs):
            for system in systems:
                measured = self._run(part, system, number)
                if measured is not None:
                    figures[system.title].append(measured.as_dict())
        return figures

    def _run(self, part: Part, system: System, number: int) -> Figures | None:
        job = part.job(system, self.scale)
        try:
            measured = measure(system, job)
        except RunError as error:
            self.failures.append(str(error))
            print(f"{part.title}, run {number + 1}: {system.title} failed", file=sys.stderr, flush=True)
            return None
        print(
            f"{part.title}, run {number + 1}: {system.title} {measured.rate:,.0f} records/s "
            f"({measured.records:,} in {measured.seconds:.1f} s)",
            file=sys.stderr,
            flush=True,
        )
        return measured

    def memory(self) -> list[dict[str, Any]]:
        """The peak memory of a worker at each size of the input."""
        figures = []
        for records in MEMORY_RECORDS:
            measured = measure(FIRESTEEL, memory_job(records, self.scale))
            if measured.worker_bytes is not None:
                figures.append(measured.as_dict())
                peak = f"{measured.worker_bytes / 2**20:,.0f} MiB"
                print(
                    f"memory: {measured.records:,} records, a worker's peak {peak}",
                    file=sys.stderr,
                    flush=True,
                )
        return figures

    def durability(self, name: str) -> dict[str, Any]:
        """The figures of all runs of a part about durability, by the title of the case."""
        cases: dict[str, list[dict[str, Any]]] = {}
        for number in range(self.runs):
            try:
                for case in DURABILITY[name](self.scale):
                    cases.setdefault(case.title, []).append(case.figures)
                    _show(name, number, case)
            except (RunError, FiresteelError) as error:
                self.failures.append(f"{name}, run {number + 1}: {error}")
        return {"measured": _now(), "runs": self.runs, "cases": cases}


def _show(name: str, number: int, case: Case) -> None:
    shown = ", ".join(
        f"{figure} {value:,}" for figure, value in case.figures.items() if not isinstance(value, str)
    )
    print(f"{name}, run {number + 1}: {case.title}: {shown}", file=sys.stderr, flush=True)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _entry(bench: Bench, systems: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {"measured": _now(), "runs": bench.runs, "systems": systems}


def _merged(
    parts: dict[str, Any], memory: list[dict[str, Any]] | None, durability: dict[str, Any]
) -> dict[str, Any]:
    """The new figures, with the earlier ones of the same machine for what was not measured now."""
    machine = describe()
    earlier = _earlier(RESULTS)
    if earlier.get("machine") != machine:
        earlier = {}
    known = earlier.get("parts", {})
    merged = {part.name: parts.get(part.name, known.get(part.name)) for part in PARTS}
    return {
        "machine": machine,
        "parts": {name: entry for name, entry in merged.items() if entry},
        "memory": earlier.get("memory") if memory is None else memory,
        "durability": earlier.get("durability", {}) | durability,
    }


def _earlier(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


if __name__ == "__main__":
    raise SystemExit(main())
