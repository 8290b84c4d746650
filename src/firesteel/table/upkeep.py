"""The jobs that keep materialised tables fresh, as somebody else runs them: a cluster.

Contract: a session with a `Maintainer` gives it compiled plans and never runs such a job itself. A job of CONTINUOUS
mode goes on in the directory that has the rows of its table; each job of FULL mode has a directory of its own, named as
its id, which gets the rows once the job has read all of its input (`firesteel.table.table_directory`). Of those, at
most one runs at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from firesteel.table.due_partitions import DuePartitions

__all__ = ["Maintainer", "Upkeep"]


class Upkeep(msgspec.Struct, frozen=True):
    """What a job that fills a table has to know besides its plan.

    `directory` is that of the table and `name` that of the job below it, None for the job's id. The job fills the table
    once if it is `full`, else for good, in epochs of at most `epoch_ms` milliseconds. The rows are its state if it
    `keeps_rows`. `schedule` is the id of the schedule that asks for it, and `due` says which partitions are filled,
    None for the whole table.
    """

    directory: str
    job_name: str
    epoch_ms: int
    keeps_rows: bool
    full: bool
    name: str | None = None
    schedule: str | None = None
    due: DuePartitions | None = None


class Maintainer(Protocol):
    """Runs the jobs that keep tables fresh. Tables are known by their directories, options are those of the session."""

    def follow(self, plan: str, options: Mapping[str, str], upkeep: Upkeep) -> None:
        """Start a job of CONTINUOUS mode. Raises StateError if the cluster takes none."""

    def refresh(self, plan: str, options: Mapping[str, str], upkeep: Upkeep) -> None:
        """Start a job of FULL mode. Raises StateError if the cluster takes none, or if another one runs."""

    def runs(self, directory: str) -> bool:
        """Return whether a job of a table runs or waits to do so."""

    def end(self, directory: str) -> None:
        """End the jobs of a table after their running epochs, and wait for that."""

    def schedule(self, plan: str, options: Mapping[str, str], upkeep: Upkeep, every_ms: int) -> None:
        """Start a job of FULL mode at each multiple of an interval, from the next one on."""

    def unschedule(self, directory: str) -> None:
        """Forget the schedule of a table. Raises StateError if it is that of another cluster."""
