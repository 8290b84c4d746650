"""Runs the cases of parts in turn, stores the figures of every finished run, and resumes after an interruption."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean

from bench.part import Case, Figures, Part, RunError
from bench.store import Machine, Record, Store


@dataclass(frozen=True)
class Plan:
    """The plan: `runs` of each case (None: as many as the part says), including recorded ones.

    A record is continued if it has the same `machine` and source, unless `again` discards it. With `only`, none but the
    cases run whose names begin with these words.
    """

    machine: Machine
    source_of: Callable[[Part], str]
    runs: int | None = None
    scale: float = 1
    again: bool = False
    only: tuple[str, ...] = ()

    def cases_of(self, part: Part) -> list[Case]:
        """Return the cases of a part that run."""
        words = [word.split() for word in self.only]
        return [
            case
            for case in part.cases
            if not words or any(case.name.split()[: len(word)] == word for word in words)
        ]

    def runs_of(self, part: Part) -> int:
        return part.runs if self.runs is None else self.runs


def say(text: str) -> None:
    """Print a line about the progress to standard error."""
    print(text, file=sys.stderr, flush=True)


@dataclass
class Runner:
    """Runs a plan. `failures` are the failed runs with their messages; the other runs continue."""

    store: Store
    plan: Plan
    failures: list[str] = field(default_factory=list)
    _seconds: list[float] = field(default_factory=list)
    _left: int = 0

    def measure(self, parts: Iterable[Part]) -> dict[str, Record]:
        """Run the missing runs of these parts, and return their records by name."""
        plan, opened = self.plan, []
        for part in parts:
            record = self.store.open(part.name, plan.machine, plan.source_of(part), plan.again)
            opened.append((part, record))
            self._left += sum(self._missing(part, record, case) for case in plan.cases_of(part))
        return {part.name: self._part(part, record) for part, record in opened}

    def _missing(self, part: Part, record: Record, case: Case) -> int:
        return max(self.plan.runs_of(part) - record.done.get(case.name, 0), 0)

    def _part(self, part: Part, record: Record) -> Record:
        for number in range(self.plan.runs_of(part)):
            for case in self.plan.cases_of(part):
                if record.done.get(case.name, 0) <= number:
                    self._run(part, record, case, number)
        if record.earlier is not None and record.runs and not self.plan.only:
            record.earlier = None
            self.store.write(part.name, record)
        return record

    def _run(self, part: Part, record: Record, case: Case, number: int) -> None:
        name = f"{part.name}: {case.name}, run {number + 1}"
        began = time.monotonic()
        try:
            figures = case.run(self.plan.scale)
        except Exception as error:  # any error: it must not end hours of other runs
            what = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
            self.failures.append(f"{name}: {what}")
            said = f"{name} failed"
        else:
            record.add(case.name, figures)
            self.store.write(part.name, record)
            said = f"{name}: {shown(figures)}"
        seconds = time.monotonic() - began
        self._seconds.append(seconds)
        self._left -= 1
        say(f"{said} ({seconds:.0f} s; {self._remaining()})")

    def _remaining(self) -> str:
        each = fmean(self._seconds)
        return (
            f"{self._left} to go, about {self._left * each / 60:.0f} min"
            if self._left > 0
            else "the last one"
        )


def shown(figures: dict[str, Figures]) -> str:
    """Return the figures of a run in a line, without its curves.

    >>> shown({"2 to 3": {"seconds": 1.5, "epochs_ms": [1, 2]}, "3 to 1": {"seconds": 2}})
    '2 to 3: seconds 1.5; 3 to 1: seconds 2'
    """
    return "; ".join(
        f"{title}: " + ", ".join(f"{name} {number(value)}" for name, value in scalars(values).items())
        for title, values in figures.items()
    )


def scalars(figures: Figures) -> Figures:
    """Return the figures that are one number or a short text."""
    return {name: value for name, value in figures.items() if isinstance(value, int | float | str)}


def number(value: float | str) -> str:
    """Return a figure as the page and the progress show it.

    >>> number(1234567), number(0.1234), number(1234.5), number("ok")
    ('1,234,567', '0.123', '1,234', 'ok')
    """
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return value if isinstance(value, str) else f"{value:,}"
