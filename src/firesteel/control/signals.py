"""The system's request to end: SIGTERM does what Ctrl-C does."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Final

TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code of a program ended by SIGTERM, as shells have it."""


INTERRUPTED: Final = 128 + signal.SIGINT
"""The exit code of a program ended by Ctrl-C, as shells have it."""


class Terminated(SystemExit):
    """Raised in the main thread by SIGTERM, so that the program runs its `finally` clauses before it ends."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


def heed_sigterm() -> None:
    """Make SIGTERM raise `Terminated` from now on, unless the program, or one that embeds it, has its own handler.

    Only a main thread can do that; in any other thread this does nothing.
    """
    alone = threading.current_thread() is threading.main_thread()
    if alone and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def was_terminated() -> bool:
    """Return whether SIGTERM has come."""
    return _asked.is_set()


_asked = threading.Event()


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    _asked.set()
    raise Terminated
