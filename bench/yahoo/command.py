"""The common arguments of both systems' commands."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from bench.yahoo.events import Load


def start_delay(load: Load) -> float:
    """Return the seconds from the first activity of the source to the start, in which the other workers come up."""
    return 2.0 if load.paced else 0.0


@dataclass(frozen=True)
class Task:
    """One run: the load, the system's mode, and the directory everything is written to."""

    load: Load
    mode: str
    directory: Path

    @property
    def target(self) -> str:
        """The directory of the results."""
        return str(self.directory / "results")

    @property
    def start(self) -> str:
        """The file that says when the run starts."""
        return str(self.directory / "start")

    @property
    def arguments(self) -> list[str]:
        """What `task_from` makes this task from."""
        load = self.load
        numbers = [load.campaigns, load.rate, load.count, load.first_end_ms, int(load.paced)]
        return [*map(str, numbers), str(self.directory), "--mode", self.mode]


def task_from_arguments() -> Task:
    """Return the task that the command line describes."""
    parser = argparse.ArgumentParser()
    for name in ("campaigns", "rate", "count", "first_end_ms", "paced"):
        parser.add_argument(name, type=int)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--mode", default="")
    given = parser.parse_args()
    load = Load(given.campaigns, given.rate, given.count, given.first_end_ms, bool(given.paced))
    return Task(load, given.mode, given.directory)
