"""The jobs that keep materialised tables fresh, as jobs of the cluster.

Each is its compiled plan with a program that runs it (`firesteel.rest.gateway.planned`), and its state is below the
directory of its table. So it survives the session, the gateway and the server, and the rows survive the job's record.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from firesteel.common.errors import StateError
from firesteel.control.asking import POLL_SECONDS, stop
from firesteel.control.commands import now_ms, read_status
from firesteel.rest.dispatcher import Dispatcher, new_job_id
from firesteel.rest.gateway.jobs import PLAN_FILE, ClusterJobs, slots_of
from firesteel.rest.records import JobRecord, read
from firesteel.rest.schedules import Schedule, Schedules, running, state_below
from firesteel.table.maintaining import STOP_SECONDS
from firesteel.table.table_directory import ScheduledBy, TableDirectory
from firesteel.table.upkeep import Upkeep

UPKEEP_FILE: Final = "upkeep.json"
_ENTRY: Final = "maintained"


@dataclass(frozen=True)
class ClusterUpkeep:
    """The maintainer of sessions whose jobs run in a cluster (`firesteel.table.upkeep.Maintainer`)."""

    jobs: ClusterJobs
    dispatcher: Dispatcher

    @property
    def _schedules(self) -> Schedules:
        return Schedules(self.dispatcher.directory)

    def follow(self, plan: str, options: Mapping[str, str], upkeep: Upkeep) -> None:
        """Make a job that goes on in its directory. Raises StateError if the cluster takes none."""
        self._submit(plan, options, upkeep, new_job_id())

    def refresh(self, plan: str, options: Mapping[str, str], upkeep: Upkeep) -> None:
        """Make a job that fills the table once. Raises StateError if the cluster takes none, or one runs already."""
        if any(map(_fills_once, running(self.dispatcher.jobs(), upkeep.directory))):
            raise StateError(
                "is being refreshed",
                who=f"the table of {upkeep.job_name}",
                got="another REFRESH",
                hint="wait until that job has ended: SHOW JOBS lists it",
            )
        job_id = new_job_id()
        self._submit(plan, options, upkeep, job_id)
        self.jobs.started(job_id)

    def runs(self, directory: str) -> bool:
        """Return whether a job of a table runs or waits to do so."""
        return bool(running(self.dispatcher.jobs(), directory))

    def end(self, directory: str) -> None:
        """End the jobs of a table, and wait for that. Raises StateError if that takes more than two minutes."""
        found = running(self.dispatcher.jobs(), directory)
        for record in found:
            self._end(record)
        deadline = time.monotonic() + STOP_SECONDS
        while any(record.outcome() is None for record in found):
            if time.monotonic() > deadline:
                raise StateError(
                    f"has not ended within {STOP_SECONDS:g} s", who=f"the job of the table in {directory}"
                )
            time.sleep(POLL_SECONDS)

    def schedule(self, plan: str, options: Mapping[str, str], upkeep: Upkeep, every_ms: int) -> None:
        """Let the cluster fill the table at each multiple of an interval. Raises StateError if it takes no jobs."""
        last = now_ms() // every_ms * every_ms
        schedule = Schedule(upkeep.directory, every_ms, slots_of(options), last, upkeep.due)
        made = uuid.uuid4().hex
        upkeep = msgspec.structs.replace(upkeep, schedule=made)
        self.unschedule(upkeep.directory)
        with self._program(plan, options, upkeep) as folder:
            TableDirectory(upkeep.directory).schedule = ScheduledBy(made, str(self.dispatcher.directory))
            self._schedules.add(made, schedule, folder)

    def unschedule(self, directory: str) -> None:
        """Forget the schedule of a table. Raises StateError if it is that of another cluster."""
        table = TableDirectory(directory)
        by = table.schedule
        if by is None:
            return
        if Path(by.cluster) != self.dispatcher.directory:
            raise StateError(
                "is refreshed by the schedule of another cluster",
                who=f"the table in {directory}",
                got=by.cluster,
                hint="change it in a session of that cluster",
            )
        table.schedule = None
        self._schedules.remove(by.id)

    def _submit(self, plan: str, options: Mapping[str, str], upkeep: Upkeep, job_id: str) -> None:
        state = state_below(upkeep.directory, upkeep.name or job_id)
        with self._program(plan, options, upkeep) as folder:
            self.dispatcher.submit(self.dispatcher.submission(job_id, slots_of(options), state), folder)

    def _program(self, plan: str, options: Mapping[str, str], upkeep: Upkeep) -> AbstractContextManager[Path]:
        files = {PLAN_FILE: plan, UPKEEP_FILE: msgspec.json.encode(upkeep).decode()}
        return self.jobs.program(_ENTRY, files, options)

    def _end(self, record: JobRecord) -> None:
        """Stop a job after its epoch; cancel one that has not begun, and one that is of no use unfinished."""
        storage = record.state_storage()
        status = None if storage is None else read_status(storage)
        if storage is None or status is None or not status.alive(now_ms()) or _fills_once(record):
            self.dispatcher.cancel(record)
        else:
            stop(storage, with_savepoint=False, target=None, timeout=STOP_SECONDS)


def _fills_once(record: JobRecord) -> bool:
    upkeep = read(record.program / UPKEEP_FILE, Upkeep)
    return upkeep is not None and upkeep.full
