"""Small epochs of a grouped query: `python -m bench.sql.epochs --keys 1000` prints the figures as one line of JSON.

The query first gets one row for each key, in few large epochs, and is stopped. The same query is then started again
over the same state, with epochs of exactly 1,000 rows that change 1,000 groups each.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median, quantiles
from threading import Event
from typing import Any, Final

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.common import Configuration
from firesteel.control.listeners import EpochStats
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.table import EnvironmentSettings, TableEnvironment

ROWS: Final = 1000
"""Rows of a small epoch."""

WARM_UP: Final = 30
EPOCHS: Final = 150
PARALLELISM: Final = 2
_FILLING: Final = 1_000_000
_SPREAD: Final = 7919  # a prime: the keys of an epoch lie anywhere among all keys


class Epochs:
    """A listener that notes the epochs of one job, until they are `enough`."""

    def __init__(self, states: Path, enough: Callable[[list[dict[str, Any]]], bool]) -> None:
        self.heard: list[dict[str, Any]] = []
        self.done = Event()
        self._states = states
        self._enough = enough

    def on_epoch(self, stats: EpochStats) -> None:
        """Note an epoch that has read rows, and what it has added to the state directory."""
        if stats.records_in and not self.done.is_set():
            [state] = self._states.iterdir()
            manifest = ManifestReader(Storage.of(state)).read(stats.epoch)
            runs = sum(run.size for operator in manifest.operators.values() for run in operator.runs)
            size = (state / manifest_path(stats.epoch)).stat().st_size
            self.heard.append(
                {"rows": stats.records_in, "ms": stats.duration_ms, "runs": runs, "manifest": size}
            )
            if self._enough(self.heard):
                self.done.set()


def watched(states: Path, keys: int, rows: int, enough: Callable[[list[dict[str, Any]]], bool]) -> Epochs:
    """Run the query with epochs of a number of rows until there are enough of them, and stop it."""
    configuration = Configuration()
    configuration.set_string("parallelism.default", str(PARALLELISM))
    configuration.set_string("firesteel.master", f"local[{PARALLELISM},4]")
    configuration.set_string("firesteel.state-dir", str(states))
    configuration.set_string("firesteel.epoch.max-records", str(rows))
    configuration.set_string("firesteel.epoch.duration", "1 h")  # only the number of rows ends an epoch
    epochs = Epochs(states, enough)
    settings = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration)
    with surrounded_by(Ambient(listeners=(epochs,))):
        env = TableEnvironment.create(settings.build())
        env.execute_sql(f"""CREATE TABLE source (id BIGINT, k AS MOD(id * {_SPREAD}, {keys})) WITH (
            'connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.id.kind' = 'sequence',
            'fields.id.start' = '0', 'fields.id.end' = '1000000000000')""")
        env.execute_sql("""CREATE TABLE sink (k BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED)
            WITH ('connector' = 'blackhole')""")
        job = env.execute_sql("INSERT INTO sink SELECT k, COUNT(*), SUM(id) FROM source GROUP BY k").job
        assert job is not None
        while not epochs.done.wait(1):
            if job.done():
                job.wait()  # raises its error
        job.stop().result()
        job.wait()
    return epochs


def run(keys: int, count: int, warm_up: int) -> dict[str, Any]:
    """Measure small epochs over a state of so many keys. Exits if an epoch has another number of rows."""
    with tempfile.TemporaryDirectory(prefix="firesteel-bench-") as scratch:
        states = Path(scratch) / "states"
        watched(states, keys, _FILLING, lambda heard: sum(epoch["rows"] for epoch in heard) >= keys)
        heard = watched(states, keys, ROWS, lambda heard: len(heard) == warm_up + count).heard
    measured = heard[warm_up:]
    if {epoch["rows"] for epoch in measured} != {ROWS}:
        sys.exit(f"epochs of {[epoch['rows'] for epoch in heard]} rows, not of {ROWS}")
    durations = [epoch["ms"] for epoch in measured]
    return {
        "keys": keys,
        "median_ms": round(median(durations), 1),
        "p95_ms": round(quantiles(durations, n=20)[-1], 1),
        "run_bytes": round(fmean(epoch["runs"] for epoch in measured)),
        "manifest_bytes": round(fmean(epoch["manifest"] for epoch in measured)),
        "epochs_ms": [round(duration, 1) for duration in durations],
    }


def main() -> None:
    """Run the query over the number of keys that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.sql.epochs", description=__doc__)
    parser.add_argument("--keys", type=int, default=ROWS, help="at least as many as an epoch has rows")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="epochs before them that do not count")
    arguments = parser.parse_args()
    print(json.dumps(run(arguments.keys, arguments.epochs, arguments.warm_up)), flush=True)


if __name__ == "__main__":
    main()
