"""What a benchmark is made of: parts, each a series of cases that are run in turn, and its section of the page.

A part's first runs come before its second ones, case by case, so systems that are compared to each other take turns
and a machine that changes its pace changes it for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Figures = dict[str, Any]
"""What one run measured, as JSON: numbers, texts, and lists of them (a curve)."""

Runs = dict[str, list[Figures]]
"""By title (a system, a size, a row of the table): the figures of its runs, in order."""


class RunError(Exception):
    """A run failed, or its result was wrong."""


@dataclass(frozen=True)
class Case:
    """One run's work.

    `run(scale)` does it (`scale` multiplies what is worked on: 1 for figures that are published, 0.01 for a look at
    whether all works), checks its result, and answers the figures by title. It raises RunError if the run failed or
    its result was wrong; its subprocesses have ended when it returns or raises.
    """

    name: str
    run: Callable[[float], dict[str, Figures]]


@dataclass(frozen=True)
class Part:
    """A section of docs/benchmarks.md.

    `name` is what the command line calls it; names of cases are unique within it. `render` makes the section's lines
    (Markdown, with its `## ` heading) from the runs; `how` says what is measured, as Markdown; `plot` draws the
    pictures that the section shows into a directory (docs/images), if there are any. Both work from the stored runs
    alone, so that a page can be made again without measuring.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    render: Callable[[Runs], list[str]]
    how: str
    plot: Callable[[Runs, Path], None] | None = None
    runs: int = 3
    """How often each case is run for figures that are published."""
