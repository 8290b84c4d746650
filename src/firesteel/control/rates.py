"""Amounts per second, over a time span that ends now."""

from __future__ import annotations

from collections import deque
from typing import Final

BUCKET_MS: Final = 5_000
"""The resolution at which rates remember when something happened (Flink's MeterView has the same)."""

SPAN_MS: Final = 60_000
"""The time span of the engine's own rates, as Flink's."""


class Events:
    """The times of events within a time span, or of amounts."""

    __slots__ = ("_buckets", "_span_ms")

    def __init__(self) -> None:
        self._buckets: deque[tuple[int, float]] = deque()
        self._span_ms = SPAN_MS

    def add(self, count: float, span_ms: int, now: int) -> None:
        """Add what happened since the last call; `now` is the time (milliseconds)."""
        self._span_ms = span_ms
        bucket = now // BUCKET_MS
        if self._buckets and self._buckets[-1][0] == bucket:
            count += self._buckets.pop()[1]
        self._buckets.append((bucket, count))
        self._forget(now)

    def rate(self, now: int) -> float:
        """Return the events per second over the whole time span, even before its end (as Flink's MeterView)."""
        self._forget(now)
        return self._sum() * 1000 / self._span_ms

    def share(self, now: int, since: int) -> float:
        """Return the milliseconds of each second, if amounts are milliseconds, over the span or the time since a job
        began, whichever is shorter (as Flink's TimerGauge).
        """
        self._forget(now)
        return min(1000.0, self._sum() * 1000 / max(1, min(self._span_ms, now - since)))

    def _sum(self) -> float:
        return sum(count for _, count in self._buckets)

    def _forget(self, now: int) -> None:
        while self._buckets and (self._buckets[0][0] + 1) * BUCKET_MS <= now - self._span_ms:
            self._buckets.popleft()
