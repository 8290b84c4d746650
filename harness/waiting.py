"""Waiting for what other threads and processes do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_LONGEST_PAUSE: Final = 0.1


def until(condition: Callable[[], T], seconds: float = 300) -> T:
    """Return what a condition comes to be, asking until it is true: at the end every tenth of a second.

    Raises AssertionError if it is not after so many `seconds`.

    >>> until(lambda: "there")
    'there'
    """
    deadline, moment, pause = time.monotonic() + seconds, threading.Event(), 0.002
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds} seconds"
        moment.wait(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return found
