"""The raw figures: a JSON file for each part, rewritten after every run."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.environments import ROOT
from bench.part import Figures, Runs

RESULTS: Final = ROOT / "bench" / "results"

Machine = dict[str, str]


@dataclass
class Record:
    """The record of a part: its machine and source, the time of the last run, and the figures of the runs.

    `done` counts the finished runs of each case. `earlier` are the figures of another machine or source, kept until
    every case has run again.
    """

    machine: Machine
    source: str
    measured: str = ""
    done: dict[str, int] = field(default_factory=dict)
    runs: Runs = field(default_factory=dict)
    earlier: Record | None = None

    @property
    def shown(self) -> Record:
        """The record whose figures are published."""
        return self if self.earlier is None else self.earlier

    def add(self, case: str, figures: dict[str, Figures]) -> None:
        """Add the figures of a finished run."""
        for title, values in figures.items():
            self.runs.setdefault(title, []).append(values)
        self.done[case] = self.done.get(case, 0) + 1
        self.measured = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON for the file."""
        known = {
            "machine": self.machine,
            "source": self.source,
            "measured": self.measured,
            "done": self.done,
            "runs": self.runs,
        }
        return known if self.earlier is None else known | {"earlier": self.earlier.as_json()}


@dataclass(frozen=True)
class Store:
    """The records below a directory."""

    directory: Path = RESULTS

    def read(self, part: str) -> Record | None:
        """Return the record of a part, None if there is none."""
        path = self._path(part)
        return _record(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def open(self, part: str, machine: Machine, source: str, again: bool) -> Record:
        """Return the record to continue: that of this machine and source unless it is discarded, or a new one."""
        found = self.read(part)
        if found is None:
            return Record(machine, source)
        if not again and (found.machine, found.source) == (machine, source):
            return found
        return Record(machine, source, earlier=found.shown)

    def write(self, part: str, record: Record) -> None:
        """Replace the record of a part atomically."""
        self.directory.mkdir(parents=True, exist_ok=True)
        draft = self.directory / f".{part}.new"
        draft.write_text(_text(record.as_json()), encoding="utf-8")
        draft.replace(self._path(part))

    def _path(self, part: str) -> Path:
        return self.directory / f"{part}.json"


def _record(known: dict[str, Any]) -> Record:
    earlier = known.get("earlier")
    return Record(
        known["machine"],
        known["source"],
        known["measured"],
        known["done"],
        known["runs"],
        None if earlier is None else _record(earlier),
    )


def _text(known: dict[str, Any]) -> str:
    """Return JSON with a line for each run, so that a change of figures is readable."""
    indented = json.dumps(known | {"runs": "RUNS"}, indent=1)
    runs = ",\n".join(
        f"  {json.dumps(title)}: [\n" + ",\n".join(f"   {json.dumps(run)}" for run in figures) + "\n  ]"
        for title, figures in known["runs"].items()
    )
    return indented.replace('"RUNS"', "{\n" + runs + "\n }", 1) + "\n"
