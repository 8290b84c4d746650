"""The session of a cluster: one process with a Spark application, which the drivers of many jobs use.

::

    session/
        settings.json    the application's master and configuration
        session.lock     locked by the session's process for as long as it lives
        process.json     that process, and the socket at which drivers join it
        session.log      what it, and the Python workers of all jobs, print

A driver that joins keeps its connection for as long as it lives. If the driver ends, however that happens, the session
cancels what still runs for it. If the session ends, its drivers end too, and their jobs go on in the next session.

::

    driver                      session
    {"job": ID}          ->
                         <-     {"port": ..., "secret": ...}
    {}                   ->                                     is Spark still there?
                         <-     {}                              it is; else the connection ends
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self, TypeVar

import msgspec

from firesteel.common.decoders import json_decoder
from firesteel.common.errors import StateError
from firesteel.control.commands import now_ms
from firesteel.rest.records import held, read

M = TypeVar("M", bound=msgspec.Struct)

SETTLING_S: Final = 60.0
"""How long a driver waits for an answer of the session."""


class SessionSettings(msgspec.Struct, frozen=True):
    """The Spark application of a session."""

    master: str
    configuration: dict[str, str] = {}


class SessionProcess(msgspec.Struct, frozen=True):
    """The process of a session, and the Unix socket at which drivers join it."""

    pid: int
    started_at: int
    address: str


class Joining(msgspec.Struct, frozen=True):
    """The first message of a driver: the job that it drives."""

    job: str


class Way(msgspec.Struct, frozen=True):
    """The session's answer: a gateway of the driver's own."""

    port: int
    secret: str


class Sign(msgspec.Struct, frozen=True):
    """A question whether Spark is still there, and the answer that it is."""


class SessionRecord:
    """The directory of a cluster's session."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def lock(self) -> Path:
        """The file that the session's process locks."""
        return self.directory / "session.lock"

    @property
    def log(self) -> Path:
        """What the session's processes have printed."""
        return self.directory / "session.log"

    def settings(self) -> SessionSettings | None:
        """Return the application's settings; None if the cluster has no session."""
        return read(self.directory / "settings.json", SessionSettings)

    def process(self) -> SessionProcess | None:
        """Return the last process that drivers could join."""
        return read(self.directory / "process.json", SessionProcess)

    def lives(self) -> bool:
        """Return whether a process has the lock."""
        if not self.directory.is_dir():
            return False
        return held(self.lock)

    def open(self) -> bool:
        """Return whether drivers can join: a process has the lock, and has said where it listens."""
        found = self.process()
        return found is not None and _exists(found.pid) and self.lives()


class Membership:
    """A driver's connection to its session; `on_loss` is called in a thread of its own when the session has ended.

    It stands for the process of Spark's driver, as `subprocess.Popen` does for one that was started here.
    """

    def __init__(self, record: SessionRecord, job_id: str, on_loss: Callable[[], None]) -> None:
        """Join. Raises StateError if there is no session, or it ends before it answers."""
        found = record.process()
        if found is None:
            raise _lost("none")
        self.pid = found.pid
        self._on_loss = on_loss
        self._lost = threading.Event()
        self._answered = threading.Semaphore(0)
        with ExitStack() as opened:
            connection = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            try:
                connection.connect(found.address)
                self._messages = opened.enter_context(Messages(connection))
                self._messages.send(Joining(job_id))
            except OSError as error:
                raise _lost(str(error)) from error
            way = self._messages.receive(Way)
            if way is None:
                raise _lost("it ended before it answered")
            self.way = way
            self._connection = opened.pop_all()
        threading.Thread(target=self._watch, name="firesteel-session", daemon=True).start()

    def confirm(self) -> None:
        """Return if the session still has its Spark; else the loss is reported, and this does not return in time."""
        try:
            self._messages.send(Sign())
        except OSError:
            self._lost.wait(SETTLING_S)
            return
        self._answered.acquire(timeout=SETTLING_S)

    def poll(self) -> int | None:
        """Return None while the session lives."""
        return -1 if self._lost.is_set() else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the session has ended."""
        if not self._lost.wait(timeout):
            raise subprocess.TimeoutExpired("the session", timeout or 0.0)
        return -1

    def _watch(self) -> None:
        with self._connection:
            while self._messages.receive(Sign) is not None:
                self._answered.release()
        self._lost.set()
        self._on_loss()


class Messages:
    """Messages over a socket: lines of JSON."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()

    def send(self, message: msgspec.Struct) -> None:
        """Send a message. Raises OSError if nobody is there."""
        self._connection.sendall(msgspec.json.encode(message) + b"\n")

    def receive(self, kind: type[M]) -> M | None:
        """Return the next message; None when the other side is gone, or sends something else."""
        try:
            line = self._lines.readline()
            return json_decoder(kind).decode(line) if line.endswith(b"\n") else None
        except (OSError, msgspec.DecodeError):
            return None


def process_here(address: str) -> SessionProcess:
    """Return this process as that of a session."""
    return SessionProcess(os.getpid(), now_ms(), address)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _lost(got: str) -> StateError:
    return StateError("cannot be joined", who="the session of the cluster", got=got)
