"""Requests to a job, and when they are answered."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from firesteel.common.errors import FiresteelError, StateError
from firesteel.common.job_status import JobStatus
from firesteel.control.journal import Journal
from firesteel.control.machine import Job
from firesteel.control.maintenance import Maintenance

T = TypeVar("T")
_NOTHING: Final = "the job has not committed an epoch yet"


class Pending:
    """The requests to a job that are not carried out yet.

    They come from any thread. The loop handles them on its own thread: savepoints, checkpoints and changes of
    parallelism between epochs (`take_savepoints`, `change_parallelism`), all others when the job has ended (`close`).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._savepoints: list[tuple[str | None, Future[str]]] = []
        self._checkpoints: list[tuple[None, Future[str]]] = []
        self._parallelism: list[tuple[int, Future[str]]] = []
        self._ends: list[tuple[str | None, Future[str]]] = []
        self._closed = False

    def savepoint(self, target: str | None) -> Future[str]:
        """Request a savepoint."""
        return self._ask(self._savepoints, target)

    def checkpoint(self) -> Future[str]:
        """Request the number of the epoch that is the last one between epochs."""
        return self._ask(self._checkpoints, None)

    def rescale(self, parallelism: int) -> Future[str]:
        """Request another parallelism."""
        return self._ask(self._parallelism, parallelism)

    def end(self, savepoint: str | None) -> Future[str]:
        """Request an answer at the job's end, and a savepoint unless that is None."""
        return self._ask(self._ends, savepoint)

    def take_savepoints(self, journal: Journal, maintenance: Maintenance) -> None:
        """Begin the requested savepoints of the last epoch, which has been published, and name it as a checkpoint."""
        if not self._savepoints and not self._checkpoints:
            return
        self._name_checkpoint(journal.epoch)
        for target, answer in self._taken(self._savepoints):
            if journal.epoch == 0:
                answer.set_exception(_no_savepoint(_NOTHING))
            else:
                _pass_on(maintenance.savepoint(journal.epoch, target), answer)

    def change_parallelism(self, change: Callable[[int], None]) -> None:
        """Carry out the requested changes; one that the program does not allow fails only its request."""
        if not self._parallelism:
            return
        for parallelism, answer in self._taken(self._parallelism):
            try:
                change(parallelism)
            except FiresteelError as error:
                answer.set_exception(error)
            except BaseException as error:
                answer.set_exception(error)
                raise
            else:
                answer.set_result(f"parallelism {parallelism}")

    def close(self, job: Job, journal: Journal, maintenance: Maintenance) -> None:
        """Answer all requests, now that the job has ended."""
        with self._lock:
            self._closed = True
        ended = job.status in (JobStatus.FINISHED, JobStatus.CANCELED)
        well = ended and journal.epoch > 0 and _all_visible(journal)
        wanted = self._taken(self._savepoints) if well and job.status is JobStatus.FINISHED else []
        for target, answer in wanted:
            _pass_on(maintenance.savepoint(journal.epoch, target), answer)
        if job.status is JobStatus.FINISHED:
            self._name_checkpoint(journal.epoch)
        for target, answer in self._taken(self._ends):
            if target is None:
                answer.set_result(f"{job.status.name} after epoch {journal.epoch}")
            elif well:
                _pass_on(maintenance.savepoint(journal.epoch, target or None), answer)
            else:
                answer.set_exception(_no_savepoint(f"the job is {job.status.name}"))
        left = (
            *self._taken(self._savepoints),
            *self._taken(self._checkpoints),
            *self._taken(self._parallelism),
        )
        for _, answer in left:
            answer.set_exception(_no_savepoint(f"the job is {job.status.name}"))

    def _name_checkpoint(self, epoch: int) -> None:
        for _, answer in self._taken(self._checkpoints):
            if epoch == 0:
                answer.set_exception(_no_savepoint(_NOTHING))
            else:
                answer.set_result(str(epoch))

    def _ask(self, requests: list[tuple[T, Future[str]]], what: T) -> Future[str]:
        answer: Future[str] = Future()
        answer.set_running_or_notify_cancel()  # cancelling the future does not withdraw the request
        with self._lock:
            if self._closed:
                answer.set_exception(StateError("has ended", who="the job"))
            else:
                requests.append((what, answer))
        return answer

    def _taken(self, requests: list[tuple[T, Future[str]]]) -> list[tuple[T, Future[str]]]:
        with self._lock:
            taken, requests[:] = requests[:], []
        return taken


def _all_visible(journal: Journal) -> bool:
    """Return whether all output is published; a savepoint of a cancelled job would lack the rest."""
    try:
        return journal.visible
    except FiresteelError:
        return False


def _no_savepoint(reason: str) -> StateError:
    return StateError(f"could not be carried out: {reason}", who="what was asked of the job")


def _pass_on(done: Future[str], answer: Future[str]) -> None:
    def pass_on(done: Future[str]) -> None:
        error = done.exception()
        if error is None:
            answer.set_result(done.result())
        else:
            answer.set_exception(error)

    done.add_done_callback(pass_on)
