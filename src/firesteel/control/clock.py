"""The clocks of a job: the wall clock, which can be set, and a monotonic one."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final, NamedTuple, Protocol

_log = logging.getLogger("firesteel.control")

_NOTICED_MS: Final = 1000
"""A wall clock that was set back by more than this is reported."""


class Clock(Protocol):
    """The source of time for a job (milliseconds); a test injects its own."""

    def now(self) -> int:
        """Return the wall clock's time, since 1970. The clock can be set forward and back."""

    def monotonic(self) -> int:
        """Return the time of a monotonic clock that starts at any moment; it measures intervals."""

    def wait(self, timeout_ms: int, wakeup: threading.Event) -> None:
        """Wait for `timeout_ms`, or until `wakeup` is set."""


class SystemClock:
    """The clocks of the machine."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def wait(self, timeout_ms: int, wakeup: threading.Event) -> None:
        wakeup.wait(timeout_ms / 1000)


class SteadyTime:
    """The time that measures a job's intervals: rates, discovery, idleness.

    It begins at the wall clock's time, or later at what an earlier driver has seen of it. Setting that clock does not
    change it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.now() - clock.monotonic()

    def now(self) -> int:
        """Return milliseconds that never go back and never jump."""
        return self._clock.monotonic() + self._offset

    def at_least(self, time_ms: int) -> None:
        """Continue from a time that an earlier epoch has seen."""
        self._offset += max(0, time_ms - self.now())


class ProcessingTime:
    """The processing time of a job's epochs: the wall clock's, but it never goes back and never stops.

    If the wall clock is set back, or is that of another machine which is behind, processing time continues at half
    speed until the wall clock has caught up. So no timer waits for the length of the step, and a time that a function
    has seen stays in the past. (A timer of Flink waits for a delay that is fixed when it is registered; it also fires
    independently of changes to the wall clock.) A step forward takes effect at once: timers that are due by the wall
    clock fire.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._since = clock.monotonic()

    def at_least(self, time_ms: int) -> None:
        """Continue from a time that an earlier epoch has seen."""
        behind = time_ms - self._clock.now()
        if time_ms > self._last and behind > _NOTICED_MS:
            _log.warning(
                "the wall clock is %.1f s behind the last epoch's processing time, which runs on at half speed",
                behind / 1000,
            )
        self._advance(time_ms)

    def now(self) -> int:
        """Return the processing time (milliseconds)."""
        half_speed = self._last + (self._clock.monotonic() - self._since) // 2
        self._advance(max(self._clock.now(), half_speed))
        return self._last

    def _advance(self, time_ms: int) -> None:
        if time_ms > self._last:
            self._last, self._since = time_ms, self._clock.monotonic()


class Moment(NamedTuple):
    """A point in a job's time (milliseconds).

    `steady` measures intervals, and was `resumed` when this run of the job began.
    """

    processing: int
    steady: int
    resumed: int = 0


class JobTime:
    """The processing time and the steady time of one job."""

    def __init__(self, clock: Clock) -> None:
        self._processing = ProcessingTime(clock)
        self._steady = SteadyTime(clock)
        self._resumed = 0

    def resume(self, processing: int, steady: int) -> None:
        """Begin a run of the job at the times that its last epoch has seen, or later."""
        self._processing.at_least(processing)
        self._steady.at_least(steady)
        self._resumed = self._steady.now()

    def now(self) -> Moment:
        """Return the current times."""
        return Moment(self._processing.now(), self._steady.now(), self._resumed)
