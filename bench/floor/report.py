"""The section of the page about small epochs and first results."""

from __future__ import annotations

from typing import Final

from bench.part import Figures, Runs, middle
from bench.tables import table

ONE: Final = "one exchange"
TWO: Final = "two exchanges"
COMMAND: Final = "first result of a command"
UNPREPARED: Final = "first result of a command, no archive of classes"
SESSION: Final = "first result in a session of the program's own"

AIMS_MS: Final = {ONE: 120, TWO: 180}
AIM_S: Final = 8
AFTER_SESSION_S: Final = 3
FIRSTS: Final = (COMMAND, UNPREPARED, SESSION)

HOW: Final = """\
**Epochs**: 150 epochs of exactly 1,000 records at parallelism 2; the first 30 are left out. A record goes from
a generator through `key_by` to a `KeyedProcessFunction` that reads and writes a `ValueState` (1,000 keys, all of them
in every epoch), with two exchanges through another `key_by` and another such function, and to a sink with two-phase
commit. State is written and a manifest committed in every epoch. The duration of an epoch is the time from its
planning to its publication; the time from commit to commit is what a sink sees. All results are checked.

**First results**: `firesteel run` of a word count over three lines of text, from the start of the process to the first
line that it prints; Python's start includes the command line's own imports. `firesteel prepare` creates the archive of
classes. In a session of the program's own, a program that has already started Spark with Spark's default settings calls
`execute`; the time ends with the commit of the first epoch's 1,000 results."""


def render(runs: Runs) -> list[str]:
    """Return the section's lines."""
    lines = ["## The floor of an epoch", ""]
    epochs = [_epoch(title, aim, runs[title]) for title, aim in AIMS_MS.items() if title in runs]
    if epochs:
        header = [
            "1,000 records",
            "Epoch, median",
            "Aim",
            "95th percentile",
            "Commit to commit",
            "95th percentile",
        ]
        lines += ["Epochs of 1,000 records each, parallelism 2:", "", *table(header, epochs), ""]
    firsts = [_first(title, runs[title]) for title in FIRSTS if title in runs]
    if firsts:
        header = ["", "First result after", "Python", "Imports", "Spark's session", "First epoch"]
        aims = f"aims: {AIM_S} s in all, {AFTER_SESSION_S} s after the session is up"
        lines += [f"First results of a small job ({aims}):", "", *table(header, firsts), ""]
    return lines


def _epoch(title: str, aim: int, figures: list[Figures]) -> list[str]:
    names = ("median_ms", "p95_ms", "commit_median_ms", "commit_p95_ms")
    median_ms, *others = (f"{middle(figures, name):,.0f} ms" for name in names)
    return [title, median_ms, f"{aim} ms", *others]


def _first(title: str, figures: list[Figures]) -> list[str]:
    parts = ("python", "imports", "session", "first_epoch")
    cells = [f"{middle(figures, name):.2f} s" if name in figures[0] else "" for name in parts]
    return [title, f"{middle(figures, 'seconds'):.2f} s", *cells]
