"""A clock that stands still until a test moves it, or until the job only waits."""

from __future__ import annotations

import threading


class ManualClock:
    """Processing time in milliseconds. Waiting takes no real time: it moves the clock forward, so nothing ever sleeps.

    >>> clock = ManualClock(1000)
    >>> clock.wait(50, threading.Event())
    >>> clock.advance(10)
    >>> clock.now()
    1060

    `set` is what an administrator does to a machine's clock: no time passes by it.

    >>> clock.set(500)
    >>> clock.now(), clock.monotonic()
    (500, 60)
    """

    def __init__(self, start: int = 0) -> None:
        self._now = start
        self._passed = 0
        self._lock = threading.Lock()

    def now(self) -> int:
        """Return the current time."""
        return self._now

    def monotonic(self) -> int:
        """Return how much time has passed."""
        return self._passed

    def advance(self, milliseconds: int) -> None:
        """Let time pass."""
        with self._lock:
            self._now += milliseconds
            self._passed += milliseconds

    def set(self, now: int) -> None:
        """Set the clock, forward or back."""
        with self._lock:
            self._now = now

    def wait(self, timeout_ms: int, wakeup: threading.Event) -> None:
        """Let `timeout_ms` pass at once, at least one millisecond."""
        if not wakeup.is_set():
            self.advance(max(1, timeout_ms))
