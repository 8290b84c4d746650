"""Operations: statements that were sent, each on a thread of its own (Flink: OperationManager).

Contract: of one session one statement is executed at a time, in the order in which they came; the rows of a query are
computed beside the next statements. An operation is INITIALIZED, PENDING while others are before it, RUNNING, and then
FINISHED as soon as its results can be fetched, or ERROR. CANCELED and CLOSED end its job, if that is a query's.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.rest.gateway.results import WAIT_SECONDS, Page, Results
from firesteel.table.table_result import TableResult

Status = Literal["INITIALIZED", "PENDING", "RUNNING", "FINISHED", "CANCELED", "CLOSED", "ERROR"]

_BEFORE: Final = frozenset({"INITIALIZED", "PENDING", "RUNNING"})
_OVER: Final = frozenset({"CANCELED", "CLOSED", "ERROR"})


@dataclass(frozen=True)
class Outcome:
    """What a statement has given: its result, and the job that it has left running in the cluster."""

    result: TableResult
    is_query: bool = False
    job_id: str | None = None


Execute = Callable[[threading.Event], Outcome]
"""Executes a statement; the event says that nobody waits for it any more."""


class Operation:
    """A statement that was sent; `turn` is the lock of its session."""

    def __init__(self, execute: Execute, turn: threading.Lock) -> None:
        self.handle = str(uuid.uuid4())
        self._execute = execute
        self._turn = turn
        self._given_up = threading.Event()
        self._changed = threading.Condition()
        self._status: Status = "INITIALIZED"
        self._error: Exception | None = None
        self._outcome: Outcome | None = None
        self._results: Results | None = None
        self._thread = threading.Thread(target=self._run, name=f"firesteel-sql-{self.handle}", daemon=True)

    def start(self) -> None:
        """Execute the statement. Call this once."""
        self._thread.start()

    @property
    def status(self) -> Status:
        """How the operation stands."""
        return self._status

    @property
    def ended(self) -> bool:
        """Whether it computes nothing more."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until the statement is executed. Raises its error."""
        with self._changed:
            self._changed.wait_for(lambda: self._status not in _BEFORE)
        if self._error is not None:
            raise self._error

    def fetch(self, token: int) -> tuple[Results, Page] | None:
        """Return the results with the page of a token; None if there is nothing to fetch yet, even after a moment.

        Raises the statement's error, and ProgramError for an operation that was cancelled or closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._status not in _BEFORE, WAIT_SECONDS)
        if self._status == "FINISHED":
            assert self._results is not None
            return self._results, self._results.fetch(token)
        if self._error is not None:
            raise self._error
        if self._status in _OVER:
            raise ProgramError(
                "has no results to fetch", who=f"the operation {self.handle}", got=f"status {self._status}"
            )
        return None

    def cancel(self) -> None:
        """End it, and the job of its query; one that has ended stays as it is."""
        if not self.ended:
            self._give_up("CANCELED")

    def close(self) -> None:
        """End it, and forget its results."""
        self._give_up("CLOSED")

    def _give_up(self, status: Status) -> None:
        self._given_up.set()
        with self._changed:
            if self._status != "ERROR":
                self._status = status
            outcome, results = self._outcome, self._results
            self._changed.notify_all()
        if results is not None:
            results.close()
        if outcome is not None:
            _end_query(outcome)

    def _run(self) -> None:
        self._become("PENDING")
        with self._turn:
            self._become("RUNNING")
            if self._status in _OVER:
                return
            try:
                outcome = self._execute(self._given_up)
            except Exception as error:  # it belongs to the client, whatever it is
                self._fail(error)
                return
            results = self._opened(outcome)
        if results is None:
            _end_query(outcome)
        else:
            results.add_all(outcome.result.batches())

    def _become(self, status: Status) -> None:
        with self._changed:
            if self._status not in _OVER:
                self._status = status
            self._changed.notify_all()

    def _fail(self, error: Exception) -> None:
        with self._changed:
            if self._status not in _OVER:
                self._status, self._error = "ERROR", error
            self._changed.notify_all()

    def _opened(self, outcome: Outcome) -> Results | None:
        """Make the results those to fetch; None if nobody wants them any more."""
        result = outcome.result
        job = result.job
        job_id = outcome.job_id or (None if job is None else job.job_id)
        made = Results(
            result.row, result.get_result_kind(), result.zone, is_query=outcome.is_query, job_id=job_id
        )
        with self._changed:
            if self._status in _OVER:
                return None
            self._outcome, self._results, self._status = outcome, made, "FINISHED"
            self._changed.notify_all()
            return made


def _end_query(outcome: Outcome) -> None:
    job = outcome.result.job
    if outcome.is_query and job is not None and not job.done():
        with suppress(FiresteelError):  # nobody waits for the outcome
            job.cancel()
