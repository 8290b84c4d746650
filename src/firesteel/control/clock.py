"""The time a job goes by."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """The wall clock of a job; a test injects its own."""

    def now(self) -> int:
        """Milliseconds since the epoch."""

    def wait(self, timeout_ms: int, wakeup: threading.Event) -> None:
        """Return after `timeout_ms`, or as soon as `wakeup` is set."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> int:
        return int(time.time() * 1000)

    def wait(self, timeout_ms: int, wakeup: threading.Event) -> None:
        wakeup.wait(timeout_ms / 1000)
