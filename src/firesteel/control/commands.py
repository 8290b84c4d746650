"""Commands to a running job, and the status of its driver: both in the state directory, so usable from anywhere.

::

    commands/<id>.json    a command; the driver removes it when it has answered replies/<id>.json     its answer; the
    sender of the command removes it status.json           the status of the job's driver, rewritten every few seconds
    metrics.json          the metrics of its operators (`firesteel.control.views.metrics`), likewise

A command is carried out at most once: a driver answers commands that were there before it started by refusing them.
"""

from __future__ import annotations

import time
import uuid
from typing import Final, Literal

import msgspec

from firesteel.checkpoint.documents import read_document, write_document
from firesteel.checkpoint.log import job_in
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateError

COMMANDS: Final = "commands"
REPLIES: Final = "replies"
HEARTBEAT_MS: Final = 2_000
"""How often a driver reports that it is alive."""

ALIVE_MS: Final = 15_000
"""A driver without a report for this long is taken for dead."""

Kind = Literal["stop", "cancel", "savepoint", "checkpoint", "rescale", "flamegraph", "inspect"]


class Request(msgspec.Struct, frozen=True):
    """A request to a driver.

    `argument` is for `savepoint` a directory (None: the job's own), for `stop` None or, to stop with a savepoint, a
    directory ("" for the job's own), for `rescale` the parallelism, for `flamegraph` the seconds of sampling, for
    `inspect` "memory" or "threads". `drain` is for `stop`: all windows and timers fire.
    `keep` is for `rescale`: the parallelism survives a restart.
    """

    id: str
    kind: Kind
    argument: str | None
    sent_at: int
    drain: bool = False
    keep: bool = False


class Reply(msgspec.Struct, frozen=True):
    """The answer: `result` as text (such as the path of a savepoint), possibly with a `warning`, or `error`."""

    id: str
    result: str | None = None
    error: str | None = None
    warning: str | None = None


class DriverStatus(msgspec.Struct, frozen=True):
    """A job's driver; times in milliseconds. `status` is Flink's name of a job status, `error` why a job failed."""

    job_id: str
    job_name: str
    status: str
    epoch: int
    parallelism: int
    host: str
    pid: int
    started_at: int
    heartbeat_at: int
    error: str | None = None

    def alive(self, now: int) -> bool:
        """Return whether a driver is running."""
        return self.status in RUNNING and now - self.heartbeat_at < ALIVE_MS


RUNNING: Final = frozenset({"RUNNING", "RESTARTING", "CANCELLING"})
_STATUS: Final = "status.json"


def send(
    storage: Storage, kind: Kind, argument: str | None = None, drain: bool = False, keep: bool = False
) -> Request:
    """Leave a command for a job's driver. Raises StateError if no driver is running."""
    status = read_status(storage)
    now = now_ms()
    if status is None or not status.alive(now):
        raise StateError(
            "has no driver that could be asked",
            who=job_in(storage),
            got="no sign of one" if status is None else _last_sign(status, now),
            hint="start it with firesteel run --state-dir",
        )
    command = Request(f"{now:015d}-{uuid.uuid4().hex[:8]}", kind, argument, now, drain, keep)
    storage.create(f"{COMMANDS}/{command.id}.json", msgspec.json.encode(command))
    return command


def read_reply(storage: Storage, command_id: str) -> Reply | None:
    """Return the answer to a command; None if there is none yet."""
    return read_document(storage, reply_path(command_id), Reply, hint=None)


def forget_reply(storage: Storage, command_id: str) -> None:
    """Remove the answer to a command, if there is one."""
    storage.delete(reply_path(command_id))


def take_reply(storage: Storage, command: Request) -> Reply | None:
    """Return the answer to a command, and remove it; None if there is none yet."""
    reply = read_reply(storage, command.id)
    if reply is not None:
        forget_reply(storage, command.id)
    return reply


def withdraw(storage: Storage, command: Request) -> None:
    """Withdraw a command that nobody answered."""
    storage.delete(f"{COMMANDS}/{command.id}.json")


def read_command(storage: Storage, path: str) -> Request | None:
    """Return a command; None if it was withdrawn."""
    return read_document(storage, path, Request, hint=None)


def write_reply(storage: Storage, reply: Reply) -> None:
    """Answer a command, and remove it."""
    storage.put(reply_path(reply.id), msgspec.json.encode(reply))
    storage.delete(f"{COMMANDS}/{reply.id}.json")


def read_status(storage: Storage) -> DriverStatus | None:
    """Return the last status of a job's driver; None if it never had one."""
    return read_document(storage, _STATUS, DriverStatus, hint=None)


def write_status(storage: Storage, status: DriverStatus) -> None:
    """Write the status of a job's driver."""
    write_document(storage, _STATUS, status)


def reply_path(command_id: str) -> str:
    """Return the path of the answer to a command."""
    return f"{REPLIES}/{command_id}.json"


def now_ms() -> int:
    """Return the wall clock in milliseconds: drivers and their observers run on different machines."""
    return int(time.time() * 1000)


def _last_sign(status: DriverStatus, now: int) -> str:
    if status.status not in RUNNING:
        return f"a job that is {status.status}"
    seconds = (now - status.heartbeat_at) // 1000
    return f"the last sign of life of its driver (process {status.pid} on {status.host}) {seconds} s ago"
