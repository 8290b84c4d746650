"""The driver's end of `firesteel.control.commands`: a thread that takes commands, answers them and reports."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError, ProgramError, StateCorruptedError, StateError
from firesteel.common.job_status import JobStatus
from firesteel.control.commands import (
    COMMANDS,
    HEARTBEAT_MS,
    REPLIES,
    DriverStatus,
    Reply,
    Request,
    now_ms,
    read_command,
    write_reply,
    write_status,
)
from firesteel.control.views.metrics import JobMetrics, write_metrics

_log = logging.getLogger("firesteel.control")

POLL_MS: Final = 250
"""How often to look for commands in a state directory on a disk."""

STALE_MS: Final = 3_600_000
"""Nobody waits for an answer that is older than this."""

REMOTE_POLL_MS: Final = 2_000
"""The same in an object store, where each look is a paid request."""


class Controls(Protocol):
    """The requests that a running job takes; `firesteel.control.loop.EpochLoop` implements them."""

    @property
    def caution(self) -> str | None: ...
    def stop(self, savepoint: str | None = None, drain: bool = False) -> Future[str]: ...
    def cancel(self) -> Future[str]: ...
    def savepoint(self, target: str | None = None) -> Future[str]: ...
    def rescale(self, parallelism: int, keep: bool = False) -> Future[str]: ...


@dataclass(frozen=True, slots=True)
class Vital:
    """The status of a job, as its driver sees it."""

    status: JobStatus
    epoch: int
    parallelism: int
    error: str | None = None
    metrics: JobMetrics | None = None


class Inbox:
    """Watches a state directory for commands to one job from `start` until `close`, which reports how the job ended.

    Unreachable storage does not fail the job: it is logged, and the access is retried.
    """

    def __init__(
        self, storage: Storage, job_id: str, job_name: str, controls: Controls, vital: Callable[[], Vital]
    ) -> None:
        self._storage = storage
        self._job = (job_id, job_name)
        self._controls = controls
        self._vital = vital
        self._started = now_ms()
        self._taken: dict[str, Future[str]] = {}
        self._savepoints: set[str] = set()
        self._strays: set[str] = set()
        self._reported_at = 0.0
        self._measured: JobMetrics | None = None
        self._begun = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="firesteel-inbox", daemon=True)
        self._poll_ms = POLL_MS if storage.is_local else REMOTE_POLL_MS

    def start(self) -> None:
        """Report that the job runs, and look for commands from now on. Call this once."""
        self._attempt(self._report)
        self._attempt(self._begin)
        self._thread.start()

    def close(self) -> None:
        """Answer the open commands and write the last status."""
        self._ending.set()
        self._thread.join()
        for command_id, answer in self._taken.items():
            if not answer.done():
                answer.set_exception(StateError("ended before it came to this command", who="the job"))
            self._attempt(partial(self._answer, command_id, answer))
        self._attempt(partial(self._refuse, "the job has ended"))
        self._attempt(self._report)

    def _watch(self) -> None:
        while not self._ending.wait(self._poll_ms / 1000):
            self._attempt(self._turn)

    def _turn(self) -> None:
        if (time.monotonic() - self._reported_at) * 1000 >= HEARTBEAT_MS:
            self._report()
        if not self._begun:  # otherwise this driver would carry out commands to an earlier one
            self._begin()
        for command_id, path in self._new_commands():
            try:
                command = read_command(self._storage, path)
            except StateCorruptedError as error:
                _log.warning("a file among the commands is not a command, and is removed: %s", error)
                self._taken[command_id] = _refused(error)
                continue
            if command is not None:
                self._taken[command_id] = self._carry_out(command)
        for command_id in [sent for sent, answer in self._taken.items() if answer.done()]:
            self._answer(command_id, self._taken[command_id])
            del self._taken[command_id]

    def _carry_out(self, command: Request) -> Future[str]:
        controls, argument = self._controls, command.argument
        try:
            if command.kind == "stop":
                return controls.stop(argument, command.drain)
            if command.kind == "cancel":
                return controls.cancel()
            if command.kind == "savepoint":
                self._savepoints.add(command.id)
                return controls.savepoint(argument)
            return controls.rescale(_number(argument), command.keep)
        except FiresteelError as error:
            return _refused(error)

    def _answer(self, command_id: str, answer: Future[str]) -> None:
        error = answer.exception()
        if error is not None:
            reply = Reply(command_id, error=str(error))
        else:
            warning = self._controls.caution if command_id in self._savepoints else None
            reply = Reply(command_id, result=answer.result(), warning=warning)
        self._savepoints.discard(command_id)
        write_reply(self._storage, reply)

    def _begin(self) -> None:
        """Refuse commands to an earlier driver, and remove answers that nobody has fetched."""
        self._refuse("the driver it was sent to is gone; send it again")
        old = now_ms() - STALE_MS
        answers = self._storage.entries(REPLIES)
        self._storage.delete_all(file.path for file in answers if file.modified_ms < old)
        self._begun = True

    def _refuse(self, reason: str) -> None:
        for command_id, _ in self._new_commands():
            write_reply(self._storage, Reply(command_id, error=reason))

    def _new_commands(self) -> list[tuple[str, str]]:
        """Yield the ids and files of new commands."""
        names = [(path.rpartition("/")[2].partition(".json"), path) for path in self._storage.list(COMMANDS)]
        return [
            (command_id, path)
            for (command_id, extension, rest), path in names
            if extension and not rest and command_id not in self._taken and self._is_command(path)
        ]

    def _is_command(self, path: str) -> bool:
        """Return whether a file is in the directory of commands; a deeper one is reported once and ignored."""
        if path.count("/") == 1:
            return True
        if path not in self._strays:
            self._strays.add(path)
            _log.warning("%s is not a command; it stays where it is", self._storage.location(path))
        return False

    def _report(self) -> None:
        job_id, job_name = self._job
        vital = self._vital()
        self._reported_at = time.monotonic()
        if vital.metrics is not None and vital.metrics != self._measured:
            write_metrics(self._storage, vital.metrics)
            self._measured = vital.metrics
        write_status(
            self._storage,
            DriverStatus(
                job_id=job_id,
                job_name=job_name,
                status=vital.status.name,
                epoch=vital.epoch,
                parallelism=vital.parallelism,
                host=socket.gethostname(),
                pid=os.getpid(),
                started_at=self._started,
                heartbeat_at=now_ms(),
                error=vital.error,
            ),
        )

    def _attempt(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except FiresteelError as error:
            _log.warning("cannot exchange commands with other processes: %s", error)


def _refused(error: FiresteelError) -> Future[str]:
    answer: Future[str] = Future()
    answer.set_exception(error)
    return answer


def _number(argument: str | None) -> int:
    if argument is None or not argument.isdecimal() or int(argument) < 1:
        raise ProgramError("requires a parallelism of at least 1", who="rescale", got=repr(argument))
    return int(argument)
