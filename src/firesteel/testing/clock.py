"""A clock that stands still until a test moves it, or the job has nothing to do but wait."""

from __future__ import annotations

import threading


class ManualClock:
    """Processing time in milliseconds. Waiting does not take time: it moves the clock on, so nothing ever sleeps.

    >>> clock = ManualClock(1000)
    >>> clock.wait(50, threading.Event())
    >>> clock.advance(10)
    >>> clock.now()
    1060
    """

    def __init__(self, start: int = 0) -> None:
        self._now = start
        self._lock = threading.Lock()

    def now(self) -> int:
        """Return the current time."""
        return self._now

    def advance(self, milliseconds: int) -> None:
        """Move the clock on."""
        with self._lock:
            self._now += milliseconds

    def wait(self, timeout_ms: int, wakeup: threading.Event) -> None:
        """Let `timeout_ms` pass at once, at least one millisecond."""
        if not wakeup.is_set():
            self.advance(max(1, timeout_ms))
