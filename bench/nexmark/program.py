"""Runs one query on one system, over few events and over many, and prints its figures as one line of JSON.

The program is PyFlink's; on Firesteel it runs by the alias.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench import sql_systems
from bench.nexmark.answers import summary
from bench.nexmark.queries import BY_NAME, Query, sink
from bench.nexmark.schema import dropped, events
from bench.process import sampling
from bench.sql_systems import FILES
from bench.usage import PeakOfTree, cpu_seconds

_SAMPLE_SECONDS: Final = 0.25

_FLINK: Final = {
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.distinct-agg.split.enabled": "true",
}

_BOTH: Final = {"table.local-time-zone": "UTC", "firesteel.epoch.duration": "2 s"}
"""Epochs may last as long as Flink's mini-batches."""


def environment(system: str, scratch: Path, *, files: bool = False) -> Any:
    """Return the table environment of a system."""
    return sql_systems.environment(system, scratch, _FLINK | (FILES if files else {}), _BOTH)


class Session:
    """A system with one query, and a folder for what it writes."""

    def __init__(self, system: str, query: Query, scratch: Path) -> None:
        self._env = environment(system, scratch, files=query.files)
        self._system = system
        self._query = query
        self._scratch = scratch
        self._runs = 0

    def run(self, kind: str, folder: str) -> tuple[float, float]:
        """Run the query over the events of a folder; return its seconds, and those of the processors."""
        self._define(kind, folder)
        self._runs += 1
        self._env.execute_sql(sink(self._query, str(self._scratch / f"out-{self._runs}")))
        used, began = cpu_seconds(os.getpid()), time.perf_counter()
        self._env.execute_sql(f"INSERT INTO sink {self._query.select}").wait()
        return time.perf_counter() - began, cpu_seconds(os.getpid()) - used

    def answer(self, kind: str, folder: str) -> list[str | None]:
        """Return the number and the sums of the query's rows, as texts."""
        self._define(kind, folder)
        row: list[str | None] = []
        with self._env.execute_sql(summary(self._query)).collect() as changes:
            for change in changes:  # the last one stays
                row = list(change)
        return row

    def _define(self, kind: str, folder: str) -> None:
        for statement in (*dropped(), *events(folder, kind, self._system), *self._query.before):
            self._env.execute_sql(statement)


def measured(session: Session, kind: str, folders: list[str]) -> dict[str, Any]:
    """Return the figures of a format: of the events that the second folder has more than the first."""
    session.run(kind, folders[0])
    few, few_cpu = session.run(kind, folders[0])
    peak = PeakOfTree(os.getpid())
    with sampling(peak.look, _SAMPLE_SECONDS):
        many, many_cpu = session.run(kind, folders[1])
    return {
        "seconds": [round(few, 3), round(many, 3)],
        "cpu": [round(few_cpu, 2), round(many_cpu, 2)],
        "bytes": peak.bytes,
    }


def main() -> None:
    """Run the query that the command line names: over two folders of each format, or for its answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=("firesteel", "flink"))
    parser.add_argument("query", choices=BY_NAME)
    parser.add_argument("folders", nargs="+", metavar="FORMAT=FEW[,MANY]")
    parser.add_argument("--answer", action="store_true", help="print the sums of the rows instead")
    arguments = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="firesteel-bench-"))
    found: dict[str, Any] = {}
    try:
        session = Session(arguments.system, BY_NAME[arguments.query], scratch)
        for given in arguments.folders:
            kind, _, folders = given.partition("=")
            if arguments.answer:
                found[kind] = session.answer(kind, folders)
            else:
                found[kind] = measured(session, kind, folders.split(","))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
