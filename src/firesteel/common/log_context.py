"""What a thread is at work on, so that the lines of its log say so: a job, its epoch, an operator's subtask.

It is set when a job, an epoch or a task begins and looked at when something is logged; a record of the data costs
nothing. A thread that works for another takes its context along with `carrying`. A Python worker of Spark runs one task
at a time: there the context is the whole process's, so that threads of the user's functions have it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

LogForm = Literal["text", "json"]


class WorkingSubtask(NamedTuple):
    """A subtask of an operator, counted from 0."""

    operator: str
    subtask: int
    parallelism: int


def _no_operator() -> None:
    return None


@dataclass(frozen=True, slots=True)
class LogContext:
    """A job, and what of it a thread works on.

    `working` returns the subtask that runs at the moment of the call, None if none does. `form` is how the job wants
    its log written (None: as the process does).
    """

    job_id: str
    job_name: str
    epoch: int | None = None
    working: Callable[[], WorkingSubtask | None] = _no_operator
    form: LogForm | None = None

    def fields(self) -> dict[str, Any]:
        """Return what is known, by the names that it has in a line of JSON.

        >>> LogContext("0b0d", "orders", 12).fields()
        {'job_id': '0b0d', 'job_name': 'orders', 'epoch': 12}
        """
        found: dict[str, Any] = {"job_id": self.job_id, "job_name": self.job_name}
        if self.epoch is not None:
            found["epoch"] = self.epoch
        working = self.working()
        return found if working is None else {**found, **working._asdict()}


_of_thread: Final[ContextVar[LogContext | None]] = ContextVar("log_context", default=None)
_of_process: LogContext | None = None


def current_log_context() -> LogContext | None:
    """Return what this thread works on; None if that is for no job."""
    return _of_thread.get() or _of_process


@contextmanager
def logging_for(context: LogContext | None) -> Iterator[None]:
    """Have what this thread logs in the block belong to a context. A generator that uses it must end in its own thread.

    >>> with logging_for(LogContext("0b0d", "orders")):
    ...     current_log_context().job_name
    'orders'
    """
    before = _of_thread.get()
    _of_thread.set(context)
    try:
        yield
    finally:
        _of_thread.set(before)  # ContextVar.reset would refuse a generator that ends in a copy of its context


def at_epoch(epoch: int) -> None:
    """Have what this thread logs be of an epoch of its job, until the block of `logging_for` ends."""
    context = _of_thread.get()
    if context is not None:
        _of_thread.set(replace(context, epoch=epoch))


@contextmanager
def whole_process_for(context: LogContext | None) -> Iterator[None]:
    """Have what all threads log in the block belong to a context, unless they have one of their own.

    For a process that does one thing at a time.
    """
    global _of_process
    before, _of_process = _of_process, context
    try:
        yield
    finally:
        _of_process = before


def carrying(call: Callable[P, R]) -> Callable[P, R]:
    """Return a call that has the present context in whichever thread it happens."""
    context = current_log_context()

    def carried(*arguments: P.args, **named: P.kwargs) -> R:
        with logging_for(context):
            return call(*arguments, **named)

    return carried
