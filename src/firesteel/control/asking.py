"""Requests to a job from outside: through its state directory, from any machine that can reach it."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Final

from firesteel.checkpoint.documents import published_epoch
from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import new_savepoint
from firesteel.common.errors import StateError
from firesteel.control.commands import (
    ALIVE_MS,
    Kind,
    Request,
    forget_reply,
    now_ms,
    read_reply,
    read_status,
    send,
    withdraw,
)

_log = logging.getLogger("firesteel.control")

POLL_SECONDS: Final = 0.2
"""How often to look for the answer to a command."""


def open_job(location: str) -> Storage:
    """Return the state directory of a job. Raises StateError if the location is not one."""
    storage = Storage.existing(location)
    if ManifestLog.open(storage) is None:
        raise StateError(
            "requires the state directory of a job",
            who="JOB",
            got=f"{storage.url}, in which there is no job.json",
            hint="firesteel jobs DIR lists the jobs below a directory",
        )
    return storage


def ask(
    job: Storage, kind: Kind, argument: str | None, timeout: float, drain: bool = False, keep: bool = False
) -> str:
    """Send a command to a job's driver and return its answer.

    Raises StateError if no driver is running, if it refuses or fails, and after `timeout` seconds without an answer. A
    command without an answer is always withdrawn.
    """
    command = send(job, kind, argument, drain, keep)
    try:
        return _wait_for_answer(job, command, timeout)
    except BaseException:
        withdraw(job, command)
        raise


def stop(
    job: Storage, *, with_savepoint: bool, target: str | None, timeout: float, drain: bool = False
) -> str:
    """End a job after its running epoch; return the savepoint's URL, or a message that says where it ended.

    With `drain` all windows and timers fire first, and the job is finished for good.
    """
    argument = (_absolute(target) if target else "") if with_savepoint else None
    return ask(job, "stop", argument, timeout, drain)


def savepoint(job: Storage, target: str | None, timeout: float) -> str:
    """Take a savepoint of a job and return its URL. The driver takes it or, if none is running, this process."""
    below = _absolute(target) if target else None
    status = read_status(job)
    if status is not None and status.alive(now_ms()):
        return ask(job, "savepoint", below, timeout)
    log = ManifestLog.open(job)
    last = None if log is None else log.latest()
    if last is None:
        raise StateError(
            "requires a job that has committed an epoch", who="a savepoint", got=f"{job.url}, which has none"
        )
    if last.committables and published_epoch(job) < last.epoch:
        raise StateError(
            "requires that all output is visible",
            who=f"a savepoint of the job in {job.url}",
            got=f"epoch {last.epoch}, whose output is committed and not visible yet",
            hint="start the job again: it makes that visible first; then ask again, or stop it with --savepoint",
        )
    return new_savepoint(job, last.epoch, below)


def look_for_answer(job: Storage, command_id: str) -> str | None:
    """Return the answer to a command, which stays where it is; None if there is none yet.

    Raises StateError if the driver refused or failed, or went away.
    """
    lost = _lost_driver(job)  # checked before the reply, because a driver replies before it exits
    reply = read_reply(job, command_id)
    if reply is not None and reply.error is not None:
        raise StateError(reply.error)
    if reply is not None:
        if reply.warning is not None:
            _log.warning("warning: %s", reply.warning)
        return reply.result or ""
    if lost is not None:
        raise lost
    return None


def still_runs(job: Storage) -> bool:
    """Return whether a driver is running, for which it has to report again.

    One that was killed looks alive for some time: this waits until it would have reported, or is taken for dead.
    """
    first = status = read_status(job)
    while status is not None and status.alive(now_ms()):
        if status != first:
            return True
        time.sleep(POLL_SECONDS)
        status = read_status(job)
    return False


def _wait_for_answer(job: Storage, command: Request, timeout: float) -> str:
    deadline = time.monotonic() + timeout
    while True:
        try:
            answer = look_for_answer(job, command.id)
        except StateError:
            forget_reply(job, command.id)
            raise
        if answer is not None:
            forget_reply(job, command.id)
            return answer
        if time.monotonic() >= deadline:
            raise StateError(
                f"did not answer within {timeout:g} s",
                who=f"the driver of the job in {job.url}",
                hint="the command was taken back; a long epoch may be running: try again with a longer --timeout",
            )
        time.sleep(POLL_SECONDS)


def _lost_driver(job: Storage) -> StateError | None:
    """Return the error for a driver whose last heartbeat is too old; a driver that exits normally answers first."""
    status = read_status(job)
    silent = now_ms() - (0 if status is None else status.heartbeat_at)
    if silent < ALIVE_MS:
        return None
    process = "" if status is None else f" (process {status.pid} on {status.host})"
    return StateError(
        "went away without an answer",
        who=f"the driver of the job in {job.url}{process}",
        hint="start the job again with firesteel run --state-dir, and then repeat the command",
    )


def _absolute(location: str) -> str:
    """Return an absolute location: the driver may have another working directory than this process."""
    return location if "://" in location else str(Path(location).expanduser().resolve())
