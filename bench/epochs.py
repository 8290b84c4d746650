"""The epochs of an INSERT on Firesteel: each of a given number of rows, watched until there are enough of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from bench.usage import cpu_seconds
from bench.written import StateDirectory, Written
from firesteel.common import Configuration
from firesteel.control import JobHandle
from firesteel.control.listeners import EpochStats
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.table import EnvironmentSettings, TableEnvironment

PARALLELISM: Final = 2


@dataclass(frozen=True)
class Epoch:
    """An epoch that has read rows: their number and that of its results, its milliseconds from planning to publication,
    when that was (seconds since 1970), the processor seconds of all processes until then, and what it has written.
    """

    rows: int
    results: int
    ms: float
    at: float
    cpu: float
    written: Written


class Epochs:
    """A listener that notes the epochs of one job, until they are `enough`: then the job waits to be stopped."""

    def __init__(self, states: Path, enough: Callable[[list[Epoch]], bool]) -> None:
        self.heard: list[Epoch] = []
        self.done = Event()
        self.stopping = Event()
        self.state_bytes = 0
        """The size of the state after the last of them."""

        self._states = states
        self._directory: StateDirectory | None = None
        self._enough = enough

    def on_epoch(self, stats: EpochStats) -> None:
        """Note an epoch that has read rows, and what it has added to the state directory."""
        if not stats.records_in:
            return
        at, cpu = time.time(), cpu_seconds(os.getpid())
        if self._directory is None:
            [path] = self._states.iterdir()
            self._directory = StateDirectory(path)
        written = self._directory.written(stats.epoch)
        self.heard.append(Epoch(stats.records_in, stats.records_out, stats.duration_ms, at, cpu, written))
        if self._enough(self.heard):
            self.state_bytes = self._directory.size(stats.epoch)
            self.done.set()
            self.stopping.wait()


def watched(
    states: Path, rows: int, tables: Iterable[str], insert: str, enough: Callable[[list[Epoch]], bool]
) -> Epochs:
    """Run an endless INSERT with epochs of a number of rows until there are enough of them, and stop it.

    The same INSERT over the same directory goes on from its state.
    """
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
        for statement in tables:
            env.execute_sql(statement)
        stop_after(epochs.done, env.execute_sql(insert).job, epochs.stopping)
    return epochs


def stop_after(done: Event, job: JobHandle | None, stopping: Event | None = None) -> None:
    """Stop an endless job once `done` is set, and set `stopping` once it has been asked to; raises the job's error."""
    assert job is not None
    while not done.wait(1):
        if job.done():
            job.wait()
    answer = job.stop()
    if stopping is not None:
        stopping.set()
    answer.result()
    job.wait()
