"""The jobs of the cluster as statements see them: an INSERT makes one, SHOW JOBS lists them, STOP JOB ends one.

A job of an INSERT is its compiled plan with a program that runs it (`planned`), so it survives the session, the gateway
and the server, and later versions read it. The gateway writes the job's record as the server does; the server's
dispatcher finds it within a second.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from firesteel.common.errors import ConfigurationError, EngineError, StateError
from firesteel.control.asking import stop
from firesteel.rest.dispatcher import MAIN, Dispatcher, new_job_id
from firesteel.rest.gateway.python_files import copied
from firesteel.rest.records import JOB_ID, JobRecord
from firesteel.rest.standing import ENDED, Standing, standing, standings

PLAN_FILE: Final = "plan.json"
OPTIONS_FILE: Final = "options.json"
SCRIPT_FILE: Final = "script.sql"
CLUSTER_FILE: Final = "cluster.json"
_PROGRAM: Final = "from firesteel.rest.gateway.planned import {entry}\n\n{entry}(__file__)\n"
_PARALLELISMS: Final = ("table.exec.resource.default-parallelism", "parallelism.default")
_POLL_SECONDS: Final = 0.2
_STOP_SECONDS: Final = 600.0
_SESSION_ONLY: Final = ("$internal.", "sql-client.", "jobmanager.", "taskmanager.", "rest.")
"""What options begin with that mean nothing to a job."""


class ScriptCluster(msgspec.Struct, frozen=True):
    """What a script's job knows of its cluster; if there are `several`, the jobs of its statements are jobs there."""

    slots: int
    several: bool


@dataclass(frozen=True)
class RunningJob:
    """A job of the cluster; `started_at` is in milliseconds."""

    id: str
    name: str
    status: str
    started_at: int


class ClusterJobs:
    """The jobs of a cluster's directory. `submitted` is the id of the last one that this thread has made.

    `new_id` gives the ids of jobs that statements make.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        submission: bool = True,
        new_id: Callable[[], str] = new_job_id,
    ) -> None:
        self._dispatcher = dispatcher
        self._submission = submission
        self._new_id = new_id
        self._mine = threading.local()

    @property
    def submitted(self) -> str | None:
        """The id of the last job that this thread has submitted."""
        found: str | None = getattr(self._mine, "job_id", None)
        return found

    def submit(self, plan: str, options: Mapping[str, str]) -> None:
        """Make a job of a compiled plan. Raises StateError if the cluster takes none."""
        job_id = self._new_id()
        self._submit("main", {PLAN_FILE: plan}, options, job_id)
        self.started(job_id)

    def deploy(self, script: str, options: Mapping[str, str], *, several: bool) -> str:
        """Make a job of a script of statements, and return its id. Raises StateError if the cluster takes none.

        If its statements start `several` jobs, that one takes no slots: it may wait for the others.
        """
        job_id = new_job_id()
        known = msgspec.json.encode(ScriptCluster(self._dispatcher.slots, several)).decode()
        files = {SCRIPT_FILE: script, CLUSTER_FILE: known}
        self._submit("script", files, options, job_id, takes_slots=not several)
        return job_id

    def _submit(
        self,
        entry: str,
        files: Mapping[str, str],
        options: Mapping[str, str],
        job_id: str,
        *,
        takes_slots: bool = True,
    ) -> None:
        slots = slots_of(options) if takes_slots else 0
        with self.program(entry, files, options) as folder:
            self._dispatcher.submit(self._dispatcher.submission(job_id, slots), folder)

    @contextmanager
    def program(self, entry: str, files: Mapping[str, str], options: Mapping[str, str]) -> Iterator[Path]:
        """Yield the directory of a program that calls a function of `planned`, with files for it.

        It is there until the block ends. Raises StateError if the cluster takes no jobs.
        """
        if not self._submission:
            raise StateError("is switched off on this cluster", who="submission")
        with tempfile.TemporaryDirectory(prefix="firesteel-plan-") as place:
            folder = Path(place)
            (folder / MAIN).write_text(_PROGRAM.format(entry=entry))
            for name, text in files.items():
                (folder / name).write_text(text)
            (folder / OPTIONS_FILE).write_bytes(msgspec.json.encode(copied(_kept(options), folder)))
            yield folder

    def started(self, job_id: str) -> None:
        """Let a job be the last one that this thread has made."""
        self._mine.job_id = job_id

    def all(self) -> list[RunningJob]:
        """Return the jobs, newest first."""
        return list(map(_described, standings(self._dispatcher.jobs())))

    def one(self, job_id: str) -> RunningJob:
        """Return a job. Raises StateError if there is none."""
        return _described(standing(self._record(job_id)))

    def stop(self, job_id: str, *, savepoint: bool, drain: bool) -> str:
        """End a job after its running epoch; return where its savepoint is. Raises StateError."""
        record = self._record(job_id)
        storage = record.state_storage()
        if storage is None or record.outcome() is not None:
            raise StateError("is not running", who=f"the job {job_id}", got=standing(record).status)
        return stop(storage, with_savepoint=savepoint, target=None, timeout=_STOP_SECONDS, drain=drain)

    def wait(self, job_id: str, given_up: threading.Event) -> None:
        """Wait until a job has ended, or nobody waits any more. Raises EngineError if it failed."""
        record = self._record(job_id)
        while standing(record).status not in ENDED:
            if given_up.wait(_POLL_SECONDS):
                return
        outcome = record.outcome()
        if outcome is not None and outcome.status == "FAILED":
            raise EngineError("has failed", who=f"the job {job_id}", got=outcome.error)

    def _record(self, job_id: str) -> JobRecord:
        found = self._dispatcher.job(job_id) if JOB_ID.fullmatch(job_id) else None
        if found is None:
            raise StateError("does not exist in this cluster", who=f"the job {job_id!r}")
        return found


def _described(job: Standing) -> RunningJob:
    return RunningJob(job.record_id, job.name, job.status, job.start)


def _kept(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if not key.startswith(_SESSION_ONLY)}


def slots_of(options: Mapping[str, str]) -> int:
    """Return how many slots a job with these options takes. Raises ConfigurationError for no number of at least 1."""
    for key in _PARALLELISMS:
        text = options.get(key, "")
        if text and text != "-1":
            if not text.isdecimal() or int(text) < 1:
                raise ConfigurationError(
                    "takes a whole number of at least 1", who=f"option {key!r}", got=repr(text)
                )
            return int(text)
    return 1
