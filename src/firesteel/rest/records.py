"""What a cluster knows, as files below its directory: it may end at any moment, and another one goes on from them.

::

    programs/<id>/            an uploaded program, and program.json, which describes it
    server.lock               locked by the server for as long as it lives
    jobs/<job id>/
        submission.json       what is to run; never changes
        program/              a copy of the program
        state/                the job's state directory, unless its submission names another
        driver.lock           locked by the job's driver for as long as it lives
        driver.json           the process of the last driver
        driver.log            what drivers print, and log
        wish.json             that the job is to end, if somebody has asked for that
        deaths.json           drivers that died
        outcome.json          how the job ended: from then on nothing is started for it
        requests/<id>.json    savepoints that were asked for
    schedules/                see `firesteel.rest.schedules`
    session/                  see `firesteel.rest.session`
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Literal, TypeVar

import msgspec

from firesteel.checkpoint.documents import as_document
from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.decoders import json_decoder
from firesteel.common.errors import StateCorruptedError, StateError

JOB_ID: Final = re.compile(r"[0-9a-f]{32}")

SERVER_LOCK: Final = "server.lock"
"""The lock that the server of a cluster's directory holds."""

S = TypeVar("S", bound=msgspec.Struct)


class Submission(msgspec.Struct, frozen=True):
    """A job to be run: `code` is a file below `program/`, or with `module` a dotted name.

    `parallelism` is None for the program's own; `slots` is how many the job takes. `secrets` are names only: their
    values come from the cluster's secrets when a driver starts. `submitted_at` is in milliseconds. A job of the
    `session` uses the Spark application of the cluster's session; any other has one of its own. `state` is the place
    of a job's state that others own, such as the rows of a table: it stays when the job is forgotten.
    """

    job_id: str
    code: str
    submitted_at: int
    module: bool = False
    arguments: tuple[str, ...] = ()
    parallelism: int | None = None
    slots: int = 1
    configuration: dict[str, str] = {}
    restore_from: str | None = None
    allow_non_restored_state: bool = False
    pyflink: bool = False
    secrets: tuple[str, ...] = ()
    master: str | None = None
    session: bool = False
    state: str | None = None


class DriverProcess(msgspec.Struct, frozen=True):
    """A process that drives a job; `attempt` counts from 1. One that was `told_to_end` has not died."""

    pid: int
    started_at: int
    attempt: int
    told_to_end: bool = False


class Death(msgspec.Struct, frozen=True):
    """A driver that ended without an outcome, when the job was at `epoch`; -pid is its attempt if it never began."""

    at: int
    attempt: int
    epoch: int
    reason: str


class Deaths(msgspec.Struct, frozen=True):
    """The drivers of a job that died, oldest first."""

    entries: tuple[Death, ...] = ()


class Wish(msgspec.Struct, frozen=True):
    """The end that somebody asked for; `asked_driver` is the start of the driver that has been told."""

    kind: Literal["cancel"]
    at: int
    asked_driver: int = 0


class Outcome(msgspec.Struct, frozen=True):
    """How a job ended: a final status of Flink's, and the error of one that failed."""

    status: Literal["FINISHED", "CANCELED", "FAILED"]
    at: int
    error: str | None = None


class Asked(msgspec.Struct, frozen=True):
    """A request that was begun: `command` is what the driver was sent; `location` or `error` is how it ended."""

    command: str | None
    at: int
    location: str | None = None
    error: str | None = None


class JobGone(StateError):  # noqa: N818 - an answer, not a failure
    """A job that was there a moment ago has been forgotten: it had ended, and its time was over."""


class JobRecord:
    """The directory of one job."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.id = directory.name
        self._state: str | None = None

    @property
    def state(self) -> str:
        """The place of the job's state directory."""
        if self._state is None:
            own = str(self.directory / "state")
            try:
                said = self.submission()
            except StateCorruptedError:  # whoever wants to know what is to run says that
                return own
            if said is None:
                return own
            self._state = own if said.state is None else said.state
        return self._state

    @property
    def program(self) -> Path:
        """The directory of the job's program."""
        return self.directory / "program"

    @property
    def log(self) -> Path:
        """What the job's drivers have printed and logged."""
        return self.directory / "driver.log"

    def state_storage(self) -> Storage | None:
        """Return the job's state directory; None if no driver has made it yet."""
        try:
            return Storage.existing(self.state)
        except NotFound:
            return None

    def submission(self) -> Submission | None:
        """Return what is to run; None if it was not written to its end, and so never accepted."""
        return read(self.directory / "submission.json", Submission)

    def driver(self) -> DriverProcess | None:
        """Return the last driver; None if none has begun."""
        return read(self.directory / "driver.json", DriverProcess)

    def deaths(self) -> tuple[Death, ...]:
        """Return the drivers that died."""
        return (read(self.directory / "deaths.json", Deaths) or Deaths()).entries

    def wish(self) -> Wish | None:
        """Return the end that somebody has asked for."""
        return read(self.directory / "wish.json", Wish)

    def outcome(self) -> Outcome | None:
        """Return how the job ended; None while it is to run."""
        return read(self.directory / "outcome.json", Outcome)

    def write(self, name: str, content: msgspec.Struct) -> None:
        """Replace one of the files, at once and durably."""
        write(self.directory / f"{name}.json", content)

    @property
    def lock(self) -> Path:
        """The lock that the job's driver holds."""
        return self.directory / "driver.lock"

    def driving(self) -> AbstractContextManager[bool]:
        """Take the lock of the job's driver for as long as the block runs; yield whether nobody else has it."""
        return holding(self.lock)

    def driver_lives(self) -> bool:
        """Return whether a driver holds the lock; nobody does of a job that is gone."""
        try:
            return held(self.lock)
        except FileNotFoundError:
            return False

    def gone(self) -> JobGone:
        """Return the error for a job whose directory has been removed."""
        return JobGone("has been forgotten: it had ended long ago", who=f"the job {self.id}")

    def changed_at(self) -> int:
        """Return when its directory changed last (milliseconds). Raises JobGone."""
        try:
            return int(self.directory.stat().st_mtime * 1000)
        except FileNotFoundError:
            raise self.gone() from None


@contextmanager
def holding(lock: Path) -> Iterator[bool]:
    """Take a lock for as long as the block runs; yield whether nobody else has it.

    It belongs to the process and goes with it, however that ends: a process that was killed holds none, though its id
    may be known to the system for some time.
    """
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        yield free
    finally:
        os.close(descriptor)


def held(lock: Path) -> bool:
    """Return whether a process holds a lock."""
    with holding(lock) as free:
        return not free


def read(path: Path, kind: type[S]) -> S | None:
    """Return the contents of a JSON file, None if there is none. Raises StateCorruptedError if it cannot be read."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return json_decoder(kind).decode(data)
    except msgspec.DecodeError as error:
        raise StateCorruptedError("must be as it was written", who=str(path), got=str(error)) from error


def write(path: Path, content: msgspec.Struct) -> None:
    """Write a readable JSON file, at once and durably; replace an existing one."""
    Storage.of(path.parent).put(path.name, as_document(content))
