"""Jobs that a cluster starts again and again, at fixed times.

Each schedule is a directory below `schedules/` of the cluster's::

    <id>/program/         the program of its jobs
    <id>/schedule.json    when they start, and what for; once it is there the schedule holds

Contract: the server looks once a second. A job starts at each multiple of the interval since 1970 (UTC), so those of
an hour at full hours. Jobs that have the same `subject` never run at once: one that is due waits for the one before.
What was due meanwhile, or while no server was there, becomes one job. The job of a moment has an id of that moment, so
it starts once, whenever the server ends. Jobs that refresh the partitions of a moment find their values beside their
program; then what was due meanwhile becomes a job for each of these partitions, one after the other.
"""

from __future__ import annotations

import logging
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from firesteel.common.errors import FiresteelError, StateCorruptedError
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.records import JobRecord, read, write
from firesteel.table.due_partitions import DuePartitions

_log = logging.getLogger("firesteel.rest")

FOLDER: Final = "schedules"
_FILE: Final = "schedule.json"
_PROGRAM: Final = "program"
PARTITION_FILE: Final = "partition.json"


class Schedule(msgspec.Struct, frozen=True):
    """When jobs start: each `every_ms`, next after the moment `last` (milliseconds).

    The state of a job is below the place `subject`, in a directory named as its id. It takes `slots`.
    `due` are the partitions that a job refreshes, None for all.
    """

    subject: str
    every_ms: int
    slots: int
    last: int
    due: DuePartitions | None = None


class Partition(msgspec.Struct, frozen=True):
    """The values of the partition columns that a job refreshes."""

    values: dict[str, str]


class Schedules:
    """The schedules of a cluster's directory."""

    def __init__(self, cluster: Path) -> None:
        self.cluster = cluster
        self._directory = cluster / FOLDER
        self._troubles: dict[str, str] = {}

    def add(self, schedule_id: str, schedule: Schedule, program: Path) -> None:
        """Add a schedule, whose id is 32 hexadecimal digits, and whose jobs run a copy of a program."""
        folder = self._directory / schedule_id
        shutil.copytree(program, folder / _PROGRAM)
        write(folder / _FILE, schedule)

    def remove(self, schedule_id: str) -> None:
        """Remove a schedule if it is there; jobs that it has started go on."""
        folder = self._directory / schedule_id
        if folder.is_dir():
            (folder / _FILE).unlink(missing_ok=True)
            shutil.rmtree(folder)

    def ids(self) -> list[str]:
        """Return the ids of the schedules."""
        return sorted(file.parent.name for file in self._directory.glob(f"*/{_FILE}"))

    def turn(self, dispatcher: Dispatcher, now: int) -> None:
        """Start the jobs that are due at a time (milliseconds); an error in one stops no other."""
        for schedule_id in self.ids():
            try:
                self._start_if_due(schedule_id, dispatcher, now)
                self._troubles.pop(schedule_id, None)
            except (FiresteelError, OSError) as error:
                if self._troubles.get(schedule_id) != str(error):
                    self._troubles[schedule_id] = str(error)
                    _log.error("the schedule %s: %s", schedule_id, error)

    def _start_if_due(self, schedule_id: str, dispatcher: Dispatcher, now: int) -> None:
        folder = self._directory / schedule_id
        schedule = read(folder / _FILE, Schedule)
        if schedule is None:  # it has just been removed
            return
        due = _due(schedule, now)
        if due <= schedule.last or running(dispatcher.jobs(), schedule.subject):
            return
        job_id = uuid.uuid5(uuid.UUID(schedule_id), str(due)).hex
        submission = dispatcher.submission(job_id, schedule.slots, state_below(schedule.subject, job_id))
        if schedule.due is not None:
            values = Partition(schedule.due.values(due, schedule.every_ms))
            write(folder / _PROGRAM / PARTITION_FILE, values)
        dispatcher.submit(submission, folder / _PROGRAM)
        write(folder / _FILE, msgspec.structs.replace(schedule, last=due))


def _due(schedule: Schedule, now: int) -> int:
    """Return the time of the schedule that is next: the newest, or that of the oldest partitions that are due."""
    newest, following = now // schedule.every_ms * schedule.every_ms, schedule.last + schedule.every_ms
    if schedule.due is None or following >= newest:
        return newest
    return schedule.due.last_alike(following, schedule.every_ms, now)


def state_below(subject: str, name: str) -> str:
    """Return the place of a job's state in that of its subject."""
    return f"{subject.rstrip('/')}/{name}"


def running(records: Iterable[JobRecord], subject: str) -> list[JobRecord]:
    """Return the jobs of a subject that have not ended."""
    return [record for record in records if _is_of(record, subject) and record.outcome() is None]


def _is_of(record: JobRecord, subject: str) -> bool:
    try:
        said = record.submission()
    except StateCorruptedError:  # the dispatcher says so; it starts nothing for such a job
        return False
    return (
        said is not None and said.state is not None and said.state.rpartition("/")[0] == subject.rstrip("/")
    )
