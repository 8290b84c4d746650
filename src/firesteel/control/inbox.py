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

import msgspec

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError, ProgramError, StateCorruptedError, StateError
from firesteel.common.job_status import JobStatus
from firesteel.common.log_context import carrying
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
from firesteel.control.own_process import look_at_process
from firesteel.control.views.failures import NO_FAILURES, Failures, read_failures, write_failures
from firesteel.control.views.metrics import JobMetrics, write_metrics
from firesteel.runtime.processes import ProcessView

_log = logging.getLogger("firesteel.control")

POLL_MS: Final = 250
"""How often to look for commands in a state directory on a disk."""

STALE_MS: Final = 3_600_000
"""Nobody waits for an answer that is older than this."""

MOST_SAMPLING_S: Final = 600
"""A request for a flame graph ends after this time, at the latest."""

REMOTE_POLL_MS: Final = 2_000
"""The same in an object store, where each look is a paid request."""


IDLE_MS: Final = 10_000
"""How often metrics are written while no epoch changes them: only their rates and times go on."""

REMOTE_IDLE_MS: Final = 60_000
"""The same in an object store, where each writing is a paid request."""


class Controls(Protocol):
    """The requests that a running job takes; `firesteel.control.loop.EpochLoop` implements them."""

    @property
    def caution(self) -> str | None: ...
    def stop(self, savepoint: str | None = None, drain: bool = False) -> Future[str]: ...
    def cancel(self) -> Future[str]: ...
    def savepoint(self, target: str | None = None) -> Future[str]: ...
    def checkpoint(self) -> Future[str]: ...
    def rescale(self, parallelism: int, keep: bool = False) -> Future[str]: ...
    def sample(self, seconds: float) -> Future[str]: ...


@dataclass(frozen=True, slots=True)
class Vital:
    """The status of a job, as its driver sees it."""

    status: JobStatus
    epoch: int
    parallelism: int
    error: str | None = None
    metrics: JobMetrics | None = None
    failures: Failures = NO_FAILURES


class Inbox:
    """Watches a state directory for commands to one job from `start` until `close`, which reports how the job ended.

    Unreachable storage does not fail the job: it is logged, and the access is retried. `look` looks at the driver's
    process, with its threads or not.
    """

    def __init__(
        self,
        storage: Storage,
        job_id: str,
        job_name: str,
        controls: Controls,
        vital: Callable[[], Vital],
        look: Callable[[bool], ProcessView] = look_at_process,
    ) -> None:
        self._storage = storage
        self._job = (job_id, job_name)
        self._controls = controls
        self._vital = vital
        self._look = look
        self._started = now_ms()
        self._taken: dict[str, Future[str]] = {}
        self._savepoints: set[str] = set()
        self._strays: set[str] = set()
        self._reported_at = 0.0
        self._measured: tuple[JobStatus, JobMetrics] | None = None
        self._measured_at = 0.0
        self._earlier = self._failures = NO_FAILURES
        self._begun = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=carrying(self._watch), name="firesteel-inbox", daemon=True)
        local = storage.is_local
        self._poll_ms, self._idle_ms = (POLL_MS, IDLE_MS) if local else (REMOTE_POLL_MS, REMOTE_IDLE_MS)

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
            if command.kind == "checkpoint":
                return controls.checkpoint()
            if command.kind == "flamegraph":
                return controls.sample(_seconds(argument))
            if command.kind == "inspect":
                return _beside(lambda: self._looked(argument == "threads"))
            return controls.rescale(_number(argument), command.keep)
        except FiresteelError as error:
            return _refused(error)

    def _looked(self, threads: bool) -> str:
        return msgspec.json.encode(self._look(threads)).decode()

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
        """Refuse commands to an earlier driver, remove answers that nobody has fetched, and read its failures."""
        self._refuse("the driver it was sent to is gone; send it again")
        old = now_ms() - STALE_MS
        answers = self._storage.entries(REPLIES)
        self._storage.delete_all(file.path for file in answers if file.modified_ms < old)
        self._earlier = read_failures(self._storage)
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
        self._report_metrics(vital)
        if self._begun and vital.failures != self._failures:
            write_failures(self._storage, self._earlier.and_then(vital.failures))
            self._failures = vital.failures
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

    def _report_metrics(self, vital: Vital) -> None:
        """Write the metrics if there are others than before; while the job is idle, only now and then."""
        if vital.metrics is None or self._measured == (vital.status, vital.metrics):
            return
        now = time.monotonic()
        if self._measured is not None:
            status, before = self._measured
            idle = (status, before.epoch, before.since) == (
                vital.status,
                vital.metrics.epoch,
                vital.metrics.since,
            )
            if idle and (now - self._measured_at) * 1000 < self._idle_ms:
                return
        write_metrics(self._storage, vital.metrics)
        self._measured, self._measured_at = (vital.status, vital.metrics), now

    def _attempt(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except FiresteelError as error:
            _log.warning("cannot exchange commands with other processes: %s", error)


def _beside(work: Callable[[], str]) -> Future[str]:
    """Do some work in a thread of its own: another process that does not answer must not keep this one silent."""
    answer: Future[str] = Future()

    def do() -> None:
        try:
            answer.set_result(work())
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=carrying(do), name="firesteel-look", daemon=True).start()
    return answer


def _refused(error: FiresteelError) -> Future[str]:
    answer: Future[str] = Future()
    answer.set_exception(error)
    return answer


def _number(argument: str | None) -> int:
    if argument is None or not argument.isdecimal() or int(argument) < 1:
        raise ProgramError("requires a parallelism of at least 1", who="rescale", got=repr(argument))
    return int(argument)


def _seconds(argument: str | None) -> float:
    try:
        seconds = float(argument or "")
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SAMPLING_S:
        got = repr(argument)
        raise ProgramError(
            f"requires at most {MOST_SAMPLING_S} seconds of sampling", who="flamegraph", got=got
        )
    return seconds
