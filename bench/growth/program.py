"""One query of Nexmark over growing state: `python -m bench.growth.program q4 --events 500000` prints JSON.

Each epoch reads the next events in their order: their files arrive once those before have been read. A first job over
`events` events is not measured. A second one reads eleven times as many. With N events behind it, the state has one
size; with 10 N events, ten times that size if it grows with its input. What the next N events cost is measured at both
moments: processor time of all processes, and time.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Final

from bench import sql_systems
from bench.epochs import stop_after
from bench.nexmark.queries import BY_NAME, Query, sink
from bench.nexmark.schema import dropped, events
from bench.nexmark.side import write_sqlite
from bench.nexmark.slices import slices
from bench.process import sampling
from bench.usage import PeakOfTree, cpu_seconds
from bench.written import StateDirectory
from firesteel.control.listeners import EpochStats
from firesteel.datastream.ambient import Ambient, surrounded_by

EVENTS: Final = 500_000
"""Events before the first moment, and those measured after each of both."""

TIMES: Final = 10
"""How often the state grows meanwhile."""

SLICES: Final = 10
"""The slices of so many events."""

TOGETHER: Final = 5
"""The slices that arrive together, for one epoch."""

_INTERVAL: Final = "1 ms"
_SAMPLE_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Moment:
    """The end of an epoch: events so far, seconds of processors and of the clock, bytes of state and of memory.

    `memory` is the most so far; `state` is known after as many events as are looked for.
    """

    events: int
    cpu: float
    at: float
    state: int | None
    memory: int


class Growth:
    """A listener of one job that lets slices of `size` events arrive, some together when those before have been read.

    The size of the state, below `states`, is looked at after as many events as `sized` has.
    """

    def __init__(
        self,
        states: Path,
        arrived: Path,
        folders: Sequence[Path],
        size: int,
        peak: PeakOfTree,
        sized: Collection[int],
    ) -> None:
        self.moments: list[Moment] = []
        self.done = Event()
        self._states = states
        self._arrived = arrived
        self._folders = folders
        self._size = size
        self._next = 0
        self._peak = peak
        self._sized = sized
        self._events = 0
        self._arrive()

    def on_epoch(self, stats: EpochStats) -> None:
        """Note the end of an epoch that has read events, and let the next ones arrive."""
        if not stats.records_in:
            return
        self._events += stats.records_in
        used, at = cpu_seconds(os.getpid()), time.perf_counter()
        [path] = self._states.iterdir()
        state = StateDirectory(path).size(stats.epoch) if self._events in self._sized else None
        self.moments.append(Moment(self._events, used, at, state, self._peak.bytes))
        if self._events < self._next * self._size:
            return  # an epoch of a new job may be a small one
        if self._next < len(self._folders):
            self._arrive()
        else:
            self.done.set()

    def _arrive(self) -> None:
        draft = self._arrived / f".{self._next:06}"  # hidden, so that all its files appear at once
        draft.mkdir()
        for folder in self._folders[self._next : self._next + TOGETHER]:
            (draft / folder.name).symlink_to(folder)
            self._next += 1
        draft.rename(self._arrived / draft.name[1:])


def costs(moments: Sequence[Moment], few: int) -> dict[str, Any]:
    """Return what an event costs after `few` events and after ten times as many, with the state at both moments."""
    found: dict[str, Any] = {"events": moments[-1].events}
    for name, start in (("before", few), ("after", few * TIMES)):
        first, last = (_after(moments, count) for count in (start, start + few))
        count = last.events - first.events
        found[f"{name}_cpu_us"] = round((last.cpu - first.cpu) / count * 1e6, 3)
        found[f"{name}_us"] = round((last.at - first.at) / count * 1e6, 3)
        found[f"{name}_state_bytes"] = first.state
        found[f"{name}_bytes"] = last.memory
    return found


def _after(moments: Sequence[Moment], events: int) -> Moment:
    return next(moment for moment in moments if moment.events >= events)


def run(query: Query, few: int, scratch: Path) -> dict[str, Any]:
    """Run the query twice, and return the figures of the second run."""
    size = few // SLICES
    folders = slices("parquet", few * (TIMES + 1), size)
    env = sql_systems.environment(
        sql_systems.FIRESTEEL.name,
        scratch,
        settings={"firesteel.epoch.duration": "1 h", "table.local-time-zone": "UTC"},
    )
    for statement in query.before:
        env.execute_sql(statement)
    grown(env, query, folders[:SLICES], size, scratch / "first")
    return costs(grown(env, query, folders, size, scratch / "second", (few, few * TIMES)), few)


def grown(
    env: Any, query: Query, folders: Sequence[Path], size: int, scratch: Path, sized: Collection[int] = ()
) -> list[Moment]:
    """Run the query over slices of events, and return the ends of the epochs."""
    arrived, states = scratch / "events", scratch / "states"
    arrived.mkdir(parents=True)
    write_sqlite(arrived.with_name(f"{arrived.name}-side.sqlite"))
    for statement in (*dropped(), *events(str(arrived), "parquet", "firesteel", _INTERVAL)):
        env.execute_sql(statement)
    env.execute_sql(sink(query, str(scratch / "out")))
    peak = PeakOfTree(os.getpid())
    growth = Growth(states, arrived, folders, size, peak, sized)
    around = Ambient(listeners=(growth,), state_dir=str(states))
    with surrounded_by(around), sampling(peak.look, _SAMPLE_SECONDS):
        stop_after(growth.done, env.execute_sql(f"INSERT INTO sink {query.select}").job)
    return growth.moments


def main() -> None:
    """Run the query that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth.program", description=__doc__)
    parser.add_argument("query", choices=BY_NAME)
    parser.add_argument("--events", type=int, default=EVENTS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        figures = run(BY_NAME[arguments.query], arguments.events, Path(scratch))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
