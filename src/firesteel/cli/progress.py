"""The display of a running job's progress: one line that changes on a terminal, an occasional log line elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.control.listeners import EpochStats

LOG: Final = logging.getLogger("firesteel.progress")

RATE_SECONDS: Final = 5.0
"""The time over which the shown rate is averaged."""


class Display(Protocol):
    """The place where progress is shown; `first_after` and `every` are in seconds."""

    first_after: float
    every: float

    def show(self, line: str) -> None:
        """Show the line in place of the previous one."""

    def close(self) -> None:
        """Remove the display."""


class TerminalDisplay:
    """One line at the bottom of the terminal; the program's output appears above it."""

    first_after = 1.5
    every = 0.2

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._live: Live | None = None

    def show(self, line: str) -> None:
        """Show the line, cut to the terminal's width."""
        text = Text(line, style="dim", no_wrap=True, overflow="ellipsis")
        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=sys.stdout.isatty(),
                redirect_stderr=sys.stderr.isatty(),
            )
            self._live.start()
        self._live.update(text, refresh=True)

    def close(self) -> None:
        """Erase the line."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class LogDisplay:
    """An occasional line in the log."""

    first_after = 10.0
    every = 10.0

    def show(self, line: str) -> None:
        """Log the line."""
        LOG.info("%s", line)

    def close(self) -> None:
        """Do nothing: a log has no end."""


class Progress:
    """A job listener that shows the last epoch, the rate, the watermark and the lag.

    Implements `firesteel.control.listeners.JobListener`. `clock` gives seconds; only its differences matter.
    """

    def __init__(self, display: Display, clock: Callable[[], float] = time.monotonic) -> None:
        self._display = display
        self._clock = clock
        self._due = 0.0
        self._records = 0
        self._recent: deque[tuple[float, int]] = deque()
        self._start()

    def on_epoch(self, stats: EpochStats) -> None:
        """Add an epoch, and show it if the display is due."""
        now = self._clock()
        self._records += stats.records_in
        self._recent.append((now, self._records))
        while len(self._recent) > 2 and self._recent[0][0] < now - RATE_SECONDS:
            self._recent.popleft()
        if now >= self._due:
            self._due = now + self._display.every
            self._display.show(describe_epoch(stats, self._records, self._rate()))
        if stats.finished:
            self._display.close()
            self._start()

    def close(self) -> None:
        """Remove the display, however the job ended."""
        self._display.close()

    def _start(self) -> None:
        """Reset for the next job: a program may run several jobs, one after the other."""
        now = self._clock()
        self._due = now + self._display.first_after
        self._records = 0
        self._recent.clear()
        self._recent.append((now, 0))

    def _rate(self) -> float:
        (begin, before), (end, after) = self._recent[0], self._recent[-1]
        return (after - before) / max(end - begin, 1e-3)


def describe_epoch(stats: EpochStats, records: int, rate: float) -> str:
    """Return an epoch as one line; `records` is the job's total so far, `rate` is in records per second.

    >>> stats = EpochStats(12, 5_000, 10, 250.0, 1_431_857_103_000, 1_240, finished=False)
    >>> describe_epoch(stats, 61_000, 20_000.4)
    'epoch 12 | 61,000 records | 20,000 records/s | watermark 2015-05-17 10:05:03 | lag 1.2 s'
    """
    parts = [f"epoch {stats.epoch}", f"{records:,} records", f"{rate:,.0f} records/s"]
    if stats.watermark is not None and stats.watermark > MIN_WATERMARK:
        parts.append(f"watermark {_moment(stats.watermark)}")
    if stats.lag_ms is not None:
        parts.append(f"lag {stats.lag_ms / 1000:,.1f} s")
    return " | ".join(parts)


def _moment(watermark: int) -> str:
    if watermark == MAX_WATERMARK:
        return "at the end"
    try:
        return datetime.fromtimestamp(watermark / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError):
        return f"{watermark} ms"


def progress_for(stream_is_terminal: bool) -> Progress:
    """Return the display that fits the destination of messages."""
    return Progress(TerminalDisplay() if stream_is_terminal else LogDisplay())
