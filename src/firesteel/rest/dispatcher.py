"""Starts a driver process for each job, and another one when it dies.

A driver is a process of its own session: it outlives the dispatcher, and the next one adopts it. Whether a driver lives
is whether its lock is taken, so no process id is ever believed. Two dispatchers at once start nothing twice either: the
second driver of a job finds the lock taken and ends.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from firesteel.common.child_processes import start_apart
from firesteel.common.errors import FiresteelError, StateCorruptedError, StateError
from firesteel.control.commands import now_ms, read_status, send
from firesteel.rest.history import SWEEP_MS, History, draft_of
from firesteel.rest.records import JOB_ID, Death, Deaths, JobGone, JobRecord, Outcome, Submission, Wish
from firesteel.rest.session import SessionRecord, SessionSettings
from firesteel.rest.session_keeping import SessionKeeping

_log = logging.getLogger("firesteel.rest")

DRIVER: Final = (sys.executable, "-m", "firesteel.cli.driver")
"""The command that drives a job, without its last argument: the job's directory."""

MAIN: Final = "main.py"
"""The file of a program that the cluster itself has made."""

LOOK_SECONDS: Final = 1.0
"""How often drivers are looked at."""

START_MS: Final = 20_000
"""How long a new driver may take until it holds its lock, before it is taken for dead (milliseconds)."""

MOST_STARTING: Final = max(4, os.cpu_count() or 1)
"""So many drivers begin at a time: fifty at once would take each other for dead."""

MOST_DEATHS: Final = 10
"""A job fails after so many deaths in a row without an epoch between them."""

_LONGEST_WAIT_MS: Final = 60_000
_SOON_MS: Final = 600_000
"""A driver that lived for longer has not died in vain."""


class Dispatcher:
    """The jobs below a directory.

    `slots` is how many subtasks may run at once: a job takes as many as its parallelism, and one that does not fit
    waits until others have ended; the oldest comes first. `secrets` are the values that jobs may ask for by name,
    `environment` are the variables of all jobs, without secrets. `clock` gives milliseconds. With a `session`, jobs
    that are submitted from now on share its Spark application (`has_session`); those of an earlier session stay in it.
    Jobs that have ended go when their `history` says so.
    """

    def __init__(
        self,
        directory: Path,
        slots: int,
        master: str | None = None,
        secrets: Mapping[str, str] | None = None,
        driver: Sequence[str] = DRIVER,
        clock: Callable[[], int] = now_ms,
        session: SessionSettings | None = None,
        history: History | None = None,
    ) -> None:
        self.directory = directory
        self.slots = slots
        self.master = master
        self._secrets = dict(secrets or {})
        self._driver = tuple(driver)
        self._now = clock
        private = PRIVATE.union(self._secrets)
        self.environment = {name: value for name, value in os.environ.items() if name not in private}
        record = SessionRecord(directory / "session")
        settings = session or record.settings()
        self._session = (
            None if settings is None else SessionKeeping(record, settings, self.environment, clock)
        )
        self.has_session = session is not None
        self._history = history or History()
        self._swept_at = 0
        self._reasons: dict[str, str] = {}
        self._troubles: dict[str, str] = {}
        self._started: dict[str, tuple[subprocess.Popen[bytes], int]] = {}
        self._turn = threading.Lock()
        self._ending = threading.Event()
        self._woken = threading.Event()
        self._also: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._watch, name="firesteel-dispatcher", daemon=True)
        (directory / "jobs").mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def secret_names(self) -> list[str]:
        """The names of the secrets that jobs may ask for."""
        return sorted(self._secrets)

    def start(self, also: Callable[[], None] = lambda: None) -> None:
        """Look after the jobs from now on, those of an earlier dispatcher too; `also` is called before each look."""
        self._also = also
        self._thread.start()

    def close(self) -> None:
        """Look after them no longer; their drivers go on."""
        self._ending.set()
        self._woken.set()
        self._thread.join()

    def jobs(self) -> list[JobRecord]:
        """Return the jobs that were accepted, newest first; also those whose files are damaged."""
        folders = [folder for folder in (self.directory / "jobs").iterdir() if JOB_ID.fullmatch(folder.name)]
        accepted = [(record, _accepted_at(record)) for record in map(JobRecord, folders)]
        known = [(record, at) for record, at in accepted if at is not None]
        return [record for record, _ in sorted(known, key=lambda entry: -entry[1])]

    def job(self, job_id: str) -> JobRecord | None:
        """Return a job; None if there is none of this id."""
        record = JobRecord(self.directory / "jobs" / job_id)
        return record if JOB_ID.fullmatch(job_id) and _accepted_at(record) is not None else None

    def submit(self, submission: Submission, program: Path) -> JobRecord:
        """Accept a job whose program is copied from a directory. It is accepted once its submission is written.

        Raises StateError for a secret that the cluster does not have, and for a job that can never fit.
        """
        missing = [name for name in submission.secrets if name not in self._secrets]
        if missing:
            raise StateError("requires secrets that this cluster has", who="the job", got=", ".join(missing))
        if submission.slots > self.slots:
            raise StateError(
                f"requires a parallelism of at most {self.slots}, the slots of this cluster",
                who="the job",
                got=str(submission.slots),
                hint="start the cluster with more --slots",
            )
        record = JobRecord(self.directory / "jobs" / submission.job_id)
        draft = draft_of(record, uuid.uuid4().hex)
        draft.directory.mkdir(mode=0o700)
        shutil.copytree(program, draft.program)
        draft.write("submission", submission)
        try:
            draft.directory.rename(record.directory)
        except OSError:  # the same job, sent again while it was accepted
            shutil.rmtree(draft.directory)
            if record.submission() is None:
                raise
        self._woken.set()
        return record

    def submission(self, job_id: str, slots: int, state: str | None = None) -> Submission:
        """Return the submission of a job of this cluster whose program begins in `MAIN`."""
        return Submission(
            job_id=job_id,
            code=MAIN,
            submitted_at=self._now(),
            slots=slots,
            master=self.master,
            session=self.has_session,
            state=state,
        )

    def cancel(self, record: JobRecord) -> None:
        """Have a job end at once; nothing of its running epoch is kept."""
        if record.outcome() is None and record.wish() is None:
            record.write("wish", Wish("cancel", self._now()))
        self.turn()

    def claim(self, record: JobRecord, slots: int) -> int:
        """Have a job take so many slots; return its former number. Raises StateError if the others leave it fewer."""
        with self._turn:
            said = record.submission()
            if said is None:
                raise record.gone()
            most = self.free_slots() + self._slots_taken(record)
            if slots > most:
                raise StateError(
                    f"requires a parallelism of at most {most}, the slots that it has and those that are free",
                    who=f"the job {record.id}",
                    got=str(slots),
                    hint="start the cluster with more --slots",
                )
            record.write("submission", msgspec.structs.replace(said, slots=slots))
            return said.slots

    def free_slots(self) -> int:
        """Return the slots that no driver takes."""
        return max(0, self.slots - sum(map(self._slots_taken, self.jobs())))

    def _slots_taken(self, record: JobRecord) -> int:
        """Return the slots that the driver of a job takes; none if it cannot be read how many."""
        try:
            said = record.submission() if self._is_driven(record) else None
        except StateCorruptedError:
            return 0
        return 0 if said is None else said.slots

    def turn(self) -> None:
        """Look at each job once: settle those that ended, and start those that may run.

        An error in one stops no other.
        """
        with self._turn:
            self._reap()
            waiting: list[tuple[JobRecord, Submission]] = []
            free = self.slots
            for record in reversed(self.jobs()):
                try:
                    free -= self._look_at(record, waiting)
                except (FiresteelError, OSError) as error:
                    self._complain(record.id, error)
                else:
                    self._troubles.pop(record.id, None)
            self._start_in_order(waiting, free)
            self._sweep()

    def _complain(self, job_id: str, error: Exception) -> None:
        """Log an error in a job, once as long as it stays the same."""
        if self._troubles.get(job_id) != str(error):
            self._troubles[job_id] = str(error)
            _log.error("job %s: %s", job_id, error)

    def _sweep(self) -> None:
        now = self._now()
        if now - self._swept_at >= SWEEP_MS:
            self._swept_at = now
            try:
                self._history.sweep(self.directory / "jobs", self.jobs(), now)
            except OSError as error:
                _log.error("jobs that ended long ago cannot be removed: %s", error)

    def _start_in_order(self, waiting: list[tuple[JobRecord, Submission]], free: int) -> None:
        """Start the jobs that may run, the oldest first, so that a large one is not passed by small ones for ever."""
        reasons: dict[str, str] = {}
        starting = sum(not self._has_begun(job_id) for job_id in self._started)
        ready = self._session is not None and bool(waiting) and self._session.ready()
        for record, said in waiting:
            if reasons:
                reasons[record.id] = f"waits for an earlier job ({next(iter(reasons))})"
            elif said.slots > free:
                reasons[record.id] = f"requires {said.slots} slots; of {self.slots}, {free} are free"
            elif said.session and not ready:
                reasons[record.id] = "the session of the cluster is starting"
            elif starting >= MOST_STARTING:
                reasons[record.id] = f"{starting} other drivers are starting"
            else:
                self._launch(record, said)
                free -= said.slots
                starting += 1
        self._reasons = reasons

    def reason(self, record: JobRecord) -> str | None:
        """Return why a job does not run yet; None if nothing keeps it waiting."""
        return self._reasons.get(record.id)

    def _watch(self) -> None:
        while not self._ending.is_set():
            self._also()
            self.turn()
            self._woken.wait(LOOK_SECONDS)
            self._woken.clear()

    def _look_at(self, record: JobRecord, waiting: list[tuple[JobRecord, Submission]]) -> int:
        """Settle a job, or add it to those that wait for a driver; return the slots that it takes."""
        said = record.submission()
        if said is None or record.outcome() is not None:
            return 0
        wish = record.wish()
        if self._is_driven(record):
            if wish is not None:
                self._tell(record, wish)
            return said.slots
        if record.outcome() is not None:  # it ended between the two looks
            return 0
        if wish is not None:
            record.write("outcome", Outcome("CANCELED", self._now()))
            return 0
        self._note_death(record)
        if record.outcome() is None and self._now() >= self.due(record):
            waiting.append((record, said))
        return 0

    def _is_driven(self, record: JobRecord) -> bool:
        """Return whether a driver lives, or has just been started."""
        if record.driver_lives():
            return True
        started = self._started.get(record.id)
        if started is None or started[0].poll() is not None:
            return False
        return not self._has_begun(record.id) and self._now() - started[1] < START_MS

    def _has_begun(self, job_id: str) -> bool:
        """Return whether the driver that was started for a job has taken its lock, or has ended."""
        process, _ = self._started[job_id]
        driver = JobRecord(self.directory / "jobs" / job_id).driver()
        return process.poll() is not None or (driver is not None and driver.pid == process.pid)

    def due(self, record: JobRecord) -> int:
        """Return the time from which a job may have its next driver (milliseconds)."""
        deaths = self._in_vain(record)
        return 0 if not deaths else deaths[-1].at + min(_LONGEST_WAIT_MS, 500 * 2 ** (len(deaths) - 1))

    def _in_vain(self, record: JobRecord) -> list[Death]:
        """Return the last deaths at one epoch that came soon after each other."""
        found: list[Death] = []
        for death in reversed(record.deaths()):
            if found and (death.epoch != found[0].epoch or found[0].at - death.at > _SOON_MS):
                break
            found.insert(0, death)
        return found

    def _note_death(self, record: JobRecord) -> None:
        """Write down that the last driver died, if it did; after too many deaths the job fails."""
        driver, deaths = record.driver(), record.deaths()
        if driver is None or driver.told_to_end or any(death.attempt == driver.attempt for death in deaths):
            return
        self._add_death(record, driver.attempt, f"its driver (process {driver.pid}) ended without saying why")

    def _add_death(self, record: JobRecord, attempt: int, reason: str) -> None:
        storage = record.state_storage()
        status = None if storage is None else read_status(storage)
        epoch = 0 if status is None else status.epoch
        record.write("deaths", Deaths((*record.deaths(), Death(self._now(), attempt, epoch, reason))))
        about = {"job_id": record.id}
        _log.warning("job %s: %s; it starts again from its last epoch", record.id, reason, extra=about)
        if len(self._in_vain(record)) >= MOST_DEATHS:
            error = f"{MOST_DEATHS} drivers in a row died before they committed an epoch; see its log"
            record.write("outcome", Outcome("FAILED", self._now(), error))

    def _tell(self, record: JobRecord, wish: Wish) -> None:
        """Send the wish to a driver that has not heard of it, as soon as it listens."""
        storage, driver = record.state_storage(), record.driver()
        if storage is None or driver is None or wish.asked_driver == driver.started_at:
            return
        status = read_status(storage)
        if status is None or status.pid != driver.pid or not status.alive(now_ms()):
            return
        send(storage, wish.kind)
        record.write("wish", msgspec.structs.replace(wish, asked_driver=driver.started_at))

    def _launch(self, record: JobRecord, submission: Submission) -> None:
        secrets = {name: self._secrets[name] for name in submission.secrets if name in self._secrets}
        process = start_apart(
            [*self._driver, str(record.directory)],
            log=record.log,
            directory=record.program,
            environment=self.environment | secrets,
        )
        self._started[record.id] = process, self._now()

    def _reap(self) -> None:
        """Take leave of drivers that ended, so that they do not stay as zombies; one that never began has died, too."""
        for job_id in [name for name, (process, _) in self._started.items() if process.poll() is not None]:
            process, _ = self._started.pop(job_id)
            record = JobRecord(self.directory / "jobs" / job_id)
            try:
                driver = record.driver()
                begun = driver is not None and driver.pid == process.pid
                if not begun and record.outcome() is None and not record.driver_lives():
                    self._add_death(record, -process.pid, "a driver ended before it began; see its log")
            except (FiresteelError, OSError) as error:
                self._complain(job_id, error)


def _accepted_at(record: JobRecord) -> int | None:
    """Return when a job was accepted, None if it was not; if that cannot be read, when its directory changed last."""
    try:
        said = record.submission()
    except StateCorruptedError:
        with suppress(JobGone):
            return record.changed_at()
        return None
    return None if said is None else said.submitted_at


PRIVATE: Final = frozenset(
    {"FIRESTEEL_TOKENS", "FIRESTEEL_STATE_DIR", "FIRESTEEL_PARALLELISM", "FIRESTEEL_CONF"}
)
"""Variables of the server that are nothing to its jobs and its SQL gateway."""


def new_job_id() -> str:
    """Return a new job's id."""
    return uuid.uuid4().hex
