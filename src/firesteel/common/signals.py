"""How Ctrl-C and SIGTERM reach a program: SIGTERM does what Ctrl-C does, and neither strikes where locks are taken.

Python runs the handler of a signal in the main thread, between any two steps of the program. A handler that raises
there can leave a lock of `threading` taken, for which a job's thread then waits without end. And a signal that comes
just before the main thread begins to wait is not seen until that wait is over. So whatever the main thread does with
locks that a job's thread takes too, it does within `holding_signals()`, and it waits by `patiently`.
Source: https://docs.python.org/3/library/signal.html#note-on-signal-handlers-and-exceptions
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeVar

T = TypeVar("T")

TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code of a program ended by SIGTERM, as shells have it."""

INTERRUPTED: Final = 128 + signal.SIGINT
"""The exit code of a program ended by Ctrl-C, as shells have it."""

LOOK_SECONDS: Final = 0.1
"""How long the main thread waits before it looks for signals again."""


class Terminated(SystemExit):
    """Raised in the main thread by SIGTERM, so that the program runs its `finally` clauses before it ends."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


def heed_sigterm() -> None:
    """Make SIGTERM raise `Terminated` from now on, unless the program, or one that embeds it, has its own handler.

    Only a main thread can do that; in any other thread this does nothing.
    """
    if _in_main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def was_terminated() -> bool:
    """Return whether SIGTERM has come."""
    return _asked.is_set()


@contextmanager
def holding_signals() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM while the main thread is in the block; they come at its end, or by `patiently`.

    In other threads, to which signals never come, this does nothing. Blocks may be nested.

    >>> before = signal.signal(signal.SIGTERM, lambda number, frame: print("now"))
    >>> with holding_signals():
    ...     signal.raise_signal(signal.SIGTERM)
    ...     print("not yet")
    not yet
    now
    >>> replaced = signal.signal(signal.SIGTERM, before)
    """
    if _held.holding or not _in_main_thread():
        yield
        return
    try:
        _held.holding = True
        with _held.noting(signal.SIGTERM), _held.noting(signal.SIGINT):
            yield
    finally:
        _held.holding = False
    _held.deliver()


def patiently(wait: Callable[[float | None], bool], timeout: float | None = None) -> bool:
    """Return whether what is waited for has come within `timeout` seconds (None: however long it takes).

    `wait(seconds)` waits for at most that long, and returns whether it has come. In the main thread, Ctrl-C and SIGTERM
    are raised between two such calls, and never within one.

    >>> patiently(threading.Event().wait, 0.0)
    False
    """
    if not _in_main_thread():
        return wait(timeout)
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    with holding_signals():
        while True:
            _held.deliver()
            left = deadline - time.monotonic()
            if wait(max(0.0, min(left, LOOK_SECONDS))):
                return True
            if left <= LOOK_SECONDS:
                return False


def result_of(future: futures.Future[T]) -> T:
    """Wait for a future's result and return it, as `Future.result` does, but `patiently`.

    >>> future: futures.Future[int] = futures.Future()
    >>> future.set_result(3)
    >>> result_of(future)
    3
    """
    patiently(lambda seconds: bool(futures.wait([future], seconds).done))
    with holding_signals():
        return future.result()


class _Held:
    """The signals that have come in the outermost block of `holding_signals`, and the handlers they are meant for.

    Its steps are such that a signal may strike between any two of them.
    """

    def __init__(self) -> None:
        self.holding = False
        self._come: deque[tuple[int, FrameType | None]] = deque()
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}

    @contextmanager
    def noting(self, number: int) -> Iterator[None]:
        """Note a signal instead of handling it; one that the system handles itself, or ignores, is left to it."""
        handler = signal.getsignal(number)
        if not callable(handler):
            yield
            return
        self._handlers[number] = handler
        try:
            signal.signal(number, self._note)
            yield
        finally:
            signal.signal(number, handler)

    def deliver(self) -> None:
        """Give what has come to its handlers, in order, until one of them raises."""
        while self._come:
            number, frame = self._come.popleft()
            self._handlers[number](number, frame)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._come.append((number, frame))


_held = _Held()
_asked = threading.Event()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    _asked.set()
    raise Terminated
