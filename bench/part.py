"""The parts of a benchmark: each has a series of cases that run in turn, and a section of the page.

The first runs of all cases of a part come before the second ones. So compared systems take turns, and a change in the
machine's speed affects all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

Figures = dict[str, Any]
"""The figures of one run, as JSON: numbers, texts, and lists of them (a curve)."""

Runs = dict[str, list[Figures]]
"""By title (a system, a size, a row of the table): the figures of its runs, in order."""


def middle(figures: list[Figures], name: str) -> float:
    """Return the median of a figure over the runs of a title."""
    return float(median(run[name] for run in figures))


class RunError(Exception):
    """Raised when a run fails or its result is wrong."""


class LateError(RunError):
    """A process that was ended because it took too long."""


@dataclass(frozen=True)
class Case:
    """The work of one run.

    `run(scale)` does it, checks its result, and returns the figures by title. `scale` multiplies the amount of work: 1
    for published figures, 0.01 for a quick check. It raises RunError if the run fails or its result is wrong. Its
    subprocesses have ended when it returns or raises.
    """

    name: str
    run: Callable[[float], dict[str, Figures]]


@dataclass(frozen=True)
class Part:
    """A section of docs/benchmarks.md.

    `name` is its name on the command line; names of cases are unique within it. `render` returns the section's lines
    (Markdown, with its `## ` heading) for the runs. `how` describes the measurement, as Markdown. `plot`, if any, draws
    the pictures of the section into a directory (docs/images). `render` and `plot` need only the stored runs, so that
    the page can be rendered again without measuring.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    render: Callable[[Runs], list[str]]
    how: str
    plot: Callable[[Runs, Path], None] | None = None
    runs: int = 3
    """How often each case runs for published figures."""
